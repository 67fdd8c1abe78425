// The part of the detector that looks at accesses: which race, and which of those are excused by
// what follows them.
#include <cstring>
#include <utility>

#include "kernels/simt/race/detector.h"

namespace warpfuzz::simt::race {

namespace {

uint32_t load(uintptr_t address, size_t bytes) {
  uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bytes);
  return value;
}

}  // namespace

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
  if (!in_grid_ || earlier.tick < launch_begin_) return !streams_.ordered(earlier.tick);
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
  if (in_flight(cell)) return report_race(range, cell.write, access, now);
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
    suspects_[suspect_count_++] = {access, now,   access.address, 0,         0,
                                   &range, &cell, *earlier,       cell.write};
  } else {
    report_race(range, *earlier, access, now);
  }
}

void Detector::check_write(Range& range, Cell& cell, Record now, Access access, uintptr_t address) {
  if (in_flight(cell)) return report_race(range, cell.write, access, now);
  const Record* earlier = nullptr;
  for (const Record* other :
       {&cell.write, &cell.latest, &cell.other_lane, &cell.other_warp, &cell.other_block}) {
    if (!races(range, cell, *other, now)) continue;
    earlier = other;
    break;
  }
  if (earlier == nullptr) return;
  if ((now.site & (atomic_access | async_access)) != 0) {
    report_race(range, *earlier, access, now);
  } else if (suspect_count_ < most_suspects) {
    const uint32_t granule = 1u << range.shift;
    suspects_[suspect_count_++] = {access, now,   address,  granule,   load(address, granule),
                                   &range, &cell, *earlier, cell.write};
  }
}

void Detector::settle_suspects(Loads loads) {
  const size_t count = std::exchange(suspect_count_, 0);  // a report may leave the run
  const Actor running = actor();
  for (size_t i = 0; i < count; ++i) {
    const Suspect s = suspects_[i];
    if (s.is_load()) {
      if (loads == Loads::all || (loads == Loads::of_running_thread && s.now.actor == running)) {
        report_race(*s.range, s.earlier, s.access, s.now);
      } else {
        suspects_[suspect_count_++] = s;
      }
    } else if (load(s.address, s.granule) != s.before) {
      report_race(*s.range, s.earlier, s.access, s.now);
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
    const bool excused = s.is_load() && s.now.actor == running && s.address == address;
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

}  // namespace warpfuzz::simt::race
