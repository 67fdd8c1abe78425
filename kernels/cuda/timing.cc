#include "kernels/cuda/timing.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

using Clock = std::chrono::steady_clock;

void wait(const Session& session, const TimingOptions& options) {
  const Status status = session.wait(options.call_limit);
  if (status == not_ready) {
    throw TimedFailure(
        fmt::format("timed calls do not end within {} ms", options.call_limit.count()));
  }
  if (status != success) {
    throw TimedFailure(
        fmt::format("timed calls fail: the device reports: {}", session.driver().describe(status)));
  }
}

bool enough(size_t samples, Clock::time_point start, const TimingOptions& options) {
  if (samples >= options.repeats) return true;
  return samples >= options.least_samples && Clock::now() - start > options.phase_limit;
}

size_t batch_size(std::span<const double> typical, const TimingOptions& options) {
  const double longest = *std::max_element(typical.begin(), typical.end());
  const double fitting = std::chrono::duration<double, std::micro>(options.batch_time).count() /
                         std::max(longest, 1.0);
  return std::clamp(static_cast<size_t>(fitting), options.least_batch, options.most_batch);
}

}  // namespace

EventPair::EventPair(const Session& session) : session_(session) {
  const Driver& driver = session.driver();
  driver.check(driver.event_create(&start_, 0), "no event");
  driver.check(driver.event_create(&stop_, 0), "no event");
}

EventPair::~EventPair() {
  for (const Event event : {start_, stop_}) {
    if (event != nullptr) session_.driver().event_destroy(event);
  }
}

void EventPair::start() { session_.driver().event_record(start_, session_.stream()); }
void EventPair::stop() { session_.driver().event_record(stop_, session_.stream()); }

double EventPair::microseconds() const {
  float milliseconds = 0;
  const Driver& driver = session_.driver();
  driver.check(driver.event_elapsed_time(&milliseconds, start_, stop_), "no time of events");
  return 1000 * double{milliseconds};
}

void warm_up(const Session& session, std::span<Contestant* const> contestants,
             const TimingOptions& options) {
  for (size_t i = 0; i < options.warm_up; ++i) {
    for (Contestant* contestant : contestants) contestant->queue(i);
    wait(session, options);
  }
  for (Contestant* contestant : contestants) contestant->refresh(0, contestant->sets());
  wait(session, options);
}

std::vector<Times> time_single_calls(const Session& session,
                                     std::span<Contestant* const> contestants,
                                     const TimingOptions& options) {
  std::vector<Times> times(contestants.size());
  EventPair events(session);
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; !enough(i, start, options); ++i) {
    for (size_t k = 0; k < contestants.size(); ++k) {
      Contestant& contestant = *contestants[k];
      // Outputs that a later call writes, long enough before it that they have left the cache.
      const size_t later = i + contestant.sets() / 2;
      if (later < options.repeats) contestant.refresh(later, 1);
      wait(session, options);
      events.start();
      contestant.queue(i);
      events.stop();
      wait(session, options);
      times[k].microseconds.push_back(events.microseconds());
    }
  }
  return times;
}

std::vector<Times> time_batches(const Session& session, std::span<Contestant* const> contestants,
                                std::span<const double> typical, const TimingOptions& options) {
  const size_t calls = batch_size(typical, options);
  std::vector<Times> times(contestants.size());
  EventPair events(session);
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; !enough(i, start, options); ++i) {
    for (size_t k = 0; k < contestants.size(); ++k) {
      Contestant& contestant = *contestants[k];
      contestant.refresh(i * calls, std::min(calls, contestant.sets()));
      wait(session, options);
      events.start();
      for (size_t call = 0; call < calls; ++call) contestant.queue(i * calls + call);
      events.stop();
      wait(session, options);
      times[k].calls_per_sample = calls;
      times[k].microseconds.push_back(events.microseconds() / static_cast<double>(calls));
    }
  }
  return times;
}

double wait_for_the_rest(const Session& session, const TimingOptions& options) {
  wait(session, options);
  const Clock::time_point start = Clock::now();
  const Status status = session.driver().context_synchronize();
  if (status != success) {
    throw TimedFailure(
        fmt::format("timed calls fail: the device reports: {}", session.driver().describe(status)));
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

DeviceCopy::DeviceCopy(const Session& session, size_t bytes, size_t sets)
    : session_(session), bytes_(std::max<size_t>(bytes, 1)), buffers_(sets) {
  const Driver& driver = session.driver();
  for (DevicePointer& buffer : buffers_) {
    driver.check(driver.allocate(&buffer, 2 * bytes_),
                 fmt::format("{} bytes on the device for copies", 2 * bytes_));
    driver.check(driver.fill(buffer, 0, 2 * bytes_, session.stream()), "a fill on the device");
  }
}

DeviceCopy::~DeviceCopy() {
  for (const DevicePointer buffer : buffers_) {
    if (buffer != 0) session_.driver().free(buffer);
  }
}

void DeviceCopy::queue(size_t call) {
  const DevicePointer source = buffers_[call % buffers_.size()];
  session_.driver().copy_on_device(source + bytes_, source, bytes_, session_.stream());
}

}  // namespace warpfuzz::cuda
