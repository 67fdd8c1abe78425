#include "kernels/simt/race/streams.h"

#include <algorithm>

namespace warpfuzz::simt::race {

namespace {

void join(std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

constexpr uintptr_t per_thread_handle = 2;  // cudaStreamPerThread

uint32_t of(const std::vector<uint32_t>& clock, size_t stream) {
  return stream < clock.size() ? clock[stream] : 0;
}

}  // namespace

void LaunchPlaces::begin_block(Actor serial, uint64_t index) {
  if (blocks == 0) first_block = serial;
  if (order.empty() && index != blocks) {
    for (Actor before = 0; before < blocks; ++before) order.push_back(before);
  }
  if (!order.empty() || index != blocks) order.push_back(index);
  ++blocks;
}

void StreamOrder::begin_run(Tick now) {
  streams_.assign(2, {});
  handles_.clear();
  events_.clear();
  segments_.clear();
  running_ = host_work;
  start_segment(host_work, now);
  create(reinterpret_cast<const void*>(per_thread_handle), true);
}

void StreamOrder::create(const void* stream, bool blocking) {
  handles_[stream] = static_cast<uint32_t>(streams_.size());
  streams_.push_back({.blocking = blocking});
}

uint32_t StreamOrder::find(const void* stream) const {
  const auto found = handles_.find(stream);
  return found != handles_.end() ? found->second : legacy;
}

void StreamOrder::start_segment(uint32_t index, Tick now) {
  Stream& stream = streams_[index];
  if (stream.clock.size() <= index) stream.clock.resize(index + 1);
  stream.clock[index] = ++stream.count;
  stream.begins.push_back(now);
  segments_.push_back({.begin = now, .stream = index, .count = stream.count});
}

StreamOrder::Segment& StreamOrder::begin(const void* handle, Tick now) {
  const uint32_t index = find(handle);
  Clock& clock = streams_[index].clock;
  join(clock, streams_[host_work].clock);
  if (index == legacy) {
    for (const Stream& other : streams_) {
      if (other.blocking) join(clock, other.clock);
    }
  } else if (streams_[index].blocking) {
    join(clock, streams_[legacy].clock);
  }
  start_segment(index, now);
  running_ = index;
  last_ = clock;
  return segments_.back();
}

void StreamOrder::end(Tick now) {
  running_ = host_work;
  start_segment(host_work, now);
}

// The event is an operation of its own, so that it has what the stream would have waited for.
void StreamOrder::record(const void* event, const void* stream, Tick now) {
  begin(stream, now);
  end(now);
  events_[event] = last_;
}

void StreamOrder::wait(const void* stream, const void* event) {
  const auto found = events_.find(event);
  if (found != events_.end()) join(streams_[find(stream)].clock, found->second);
}

void StreamOrder::wait_on_host(const Clock& clock, Tick now) {
  join(streams_[host_work].clock, clock);
  if (floor() != last_tick) return;
  // Whatever comes is ordered after all that was.
  segments_.clear();
  for (Stream& stream : streams_) {
    stream.forgotten = stream.count;
    stream.begins.clear();
  }
  start_segment(host_work, now);
}

void StreamOrder::wait_on_host_for_last(Tick now) { wait_on_host(Clock(last_), now); }

void StreamOrder::wait_on_host_for_stream(const void* stream, Tick now) {
  begin(stream, now);
  end(now);
  wait_on_host_for_last(now);
}

void StreamOrder::wait_on_host_for_event(const void* event, Tick now) {
  const auto found = events_.find(event);
  if (found != events_.end()) wait_on_host(Clock(found->second), now);
}

void StreamOrder::wait_on_host_for_all(Tick now) {
  Clock all;
  for (const Stream& stream : streams_) join(all, stream.clock);
  wait_on_host(all, now);
}

const StreamOrder::Segment* StreamOrder::segment_at(Tick at) const {
  const auto next =
      std::upper_bound(segments_.begin(), segments_.end(), at,
                       [](Tick tick, const Segment& segment) { return tick < segment.begin; });
  return next != segments_.begin() ? &*std::prev(next) : nullptr;
}

bool StreamOrder::ordered(Tick at) const {
  const Segment* const segment = segment_at(at);
  return segment == nullptr || segment->count <= of(running(), segment->stream);
}

Tick StreamOrder::floor() const {
  Tick first = last_tick;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    const uint32_t seen = std::max(of(running(), i), stream.forgotten);
    if (seen < stream.count) first = std::min(first, stream.begins[seen - stream.forgotten] - 1);
  }
  return first;
}

}  // namespace warpfuzz::simt::race
