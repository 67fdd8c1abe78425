#include "kernels/simt/race/detector.h"

#include <cstring>

namespace warpfuzz::simt::race {

Detector detector;

namespace {

const unsigned host_thread = 0;
constexpr Tick last_tick = ~Tick{0};
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

uint32_t load(uintptr_t address, size_t bytes) {
  uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bytes);
  return value;
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
  base_ = host;
  thread_ = &host_thread;
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
  set_floors();
}

void Detector::end_run() {
  if (!active_) return;
  active_ = in_grid_ = false;
  shadow_.begin_run();
}

void Detector::begin_launch(const wf_simt::LaunchRequest& request) {
  if (!active_) return;
  order_.begin_launch();
  in_grid_ = true;
  thread_ = &request.context->linear;
  grid_size_ = request.grid;
  block_size_ = request.block;
  block_index_.clear();
  for (Range& range : shadow_.ranges()) {
    if (range.memory == Memory::dynamic_shared) range.bytes = request.dynamic_shared_bytes;
  }
}

void Detector::end_launch() {
  if (!active_) return;
  settle(Loads::all);
  in_grid_ = false;
  base_ = host;
  thread_ = &host_thread;
  set_floors();
}

void Detector::begin_block(uint64_t index) {
  if (!active_) return;
  settle(Loads::all);
  order_.begin_block();
  base_ = order_.block_base();
  if (block_index_.empty()) first_block_ = base_ >> thread_bits;
  block_index_.push_back(index);
  set_floors();
}

void Detector::set_floors() {
  for (Range& range : shadow_.ranges()) {
    if (!in_grid_) {
      range.floor = last_tick;
    } else if (is_shared(range.memory)) {
      range.floor = std::max(order_.grid_tick(), order_.block_tick());
      range.written_since = order_.block_start() + 1;
    } else {
      range.floor = order_.grid_tick();
    }
  }
}

void Detector::block_barrier() {
  if (!active_) return;
  settle(Loads::all);
  order_.block_barrier();
  for (Range& range : shadow_.ranges()) {
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
  for (const Range& range : shadow_.ranges()) {
    if (is_shared(range.memory)) parked.shared.push_back(range.save());
  }
  return parked;
}

void Detector::resume_block(ParkedBlock block) {
  if (!active_) return;
  order_.resume(std::move(block.order));
  base_ = order_.block_base();
  auto saved = block.shared.begin();
  for (Range& range : shadow_.ranges()) {
    if (is_shared(range.memory)) range.restore(*saved++);
  }
  set_floors();
}

void Detector::allocated(void* memory, size_t bytes) {
  if (!active_) return;
  Range* const range =
      shadow_.watch(Memory::allocated, reinterpret_cast<uintptr_t>(memory), bytes, 4);
  if (range == nullptr) return;
  range->floor = last_tick;
  range->written_since = order_.now();
}

void Detector::freed(void* memory) {
  if (!active_) return;
  shadow_.unwatch(reinterpret_cast<uintptr_t>(memory));
}

void Detector::written_by_host(const void* memory, size_t bytes) {
  if (!active_) return;
  write({reinterpret_cast<uintptr_t>(memory), bytes, write_access, code_begin_});
}

void Detector::make_granules(Range& range, const Access& access) {
  if (access.bytes == 0) return;
  settle(Loads::all);  // cells may move
  range.refine(access.address, access.bytes);
}

// An access that is not one granule: of several, or of parts, which then become granules.
void Detector::read_parts(Range& range, Access access) {
  make_granules(range, access);
  const Record now = record(access);
  for_each_granule(range, access,
                   [&](Cell& cell, uintptr_t) { read_cell(range, cell, now, access); });
}

void Detector::write_parts(Range& range, Access access) {
  make_granules(range, access);
  const Record now = record(access);
  for_each_granule(range, access, [&](Cell& cell, uintptr_t address) {
    write_cell(range, cell, now, access, address);
  });
}

bool Detector::races(const Range& range, const Cell& cell, const Record& earlier,
                     const Record& now) const {
  if (earlier.tick <= range.floor || earlier.actor == now.actor) return false;
  const bool both_strong = (earlier.site & strong_access) != 0 && (now.site & strong_access) != 0;
  const bool warp_synchronous = (earlier.site & now.site & volatile_access) != 0 &&
                                is_shared(range.memory) && same_warp(earlier.actor, now.actor);
  if (both_strong && !warp_synchronous) return false;
  if (order_.ordered(earlier.actor, earlier.tick, now.actor)) return false;
  if ((earlier.site & strong_access) == 0 || warp_synchronous) return true;
  for (const Record* between :
       {&cell.write, &cell.latest, &cell.other_lane, &cell.other_warp, &cell.other_block}) {
    if ((between->site & strong_access) != 0 && between->tick > earlier.tick &&
        order_.ordered(between->actor, between->tick, now.actor)) {
      return false;
    }
  }
  return true;
}

void Detector::check_read(Range& range, Cell& cell, Record now, Access access) {
  settle(Loads::none);
  if (cell.write.tick < range.written_since && in_grid_) report_uninitialized(range, access);
  if (in_flight(cell)) return report_race(range, cell.write, access, now.actor);
  const Record* earlier = nullptr;
  if ((cell.flags & Cell::several_writers) == 0 && races(range, cell, cell.write, now)) {
    earlier = &cell.write;
  } else if ((cell.flags & Cell::strong_writes) != 0) {
    for (const Record* other :
         {&cell.latest, &cell.other_lane, &cell.other_warp, &cell.other_block}) {
      if ((other->site & write_access) == 0 || !races(range, cell, *other, now)) continue;
      earlier = other;
      break;
    }
  }
  if (earlier == nullptr) return;
  if ((earlier->site & atomic_access) != 0 && suspect_count_ < most_suspects) {
    suspects_[suspect_count_++] = {access, now.actor, access.address, 0,         0,
                                   &range, &cell,     *earlier,       cell.write};
  } else {
    report_race(range, *earlier, access, now.actor);
  }
}

void Detector::check_write(Range& range, Cell& cell, Record now, Access access, uintptr_t address) {
  if (in_flight(cell)) return report_race(range, cell.write, access, now.actor);
  const Record* earlier = nullptr;
  for (const Record* other :
       {&cell.write, &cell.latest, &cell.other_lane, &cell.other_warp, &cell.other_block}) {
    if (!races(range, cell, *other, now)) continue;
    earlier = other;
    break;
  }
  if (earlier == nullptr) return;
  if ((now.site & (atomic_access | async_access)) != 0) {
    report_race(range, *earlier, access, now.actor);
  } else if (suspect_count_ < most_suspects) {
    const uint32_t granule = 1u << range.shift;
    suspects_[suspect_count_++] = {access, now.actor, address,  granule,   load(address, granule),
                                   &range, &cell,     *earlier, cell.write};
  }
}

void Detector::settle_suspects(Loads loads) {
  const size_t count = std::exchange(suspect_count_, 0);  // a report may leave the run
  const Actor running = actor();
  for (size_t i = 0; i < count; ++i) {
    const Suspect s = suspects_[i];
    if (s.is_load()) {
      if (loads == Loads::all || (loads == Loads::of_running_thread && s.actor == running)) {
        report_race(*s.range, s.earlier, s.access, s.actor);
      } else {
        suspects_[suspect_count_++] = s;
      }
    } else if (load(s.address, s.granule) != s.before) {
      report_race(*s.range, s.earlier, s.access, s.actor);
    } else if ((s.earlier.site & write_access) != 0) {
      s.cell->flags |= Cell::several_writers;
    } else {
      s.cell->write = s.last_write;  // as good as no write
    }
  }
}

// An atomic on the same place by the thread that loaded it: a loop that starts from what it loaded.
void Detector::excuse_loads(uintptr_t address) {
  const size_t count = std::exchange(suspect_count_, 0);
  const Actor running = actor();
  for (size_t i = 0; i < count; ++i) {
    const Suspect s = suspects_[i];
    const bool excused = s.is_load() && s.actor == running && s.address == address;
    if (!excused) suspects_[suspect_count_++] = s;
  }
}

void Detector::strong_read(const Access& access) {
  if (!in_grid_) return;
  if ((access.kind & atomic_access) != 0) excuse_loads(access.address);
  order_.strong_read(actor(), access.address);
  order_.step();
  read(access);
}

void Detector::strong_write(const Access& access) {
  order_.step();
  write(access);
  Range* const range = in_grid_ ? shadow_.find(access.address) : nullptr;
  if (range == nullptr) return;
  const Record now = record(access);
  for_each_granule(*range, access, [&](Cell& cell, uintptr_t) {
    cell.note(now);
    cell.flags |= Cell::strong_writes;
  });
  order_.strong_write(actor(), access.address);
}

// What is not yet written may be copied: padding is.
void Detector::copied_from(const Access& access) {
  Range* const range = shadow_.find(access.address);
  if (range == nullptr) return;
  const Tick written_since = std::exchange(range->written_since, 0);
  read(access);
  range->written_since = written_since;
}

bool Detector::is_written(uintptr_t address) {
  const Range* const range = in_grid_ ? shadow_.find(address) : nullptr;
  return range == nullptr || range->cell(address).write.tick >= range->written_since;
}

void Detector::fence(bool device) {
  if (in_grid_) order_.fence(actor(), device);
}

void Detector::locate(Actor by, Dim3& block, Dim3& thread) const {
  const Actor serial = by >> thread_bits;
  const Actor since =
      serial >= first_block_ ? serial - first_block_ : serial + block_serials - first_block_;
  const uint64_t index = block_index_[since];
  block = {static_cast<uint32_t>(index % grid_size_.x),
           static_cast<uint32_t>(index / grid_size_.x % grid_size_.y),
           static_cast<uint32_t>(index / grid_size_.x / grid_size_.y)};
  const uint32_t linear = by & ((1u << thread_bits) - 1);
  thread = {linear % block_size_.x, linear / block_size_.x % block_size_.y,
            linear / block_size_.x / block_size_.y};
}

}  // namespace warpfuzz::simt::race
