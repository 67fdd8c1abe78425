// The orders in which blocks and threads start and suspended threads resume. A schedule is a value:
// the same kind and seed give the same order.
#pragma once

#include <cstdint>
#include <numeric>

#include "kernels/device.h"

namespace warpfuzz::simt {

// splitmix64.
class ScheduleRandom {
 public:
  explicit ScheduleRandom(uint64_t seed = 0) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }

 private:
  uint64_t state_;
};

// A permutation of 0 .. count-1 in constant memory: affine, so that grids of any size have one.
class Order {
 public:
  Order() = default;
  Order(Schedule schedule, uint64_t count, ScheduleRandom& random) : count_(count) {
    if (schedule == Schedule::reversed) {
      factor_ = count - 1;
      offset_ = count - 1;
    } else if (schedule == Schedule::random) {
      offset_ = random.next() % count;
      do {
        factor_ = 1 + random.next() % count;
      } while (std::gcd(factor_, count) != 1);
    }
  }
  uint64_t operator()(uint64_t position) const {
    if (factor_ == 1 && offset_ == 0) return position;
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(factor_) * position + offset_) % count_);
  }

 private:
  uint64_t count_ = 1;
  uint64_t factor_ = 1;
  uint64_t offset_ = 0;
};

}  // namespace warpfuzz::simt
