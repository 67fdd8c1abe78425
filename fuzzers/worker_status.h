// A few pages of memory that a worker shares with the campaign through a file: counts for the
// progress line, and the cases in flight, which so survive whatever ends the worker.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace warpfuzz {

// The encoded case that a thread is at.
struct CaseInFlight {
  std::atomic<uint32_t> bytes;  // 0: none
  std::array<uint8_t, 2048> text;

  void begin(std::span<const uint8_t> encoded);
  void end() { bytes.store(0, std::memory_order_release); }
  std::vector<uint8_t> read() const;
};

struct WorkerStatus {
  std::atomic<uint64_t> runs;
  std::atomic<uint64_t> excluded;
  std::atomic<uint64_t> undecided;
  std::atomic<uint64_t> violations;
  std::atomic<double> worst_ratio, worst_share;  // of runs that passed
  std::atomic<double> values_seconds, kernel_seconds, oracle_seconds, gates_seconds;
  std::atomic<uint32_t> minimizing;  // a finding is stored, its smaller form on its way
  CaseInFlight judged;               // its turn has come
  CaseInFlight ahead;                // the device runs it before its turn (lookahead.h)

  // Those that are there, the one most likely to have ended the worker first.
  std::vector<std::vector<uint8_t>> cases_in_flight() const;
  void end();
};

// Owns the mapping. Throws std::system_error.
class MappedStatus {
 public:
  explicit MappedStatus(const std::filesystem::path& file);  // created zeroed if absent
  ~MappedStatus();
  MappedStatus(const MappedStatus&) = delete;
  MappedStatus& operator=(const MappedStatus&) = delete;
  WorkerStatus* operator->() const { return status_; }
  WorkerStatus& operator*() const { return *status_; }

 private:
  WorkerStatus* status_ = nullptr;
};

}  // namespace warpfuzz
