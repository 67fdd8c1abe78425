#include "kernels/simt/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/simt/block.h"
#include "kernels/simt/grid.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt {

namespace {

using wf_simt::WarpOp;

// What a lane gets that reads from one which does not take part: undefined on a GPU, NaN here.
constexpr uint64_t undefined_value = ~uint64_t{0};

unsigned pop_lane(uint32_t& lanes) {
  const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
  lanes &= lanes - 1;
  return lane;
}

bool same_group(const Warp::Group& group, WarpOp op, uint32_t mask, const char* file, int line) {
  if (group.op != op || group.mask != mask) return false;
  return op != WarpOp::active_mask || (group.line == line && group.file == file);
}

}  // namespace

void Warp::reset(unsigned index, unsigned threads) {
  index_ = index;
  const unsigned lanes = std::min(threads - index * 32, 32u);
  exists_ = lanes == 32 ? ~0u : (1u << lanes) - 1;
  exited_ = bound_ = 0;
  group_count_ = 0;
}

bool Warp::arrive(Block& block, unsigned lane, WarpOp op, uint32_t mask, uint64_t value,
                  uint32_t operand, const char* file, int line) {
  const uint32_t bit = 1u << lane;
  if (op == WarpOp::active_mask) mask = ~0u;
  if ((mask & bit) == 0) {
    RawFault fault = make_fault(FaultKind::undefined_behavior, file, line);
    set_text(fault.message, "lane {} calls a warp function whose mask {:#010x} leaves it out", lane,
             mask);
    report(fault);
    mask |= bit;
  }
  mask &= exists_;
  Group* group = groups_;
  Group* const end = groups_ + group_count_;
  while (group != end && !same_group(*group, op, mask, file, line)) ++group;
  if (group == end) {
    ++group_count_;
    *group = {op, mask, 0, file, line};
  }
  group->arrived |= bit;
  value_[lane] = value;
  operand_[lane] = operand;
  if ((mask & ~exited_ & ~group->arrived) != 0) return false;
  complete(block, *group, static_cast<int>(lane));
  return true;
}

bool Warp::complete_without_exited(Block& block) {
  exited_ = exists_ & ~bound_;
  bool progress = false;
  for (unsigned g = 0; g < group_count_;) {
    Group& group = groups_[g];
    if ((group.mask & ~exited_ & ~group.arrived) == 0) {
      complete(block, group, -1);  // puts another group in its place
      progress = true;
    } else {
      ++g;
    }
  }
  return progress;
}

bool Warp::complete_active_masks(Block& block) {
  bool progress = false;
  for (unsigned g = 0; g < group_count_;) {
    if (groups_[g].op == WarpOp::active_mask) {
      complete(block, groups_[g], -1);
      progress = true;
    } else {
      ++g;
    }
  }
  return progress;
}

void Warp::complete(Block& block, Group& group, int running_lane) {
  check_time_limit();
  const Group done = group;
  group = groups_[--group_count_];
  switch (done.op) {
    case WarpOp::sync:
      break;
    case WarpOp::shuffle:
      shuffle(done);
      break;
    case WarpOp::match_any:
    case WarpOp::match_all:
      match(done);
      break;
    default:
      reduce(done);
      break;
  }
  if (race::detector.active()) order_memory(done);
  uint32_t others = done.arrived;
  if (running_lane >= 0) others &= ~(1u << running_lane);
  if (block.schedule() == Schedule::reversed) {
    while (others != 0) {
      const unsigned lane = 31u - static_cast<unsigned>(std::countl_zero(others));
      others &= ~(1u << lane);
      block.make_ready(*fiber_[lane]);
    }
  } else {
    while (others != 0) block.make_ready(*fiber_[pop_lane(others)]);
  }
}

// Only __syncwarp() orders memory.
void Warp::order_memory(const Group& group) const {
  if (group.op == WarpOp::sync) {
    race::detector.sync_lanes(index_, group.arrived, group.arrived == exists_);
  } else {
    race::detector.exchange_lanes(index_, group.arrived);
  }
}

