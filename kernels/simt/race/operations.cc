// What the detector hears of streams and of the host: operations, and what waits for them.
#include "kernels/simt/race/detector.h"

namespace warpfuzz::simt::race {

namespace {
const unsigned no_thread = 0;
}  // namespace

// Accesses are now those of the host, or of an operation that is no launch.
void Detector::run_as(Actor actor) {
  base_ = actor;
  thread_ = &no_thread;
  set_floors();
}

void Detector::begin_operation(const void* stream) {
  if (!active_) return;
  settle(Loads::all);
  order_.step();
  streams_.begin(stream, order_.now());
  run_as(order_.take_block());
}

void Detector::end_operation() {
  if (!active_) return;
  settle(Loads::all);
  order_.step();
  streams_.end(order_.now());
  run_as(host);
}

void Detector::created_stream(const void* stream, bool blocking) {
  if (active_) streams_.create(stream, blocking);
}

void Detector::recorded(const void* event, const void* stream) {
  if (!active_) return;
  settle(Loads::all);
  order_.step();
  streams_.record(event, stream, order_.now());
}

void Detector::waits(const void* stream, const void* event) {
  if (active_) streams_.wait(stream, event);
}

void Detector::host_waits(Wait what, const void* handle) {
  if (!active_) return;
  settle(Loads::all);
  order_.step();
  switch (what) {
    case Wait::for_last:
      streams_.wait_on_host_for_last(order_.now());
      break;
    case Wait::for_stream:
      streams_.wait_on_host_for_stream(handle, order_.now());
      break;
    case Wait::for_event:
      streams_.wait_on_host_for_event(handle, order_.now());
      break;
    case Wait::for_all:
      streams_.wait_on_host_for_all(order_.now());
      break;
  }
  set_floors();
}

void Detector::copied(const void* to, const void* from, size_t bytes, uintptr_t pc) {
  if (!active_) return;
  copied_from({reinterpret_cast<uintptr_t>(from), bytes, 0, pc});
  filled(to, bytes, pc);
}

void Detector::filled(const void* to, size_t bytes, uintptr_t pc) {
  if (active_) write({reinterpret_cast<uintptr_t>(to), bytes, write_access, pc});
}

// Of an access at this tick. False for the host and for operations of the host's API.
bool Detector::locate(Actor by, Tick at, Dim3& block, Dim3& thread) const {
  const StreamOrder::Segment* const segment = streams_.segment_at(at);
  if (segment == nullptr || !segment->is_launch()) return false;
  const LaunchPlaces& places = segment->places;
  const Actor serial = by >> thread_bits;
  const Actor since = serial >= places.first_block ? serial - places.first_block
                                                   : serial + block_serials - places.first_block;
  const uint64_t index = places.order.empty() ? since : places.order[since];
  block = {static_cast<uint32_t>(index % places.grid.x),
           static_cast<uint32_t>(index / places.grid.x % places.grid.y),
           static_cast<uint32_t>(index / places.grid.x / places.grid.y)};
  const uint32_t linear = by & ((1u << thread_bits) - 1);
  thread = {linear % places.block.x, linear / places.block.x % places.block.y,
            linear / places.block.x / places.block.y};
  return true;
}

}  // namespace warpfuzz::simt::race
