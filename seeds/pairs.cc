#include "seeds/pairs.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warpfuzz {
namespace {

// x with a x = 1 modulo m, for coprime a and m.
uint64_t inverse(uint64_t a, uint64_t m) {
  int64_t r0 = static_cast<int64_t>(m), r1 = static_cast<int64_t>(a % m);
  int64_t t0 = 0, t1 = 1;
  while (r1 != 0) {
    const int64_t quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  return static_cast<uint64_t>(t0 < 0 ? t0 + static_cast<int64_t>(m) : t0);
}

}  // namespace

PairPlan::PairPlan(int64_t length) : length_(static_cast<uint64_t>(std::max<int64_t>(length, 1))) {
  const uint64_t unpaired = std::min(length_, most_unpaired - (length_ & 1));
  paired_ = length_ - unpaired;
  distance_ = std::max<uint64_t>(length_ * 3 / 8, 1);
  while (std::gcd(distance_, length_) != 1) ++distance_;
  multiplier_ = length_ == 1 ? 0 : inverse(distance_, length_);
}

}  // namespace warpfuzz
