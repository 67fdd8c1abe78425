// Warp functions: the lanes named by a mask meet, and the last to arrive computes what each of them
// gets. Lanes that do not exist or have exited are not waited for, as on a GPU; a shuffle that
// reads from one is a fault. Lanes may wait in several groups at once (tiles, divergent branches).
#pragma once

#include <cstdint>

#include "kernels/simt/fiber.h"
#include "kernels/simt/include/wf_simt.h"

namespace warpfuzz::simt {

class Block;

class Warp {
 public:
  void reset(unsigned index, unsigned threads);

  // Lane `lane` arrives. True if its group is complete: results are there and the other lanes of
  // the group are ready. False if the lane has to wait.
  bool arrive(Block& block, unsigned lane, wf_simt::WarpOp op, uint32_t mask, uint64_t value,
              uint32_t operand, const char* file, int line);
  uint64_t result(unsigned lane) const { return result_[lane]; }
  bool predicate(unsigned lane) const { return predicate_ >> lane & 1; }

  void bind(unsigned lane, Fiber& fiber) {
    fiber_[lane] = &fiber;
    bound_ |= 1u << lane;
  }
  void exit(unsigned lane) {
    bound_ &= ~(1u << lane);
    exited_ |= 1u << lane;
  }
  // All threads of the block have started, so lanes without a fiber have exited. Completes the
  // groups that wait for nobody else; true if there was one.
  bool complete_without_exited(Block& block);
  // Nothing else can run: lanes at __activemask() will not be joined by others.
  bool complete_active_masks(Block& block);

  struct Group {
    wf_simt::WarpOp op;
    uint32_t mask;  // the lanes to wait for among those that exist
    uint32_t arrived;
    const char* file;
    int line;
  };
  // A group that waits, nullptr if there is none.
  const Group* waiting() const { return group_count_ != 0 ? &groups_[0] : nullptr; }

 private:
  void complete(Block& block, Group& group, int running_lane);
  void order_memory(const Group& group) const;
  void shuffle(const Group& group);
  void reduce(const Group& group);
  void match(const Group& group);

  unsigned index_ = 0;
  uint32_t exists_ = 0;
  uint32_t exited_ = 0;  // known to have exited; the rest is found out when nothing can run
  uint32_t bound_ = 0;
  uint32_t predicate_ = 0;
  unsigned group_count_ = 0;
  Group groups_[32];
  uint64_t value_[32];
  uint64_t result_[32];
  uint32_t operand_[32];
  Fiber* fiber_[32];
};

}  // namespace warpfuzz::simt