void Warp::shuffle(const Group& group) {
  for (uint32_t lanes = group.arrived; lanes != 0;) {
    const unsigned lane = pop_lane(lanes);
    const unsigned source = operand_[lane];
    if (group.arrived >> source & 1) {
      result_[lane] = value_[source];
      continue;
    }
    result_[lane] = undefined_value;
    RawFault fault = make_fault(FaultKind::exited_lane, group.file, group.line);
    const char* why = (exists_ >> source & 1) == 0      ? "which the block does not have"
                      : (group.mask >> source & 1) == 0 ? "which is not in the mask"
                                                        : "which has returned";
    set_text(fault.message, "a shuffle of lane {} reads from lane {}, {}", lane, source, why);
    grid.describe_thread(fault, index_ * 32 + lane);
    report(fault);
  }
}

void Warp::match(const Group& group) {
  predicate_ = 0;
  const uint64_t first = value_[std::countr_zero(group.arrived)];
  bool all_equal = true;
  for (uint32_t lanes = group.arrived; lanes != 0;) {
    const unsigned lane = pop_lane(lanes);
    uint32_t equal = 0;
    for (uint32_t others = group.arrived; others != 0;) {
      const unsigned other = pop_lane(others);
      if (value_[other] == value_[lane]) equal |= 1u << other;
    }
    result_[lane] = equal;
    all_equal &= value_[lane] == first;
  }
  if (group.op != WarpOp::match_all) return;
  for (uint32_t lanes = group.arrived; lanes != 0;) {
    result_[pop_lane(lanes)] = all_equal ? group.arrived : 0;
  }
  predicate_ = all_equal ? group.arrived : 0;
}

void Warp::reduce(const Group& group) {
  uint32_t lanes = group.arrived;
  auto value = [&](unsigned lane) { return static_cast<uint32_t>(value_[lane]); };
  auto combine = [&](auto operation) {
    uint32_t rest = lanes;
    uint32_t total = value(pop_lane(rest));
    while (rest != 0) total = operation(total, value(pop_lane(rest)));
    return total;
  };
  auto as_signed = [](uint32_t v) { return static_cast<int32_t>(v); };
  uint32_t ballot = 0;
  for (uint32_t rest = lanes; rest != 0;) {
    const unsigned lane = pop_lane(rest);
    ballot |= static_cast<uint32_t>(value_[lane] != 0) << lane;
  }
  uint32_t result = 0;
  switch (group.op) {
    case WarpOp::ballot:
      result = ballot;
      break;
    case WarpOp::any:
      result = ballot != 0;
      break;
    case WarpOp::all:
      result = ballot == lanes;
      break;
    case WarpOp::active_mask:
      result = lanes;
      break;
    case WarpOp::add_u32:
    case WarpOp::add_s32:
      result = combine([](uint32_t a, uint32_t b) { return a + b; });
      break;
    case WarpOp::min_u32:
      result = combine([](uint32_t a, uint32_t b) { return std::min(a, b); });
      break;
    case WarpOp::max_u32:
      result = combine([](uint32_t a, uint32_t b) { return std::max(a, b); });
      break;
    case WarpOp::min_s32:
      result = combine([&](uint32_t a, uint32_t b) { return as_signed(a) < as_signed(b) ? a : b; });
      break;
    case WarpOp::max_s32:
      result = combine([&](uint32_t a, uint32_t b) { return as_signed(a) > as_signed(b) ? a : b; });
      break;
    case WarpOp::and_b32:
      result = combine([](uint32_t a, uint32_t b) { return a & b; });
      break;
    case WarpOp::or_b32:
      result = combine([](uint32_t a, uint32_t b) { return a | b; });
      break;
    case WarpOp::xor_b32:
      result = combine([](uint32_t a, uint32_t b) { return a ^ b; });
      break;
    default:
      break;
  }
  while (lanes != 0) result_[pop_lane(lanes)] = result;
}

}  // namespace warpfuzz::simt
