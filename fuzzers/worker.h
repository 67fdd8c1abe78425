// One fuzzing process: runs the cases that libFuzzer hands over, mutates them by structure, and
// deals with violations. Knows libFuzzer's conventions, but calls nothing of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "crashes/signature_store.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/lookahead.h"
#include "fuzzers/proposals.h"
#include "fuzzers/trial.h"
#include "fuzzers/work_directory.h"
#include "fuzzers/worker_status.h"
#include "kernels/cuda/counter_registration.h"

namespace warpfuzz {

struct WorkerOptions {
  std::string op;
  std::filesystem::path kernel;  // what the user named
  std::filesystem::path object;  // the shared object; empty: build it from `kernel`
  std::filesystem::path work;    // empty: findings are reported but not stored
  std::filesystem::path alone;   // a finding is stored in this file (alone.h), whatever it costs
  DeviceChoice device;
  size_t index = 0;          // among the workers of the campaign
  size_t threads = 1;        // that work on cases to come (lookahead.h)
  bool keep_going = false;   // count known violations and go on
  bool guided = true;        // off: every case is drawn anew, the baseline
  bool shrink_only = false;  // mutations only simplify (libFuzzer's -minimize_crash)
  CaseLimits limits;
  std::chrono::milliseconds time_limit{10000};
};

class Worker {
 public:
  // Throws UsageError, EnvironmentError, CompileError, KernelError, std::system_error.
  explicit Worker(WorkerOptions options);

  // Runs one case; `counters` receives its features. Returns 0, or -1 for input that the corpus
  // should not keep. Aborts on a violation unless it keeps going.
  int run(std::span<const uint8_t> bytes, std::span<uint8_t> counters);

  // libFuzzer's custom mutator and crossover: write at most `capacity` bytes, return how many. With
  // a crew that is a mutation of an earlier call, made ready in the meantime; this call's comes
  // later.
  size_t mutate(std::span<uint8_t> buffer, size_t size, unsigned seed);
  size_t crossover(std::span<const uint8_t> a, std::span<const uint8_t> b, std::span<uint8_t> out,
                   unsigned seed);

  const std::shared_ptr<const Schema>& schema() const { return schema_; }

 private:
  template <class Draw>
  size_t take_turn(std::span<uint8_t> out, const Draw& draw);
  void look_ahead();
  void run_ahead(Preparation& preparation);
  Reproducer reproducer_of(const Case& c, const TrialResult& result) const;
  void handle_violation(const Case& c, const TrialResult& result);
  void store(const Case& c, const TrialResult& result, const Signature& signature);
  bool explain(const Case& c, const TrialResult& result, const Signature& signature);
  void store_smallest(const Case& c, const TrialResult& result, const Signature& signature);
  [[noreturn]] void abandon(const Case& c, const TrialResult& result);
  [[noreturn]] void stop_at(const Signature& signature, const Reproducer& reproducer);
  void publish(const TrialResult& result);

  WorkerOptions options_;
  std::shared_ptr<const Schema> schema_;
  KernelUnderTest under_test_;
  std::optional<WorkDirectory> work_;
  std::optional<SignatureStore> store_;
  std::set<Signature> explained_;  // findings that another took the place of (history.h)
  std::unique_ptr<MappedStatus> status_;
  std::optional<Trial> trial_;
  std::optional<CallRunner> runner_;  // of cases whose turn has not come
  bool lost_ahead_ = false;           // one of them has cost the device
  std::optional<Lookahead> ahead_;
  std::optional<Proposals> proposals_;
  cuda::RegisteredCounters* device_counters_ = nullptr;  // libFuzzer reads them to the end
};

}  // namespace warpfuzz
