// Times of calls, taken by events on the stream that the calls run on. Several contestants take
// turns, so that all of them meet the same clocks and temperatures.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

// What a kernel did wrong while its time was taken; the text is one sentence.
class TimedFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  // Queues one call, on the buffers of the set whose turn it is.
  virtual void queue(size_t call) = 0;
  // Queues what makes `count` calls from `first` on show whether they write their outputs.
  virtual void refresh(size_t first, size_t count) = 0;
  virtual size_t sets() const = 0;
};

struct TimingOptions {
  size_t repeats = 50;                       // samples of each kind
  size_t warm_up = 5;                        // calls, not timed
  std::chrono::milliseconds batch_time{20};  // a batch is shorter, but for the least calls
  size_t least_batch = 4;
  size_t most_batch = 20;
  std::chrono::milliseconds call_limit{10000};
  std::chrono::milliseconds phase_limit{8000};  // fewer samples then, at least `least_samples`
  size_t least_samples = 5;
};

// Microseconds of one call, a value for each sample.
struct Times {
  std::vector<double> microseconds;
  size_t calls_per_sample = 1;
};

// Two events.
class EventPair {
 public:
  explicit EventPair(const Session& session);
  ~EventPair();
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  void start();
  void stop();
  double microseconds() const;  // after the stream has been waited for

 private:
  const Session& session_;
  Event start_ = nullptr;
  Event stop_ = nullptr;
};

// Calls of all contestants, not timed. Ends with every set refreshed.
void warm_up(const Session& session, std::span<Contestant* const> contestants,
             const TimingOptions& options);
// One call between two events with nothing queued before it: what its launch costs is part of it.
std::vector<Times> time_single_calls(const Session& session,
                                     std::span<Contestant* const> contestants,
                                     const TimingOptions& options);
// Many calls between two events: launches overlap with the work before them. `typical` are
// microseconds of one call of each contestant.
std::vector<Times> time_batches(const Session& session, std::span<Contestant* const> contestants,
                                std::span<const double> typical, const TimingOptions& options);

// Waits for all streams of the device. Microseconds of work that was left when the session's stream
// had none: no event has seen it.
double wait_for_the_rest(const Session& session, const TimingOptions& options);

// Copies from one buffer of the device to another: the roof of what moves bytes.
class DeviceCopy final : public Contestant {
 public:
  // Each call reads `bytes` and writes as many. Throws DeviceUnavailable where memory is short.
  DeviceCopy(const Session& session, size_t bytes, size_t sets);
  ~DeviceCopy() override;
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  void queue(size_t call) override;
  void refresh(size_t, size_t) override {}
  size_t sets() const override { return buffers_.size(); }

 private:
  const Session& session_;
  size_t bytes_;
  std::vector<DevicePointer> buffers_;  // source, then target
};

}  // namespace warpfuzz::cuda
