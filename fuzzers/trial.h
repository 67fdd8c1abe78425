// A trial takes one case through the whole pipeline: values, image, device, oracle, gates. It owns
// the buffers that are reused from case to case, and nothing global. Extra runs (probes) happen
// when the case asks for them, or when a run is wrong or two differ and a gate needs a control.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzzers/call_runner.h"
#include "fuzzers/preparation.h"
#include "gates/gate.h"
#include "kernels/device.h"
#include "schemas/case.h"

namespace warpfuzz {

enum class TrialOutcome : uint8_t {
  pass,
  violation,
  excluded,   // the kernel's declared preconditions do not admit the case
  undecided,  // the oracle could not judge: skipped and counted, never a pass
};

// Where the time of a campaign goes, in seconds, summed over trials and threads.
struct TrialTimes {
  double values = 0;
  double kernel = 0;
  double oracle = 0;
  double gates = 0;
};

// A run that the device did not survive.
struct DeviceLoss {
  Case c;  // not the trial's own where a control or a lone row lost it
  std::string message;
};

struct TrialResult {
  TrialOutcome outcome = TrialOutcome::pass;
  const Gate* gate = nullptr;  // violation: the most specific contract broken
  GateResult finding;
  Observation primary;  // of the call itself
  std::vector<Tensor> inputs;
  std::optional<DeviceLoss> device_loss;  // in any run of the trial: the first
  // The largest of the primary run.
  double worst_ratio = 0;  // error / tolerance
  double worst_share = 0;  // the same without the output's rounding: what computing used
};

struct TrialOptions {
  std::chrono::milliseconds time_limit{10000};
  int minimum_oracle_level = 0;
  // What a tool outside has seen in this call: judged as if the call itself, or a run that watches
  // for races, had shown it.
  std::vector<Fault> reported = {};
  // The race build of the kernel, nullptr if there is none; called when it is first needed.
  std::function<Kernel*()> race_build;
};

// What a kernel demands beyond its schema, ready to be evaluated.
class Preconditions {
 public:
  // Throws ExpressionError for text that is not an expression over the schema's names.
  Preconditions(const Schema& schema, const std::string& text);
  bool admit(const Case& c) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::optional<Expression> expression_;
};

class Trial {
 public:
  Trial(std::shared_ptr<const Schema> schema, Kernel& kernel, TrialOptions options = {});

  TrialResult run(const Case& c);
  // The same with what was made of a case before, for options that ask for no minimum level; what
  // is in `preparation` afterwards is of no use but as memory.
  TrialResult run(Preparation& preparation);
  // The same with given input bits instead of those that the case's laws would make.
  TrialResult run(const Case& c, std::vector<Tensor> inputs);

  const Preconditions& preconditions() const { return preconditions_; }
  const TrialTimes& times() const { return times_; }

 private:
  TrialResult conclude(const Case& c, std::vector<Tensor> inputs, Observation primary);
  Observation observe(const Case& c, const std::vector<Tensor>& inputs, CallRunner::Manner manner);
  void note_loss(const Case& c, const RunResult& run);
  void add_reported(Judgement& judgement) const;
  void call_again(Judgement& judgement, const std::vector<Tensor>& inputs);
  void compute_lone_row(Judgement& judgement, const std::vector<Tensor>& inputs);
  std::optional<Observation> check_races(const Case& c, const std::vector<Tensor>& inputs);
  Observation repeat(const Case& c, const std::vector<Tensor>& inputs, Probe probe,
                     const Observation& primary);
  void expect(const Case& c, const std::vector<Tensor>& inputs);
  void judge(const Case& c, const std::vector<Tensor>& inputs, Observation& observation);
  Observation run_primary(const Case& c, const std::vector<Tensor>& inputs);
  Observation judged(const Case& c, const std::vector<Tensor>& inputs);
  Observation judged_on(Kernel& other, const Case& c, const std::vector<Tensor>& inputs);
  std::optional<Observation> control(const Case& c, Probe probe, const std::vector<Tensor>& inputs);
  bool confirmed_by_redraw(const Case& c);
  void run_probes(Judgement& judgement, ProbeSet wanted, const std::vector<Tensor>& inputs);

  std::shared_ptr<const Schema> schema_;
  Kernel& kernel_;
  Kernel* race_kernel_ = nullptr;  // once it was needed
  TrialOptions options_;
  Preconditions preconditions_;
  CallRunner runner_;
  Oracle oracle_;
  bool expected_ = false;  // the oracle has evaluated the call of the last primary run
  TrialTimes times_;
  std::optional<DeviceLoss> device_loss_;
  uint64_t trials_ = 0;
};

}  // namespace warpfuzz
