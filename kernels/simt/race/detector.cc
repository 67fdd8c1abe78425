#include "kernels/simt/race/detector.h"

namespace warpfuzz::simt::race {

Detector detector;

namespace {

// Long before the ticks of a run could overflow.
constexpr Tick most_ticks = Tick{1} << 30;
// Beginnings of ranges are rounded down, so that granules lie on the grid of aligned accesses.
constexpr uintptr_t range_alignment = 16;

size_t smallest_element(const MemoryImage& image) {
  size_t bytes = 4;
  for (const Region& region : image.regions()) {
    const bool tensor = region.kind == RegionKind::input || region.kind == RegionKind::output;
    if (tensor) bytes = std::min(bytes, region.element_bytes);
  }
  return bytes;
}

}  // namespace

// Inputs come first in an image.
void Detector::begin_run(const LoadedObject& object, MemoryImage* image) {
  active_ = object.race;
  shadow_.begin_run();
  if (!active_) return;
  if (order_.now() > most_ticks) {
    order_.reset();
    shadow_.clear();
  }
  order_.begin_run();
  object_ = &object;
  code_begin_ = object.code.begin;
  in_grid_ = false;
  streams_.begin_run(order_.now());
  suspect_count_ = 0;
  uninitialized_ = 0;
  reported_.clear();
  shadow_.watch(Memory::dynamic_shared, reinterpret_cast<uintptr_t>(wf_dynamic_shared),
                max_dynamic_shared_bytes, 4);
  shadow_.watch(Memory::static_shared, reinterpret_cast<uintptr_t>(object.shared.begin),
                object.shared.bytes, 4);
  if (image != nullptr) {
    const auto begin = reinterpret_cast<uintptr_t>(image->bytes().data());
    const size_t granule = smallest_element(*image);
    size_t split = image->bytes().size();
    for (const Region& region : image->regions()) {
      const bool unset = region.kind == RegionKind::output || region.kind == RegionKind::workspace;
      if (unset) split = std::min(split, region.begin / range_alignment * range_alignment);
    }
    Range* const inputs = shadow_.watch(Memory::inputs, begin, split, granule);
    if (inputs != nullptr) inputs->read_only = true;
    Range* const outputs =
        shadow_.watch(Memory::outputs, begin + split, image->bytes().size() - split, granule);
    if (outputs != nullptr) outputs->written_since = order_.now();
  }
  const uintptr_t variables = object.variables.begin / range_alignment * range_alignment;
  shadow_.watch(Memory::variables, variables, object.variables.end - variables, 4);
  run_as(host);
}

void Detector::end_run() {
  if (!active_) return;
  settle(Loads::all);
  active_ = in_grid_ = false;
  shadow_.begin_run();
}

void Detector::begin_launch(const wf_simt::LaunchRequest& request, bool runs) {
  if (!active_) return;
  settle(Loads::all);
  order_.begin_launch();
  launch_begin_ = order_.now();
  places_ = nullptr;
  if (runs) {
    places_ = &streams_.begin(request.stream, launch_begin_).places;
    places_->grid = request.grid;
    places_->block = request.block;
  }
  in_grid_ = true;
  set_floors();
  thread_ = &request.context->linear;
  for (Range& range : shadow_.fixed()) {
    if (range.memory == Memory::dynamic_shared) range.bytes = request.dynamic_shared_bytes;
  }
}

void Detector::end_launch() {
  if (!active_) return;
  settle(Loads::all);
  in_grid_ = false;
  if (places_ != nullptr) {
    places_ = nullptr;
    end_operation();
  } else {
    run_as(host);
  }
}

void Detector::begin_block(uint64_t index) {
  if (!active_) return;
  settle(Loads::all);
  order_.begin_block();
  base_ = order_.block_base();
  if (places_ != nullptr) places_->begin_block(base_ >> thread_bits, index);
  set_block_floors();
}

// What the host and the streams have done before is ordered unless the streams say otherwise.
void Detector::set_floors() {
  const Tick earlier = streams_.floor();
  const Tick floor = in_grid_ ? std::min(order_.grid_tick(), earlier) : earlier;
  shadow_.for_each_range([&](Range& range) {
    if (!is_shared(range.memory)) range.floor = std::max(floor, range.watched_since);
  });
  set_block_floors();
}

void Detector::set_block_floors() {
  for (Range& range : shadow_.fixed()) {
    if (!is_shared(range.memory)) break;
    range.floor = in_grid_ ? std::max(order_.grid_tick(), order_.block_tick()) : last_tick;
    range.written_since = order_.block_start() + 1;
  }
}

void Detector::block_barrier() {
  if (!active_) return;
  settle(Loads::all);
  order_.block_barrier();
  for (Range& range : shadow_.fixed()) {
    if (!is_shared(range.memory)) break;
    range.floor = order_.block_tick();
  }
}

void Detector::grid_barrier() {
  if (!active_) return;
  order_.grid_barrier();
  set_floors();
}

void Detector::sync_lanes(unsigned warp, uint32_t lanes, bool all) {
  settle(Loads::all);
  order_.sync_lanes(warp, lanes, all);
}

void Detector::exchange_lanes(unsigned warp, uint32_t lanes) {
  settle(Loads::all);
  order_.pass_acquired(warp, lanes);
}

Detector::ParkedBlock Detector::park_block() {
  ParkedBlock parked;
  if (!active_) return parked;
  settle(Loads::all);
  parked.order = order_.park();
  for (const Range& range : shadow_.fixed()) {
    if (is_shared(range.memory)) parked.shared.push_back(range.save());
  }
  return parked;
}

void Detector::resume_block(ParkedBlock block) {
  if (!active_) return;
  order_.resume(std::move(block.order));
  base_ = order_.block_base();
  auto saved = block.shared.begin();
  for (Range& range : shadow_.fixed()) {
    if (is_shared(range.memory)) range.restore(*saved++);
  }
  set_block_floors();
}

void Detector::allocated(void* memory, size_t bytes) {
  if (!active_) return;
  Range* const range =
      shadow_.watch(Memory::allocated, reinterpret_cast<uintptr_t>(memory), bytes, 4);
  if (range == nullptr) return;
  order_.step();
  range->floor = last_tick;  // until something else runs
  range->watched_since = order_.now() - 1;
  range->written_since = order_.now();
}

void Detector::freed(void* memory) {
  if (!active_) return;
  settle(Loads::all);
  shadow_.unwatch(reinterpret_cast<uintptr_t>(memory));
}

}  // namespace warpfuzz::simt::race
