// Scratch memory of the tracked number: doubles on 64-byte boundaries, handed out by bumping a
// pointer and taken back all at once between rows. After the first rows no allocation happens.
// Contents are uninitialised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace warpfuzz {

class Arena {
 public:
  double* doubles(size_t count) {
    const size_t padded = (count + 7) & ~size_t{7};
    if (blocks_.empty() || used_ + padded > blocks_.back().size) grow(padded);
    double* start = blocks_.back().memory.get() + used_;
    used_ += padded;
    return start;
  }

  // Everything handed out before becomes invalid.
  void reset() {
    if (blocks_.size() > 1) {
      size_t total = 0;
      for (const Block& block : blocks_) total += block.size;
      blocks_.clear();
      add_block(total);
    }
    used_ = 0;
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Release {
    void operator()(double* memory) const { ::operator delete[](memory, alignment); }
  };
  struct Block {
    std::unique_ptr<double[], Release> memory;
    size_t size;
  };

  void add_block(size_t size) {
    blocks_.push_back({std::unique_ptr<double[], Release>(static_cast<double*>(
                           ::operator new[](size * sizeof(double), alignment))),
                       size});
  }
  void grow(size_t least) {
    add_block(std::max(least, blocks_.empty() ? size_t{4096} : 2 * blocks_.back().size));
    used_ = 0;
  }

  std::vector<Block> blocks_;
  size_t used_ = 0;
};

}  // namespace warpfuzz
