// Which elements along a reduction axis form pairs. Depends on the length only, so that the pairs
// of all operands of a product coincide: with one operand's pairs of opposite sign and the other's
// repeated, the products cancel two by two, whatever the values. Both elements of a pair stand a
// fixed odd fraction of the length apart (modulo the length), so partial sums grow in the meantime
// and no lane, tile or warp holds whole pairs only.
#pragma once

#include <cstdint>

namespace warpfuzz {

class PairPlan {
 public:
  explicit PairPlan(int64_t length);

  // A bijection of positions to ranks: ranks 2i and 2i+1 below paired() form pair i, the others
  // stand alone.
  uint64_t rank(uint64_t position) const {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(position) * multiplier_ % length_);
  }
  uint64_t next_rank(uint64_t rank) const {  // of the position after the one of `rank`
    const uint64_t next = rank + multiplier_;
    return next - (length_ & -static_cast<uint64_t>(next >= length_));  // no branch: it mispredicts
  }
  uint64_t paired() const { return paired_; }      // even
  uint64_t distance() const { return distance_; }  // between the elements of a pair

 private:
  uint64_t length_;
  uint64_t paired_;
  uint64_t distance_;
  uint64_t multiplier_;  // inverse of the distance modulo the length
};

inline constexpr uint64_t most_unpaired = 8;

// rank() for positions that are mostly visited in order, without a division.
class RankCursor {
 public:
  explicit RankCursor(const PairPlan& plan) : plan_(plan) {}

  uint64_t operator()(uint64_t position) {
    if (position == position_) return rank_;
    rank_ = position == position_ + 1 ? plan_.next_rank(rank_) : plan_.rank(position);
    position_ = position;
    return rank_;
  }

 private:
  const PairPlan plan_;  // a copy: it stays in registers
  uint64_t position_ = 0;
  uint64_t rank_ = 0;
};

}  // namespace warpfuzz
