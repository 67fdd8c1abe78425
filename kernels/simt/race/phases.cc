// The part of the order that barriers of the kernel make (cuda::barrier): views, which are vectors
// of ticks. Threads that have waited for the same phase share one.
#include <algorithm>
#include <bit>

#include "kernels/simt/race/happens_before.h"

namespace warpfuzz::simt::race {

namespace {

constexpr unsigned index_of(Actor thread) { return thread & ((1u << thread_bits) - 1); }

void join(View& to, const View& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

bool contains(const std::vector<SharedView>& views, const SharedView& view) {
  return std::find(views.begin(), views.end(), view) != views.end();
}

}  // namespace

void HappensBefore::arrive(Actor thread, uintptr_t barrier) {
  BlockOrder::Phase& phase = block_.phases[barrier];
  if (phase.open == nullptr) phase.open = std::make_shared<View>(View{});
  View& open = *phase.open;
  if (!block_.views.empty()) {
    const SharedView& view = block_.views[index_of(thread)];
    if (view != nullptr && !contains(phase.joined, view)) {
      join(open, *view);
      phase.joined.push_back(view);
    }
  }
  const unsigned first_lane = index_of(thread) & ~31u;
  const BlockOrder::Warp& warp = block_.warps[index_of(thread) / 32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Tick seen =
        warp.table < 0
            ? warp.all
            : block_.tables[static_cast<size_t>(warp.table)][index_of(thread) & 31u][lane];
    open[first_lane + lane] = std::max({open[first_lane + lane], seen, block_.barrier});
  }
  open[index_of(thread)] = now_++;
  if (!block_.acquired.empty()) add(phase.open_acquired, acquired_of(thread));
}

void HappensBefore::end_phase(uintptr_t barrier) {
  BlockOrder::Phase& phase = block_.phases[barrier];
  phase.ended = std::move(phase.open);
  phase.ended_joined = std::move(phase.joined);
  phase.ended_acquired = std::move(phase.open_acquired);
  phase.open = nullptr;
  phase.joined.clear();
  phase.open_acquired.clear();
}

void HappensBefore::pass(Actor thread, uintptr_t barrier) {
  const BlockOrder::Phase& phase = block_.phases[barrier];
  if (phase.ended == nullptr) return;  // of a phase before the first one
  if (block_.views.empty()) block_.views.resize(std::tuple_size_v<View>);
  SharedView& view = block_.views[index_of(thread)];
  if (view == nullptr || contains(phase.ended_joined, view)) {
    view = phase.ended;
  } else if (view != phase.ended) {
    const auto both = std::make_shared<View>(*view);
    join(*both, *phase.ended);
    view = both;
  }
  if (!phase.ended_acquired.empty()) add(acquired_of(thread), phase.ended_acquired);
}

// Lanes that meet also know of one another's phases.
void HappensBefore::exchange_views(unsigned warp, uint32_t lanes) {
  if (block_.views.empty()) return;
  const auto view_of = [&](unsigned lane) -> SharedView& { return block_.views[warp * 32 + lane]; };
  const SharedView first = view_of(static_cast<unsigned>(std::countr_zero(lanes)));
  bool differ = false;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    differ |= view_of(static_cast<unsigned>(std::countr_zero(rest))) != first;
  }
  if (!differ) return;
  const auto all = std::make_shared<View>(View{});
  std::vector<SharedView> joined;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    SharedView& view = view_of(static_cast<unsigned>(std::countr_zero(rest)));
    if (view != nullptr && !contains(joined, view)) {
      join(*all, *view);
      joined.push_back(view);
    }
    view = all;
  }
}

}  // namespace warpfuzz::simt::race
