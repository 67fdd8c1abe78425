#include "kernels/simt/race/happens_before.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpfuzz::simt::race {

namespace {

constexpr size_t most_recorded = size_t{1} << 20;

constexpr Actor block_of(Actor thread) { return thread >> thread_bits; }
constexpr unsigned index_of(Actor thread) { return thread & ((1u << thread_bits) - 1); }
constexpr unsigned lane_of(Actor thread) { return thread & 31u; }

template <class Visit>
void for_each_lane(uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace

void HappensBefore::reset() { *this = HappensBefore(); }

void HappensBefore::begin_launch() {
  grid_ = now_++;
  recorded_ = 0;
  if (fences_.empty() && releases_.empty()) return;
  fences_.clear();
  locations_.clear();
  releases_.clear();
  rows_.clear();
}

void HappensBefore::begin_block() {
  block_.base = take_block();
  block_.start = block_.barrier = now_++;
  block_.warps.fill({});
  block_.tables.clear();
  block_.acquired_by_all.clear();
  block_.acquired.clear();
  block_.phases.clear();
  block_.views.clear();
}

void HappensBefore::block_barrier() {
  block_.barrier = now_++;
  block_.views.clear();
  if (!block_.tables.empty()) {
    block_.tables.clear();
    for (BlockOrder::Warp& warp : block_.warps) warp.table = -1;
  }
  for (std::vector<Acquired>& of_thread : block_.acquired) {
    add(block_.acquired_by_all, of_thread);
    of_thread.clear();
  }
}

void HappensBefore::grid_barrier() { grid_ = now_++; }

void HappensBefore::sync_lanes(unsigned warp_index, uint32_t lanes, bool all) {
  pass_acquired(warp_index, lanes);
  BlockOrder::Warp& warp = block_.warps[warp_index];
  if (all) {
    warp = {now_++, -1};
    return;
  }
  if (warp.table < 0) {
    warp.table = static_cast<int32_t>(block_.tables.size());
    block_.tables.emplace_back();
    for (auto& row : block_.tables.back()) row.fill(warp.all);
  }
  auto& table = block_.tables[static_cast<size_t>(warp.table)];
  std::array<Tick, 32> seen{};
  for_each_lane(lanes, [&](unsigned lane) {
    for (unsigned other = 0; other < 32; ++other) {
      seen[other] = std::max(seen[other], table[lane][other]);
    }
  });
  for_each_lane(lanes, [&](unsigned lane) { seen[lane] = now_; });
  for_each_lane(lanes, [&](unsigned lane) { table[lane] = seen; });
  ++now_;
}

void HappensBefore::add(std::vector<Acquired>& to, const std::vector<Acquired>& from) {
  for (const Acquired& one : from) {
    const auto known = std::find_if(to.begin(), to.end(), [&](const Acquired& other) {
      return other.location == one.location;
    });
    if (known == to.end()) {
      to.push_back(one);
    } else {
      known->count = std::max(known->count, one.count);
    }
  }
}

void HappensBefore::pass_acquired(unsigned warp, uint32_t lanes) {
  exchange_views(warp, lanes);
  if (block_.acquired.empty()) return;
  std::vector<Acquired> all;
  for_each_lane(lanes, [&](unsigned lane) { add(all, block_.acquired[warp * 32 + lane]); });
  if (all.empty()) return;
  for_each_lane(lanes, [&](unsigned lane) { block_.acquired[warp * 32 + lane] = all; });
}

Seen HappensBefore::seen_by(Actor thread) {
  const BlockOrder::Warp& warp = block_.warps[index_of(thread) / 32];
  Seen seen{block_.barrier, warp.all, -1, {}};
  if (!block_.views.empty()) seen.view = block_.views[index_of(thread)];
  if (warp.table >= 0) {
    seen.lanes = static_cast<int32_t>(rows_.size());
    rows_.push_back(block_.tables[static_cast<size_t>(warp.table)][lane_of(thread)]);
  }
  return seen;
}

bool HappensBefore::has_seen(const Seen& seen, Actor by, Tick own, Actor other, Tick at) const {
  if (other == by) return at <= own;
  if (!same_block(other, by)) return false;
  if (at <= seen.block) return true;
  if (seen.view != nullptr && at <= (*seen.view)[index_of(other)]) return true;
  if (!same_warp(other, by)) return false;
  return at <=
         (seen.lanes < 0 ? seen.warp : rows_[static_cast<size_t>(seen.lanes)][lane_of(other)]);
}

void HappensBefore::fence(Actor thread, bool device) {
  if (recorded_ == most_recorded) return;
  ++recorded_;
  fences_[block_of(thread)].push_back({thread, now_, seen_by(thread), device});
  ++now_;
}

std::vector<BlockOrder::Acquired>& HappensBefore::acquired_of(Actor thread) {
  if (block_.acquired.empty()) block_.acquired.resize(size_t{1} << thread_bits);
  return block_.acquired[index_of(thread)];
}

void HappensBefore::strong_read(Actor thread, uintptr_t location) {
  if (releases_.empty()) return;
  const auto found = locations_.find(location);
  if (found == locations_.end()) return;
  const auto count = static_cast<uint32_t>(releases_[found->second].size());
  add(acquired_of(thread), {{found->second, count}});
}

void HappensBefore::strong_write(Actor thread, uintptr_t location) {
  const bool acquired = !block_.acquired.empty() || !block_.acquired_by_all.empty();
  if (!acquired && !fences_.contains(block_of(thread))) return;  // nothing to release
  if (recorded_ == most_recorded) return;
  ++recorded_;
  const auto [found, added] = locations_.emplace(location, static_cast<uint32_t>(releases_.size()));
  if (added) releases_.emplace_back();
  Release release{thread, now_, seen_by(thread), block_.acquired_by_all};
  if (!block_.acquired.empty()) add(release.acquired, acquired_of(thread));
  // What this location released before is part of its own list.
  std::erase_if(release.acquired,
                [&](const Acquired& one) { return one.location == found->second; });
  releases_[found->second].push_back(std::move(release));
  ++now_;
}

bool HappensBefore::ordered(Actor earlier, Tick at, Actor thread) const {
  if (at <= grid_ || earlier == thread) return true;
  if (same_block(earlier, thread)) {
    if (at <= block_.barrier) return true;
    if (!block_.views.empty()) {
      const SharedView& view = block_.views[index_of(thread)];
      if (view != nullptr && at <= (*view)[index_of(earlier)]) return true;
    }
    if (same_warp(earlier, thread)) {
      const BlockOrder::Warp& warp = block_.warps[index_of(thread) / 32];
      const Tick seen =
          warp.table < 0
              ? warp.all
              : block_.tables[static_cast<size_t>(warp.table)][lane_of(thread)][lane_of(earlier)];
      if (at <= seen) return true;
    }
  }
  return recorded_ == most_recorded || released(earlier, at, thread);
}

// Some thread's fence had seen the access, and the releasing thread had seen that fence.
bool HappensBefore::covers(const Release& release, Actor earlier, Tick at, Actor thread) const {
  if (!same_block(release.by, earlier)) return false;
  const auto fences = fences_.find(block_of(earlier));
  if (fences == fences_.end()) return false;
  const bool inside_block = same_block(earlier, thread);
  auto fence = std::lower_bound(fences->second.begin(), fences->second.end(), at,
                                [](const Fence& f, Tick tick) { return f.tick < tick; });
  for (; fence != fences->second.end() && fence->tick < release.tick; ++fence) {
    if ((fence->device || inside_block) &&
        has_seen(fence->seen, fence->by, fence->tick, earlier, at) &&
        has_seen(release.seen, release.by, release.tick, fence->by, fence->tick)) {
      return true;
    }
  }
  return false;
}

bool HappensBefore::released(Actor earlier, Tick at, Actor thread) const {
  if (block_.acquired.empty() && block_.acquired_by_all.empty()) return false;
  std::vector<Acquired> open = block_.acquired_by_all;
  if (!block_.acquired.empty()) {
    const std::vector<Acquired>& own = block_.acquired[index_of(thread)];
    open.insert(open.end(), own.begin(), own.end());
  }
  // Releases acquire in turn; each is looked at once, the latest of a location first.
  std::vector<uint32_t> looked_at(releases_.size(), 0);
  while (!open.empty()) {
    const Acquired next = open.back();
    open.pop_back();
    const uint32_t done = looked_at[next.location];
    if (next.count <= done) continue;
    looked_at[next.location] = next.count;
    const std::vector<Release>& releases = releases_[next.location];
    for (uint32_t i = next.count; i-- > done;) {
      if (covers(releases[i], earlier, at, thread)) return true;
      open.insert(open.end(), releases[i].acquired.begin(), releases[i].acquired.end());
    }
  }
  return false;
}

}  // namespace warpfuzz::simt::race
