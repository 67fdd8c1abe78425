// Reductions over tiles and coalesced groups. Every thread gets the result. The order of a tile is
// the butterfly (partners at distance size/2, ..., 1), that of a coalesced group goes by rank.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

template <class T>
struct plus {
  WF_INTRINSIC T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T>
struct less {  // the minimum
  WF_INTRINSIC T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct greater {  // the maximum
  WF_INTRINSIC T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  WF_INTRINSIC T operator()(const T& a, const T& b) const { return a & b; }
};
template <class T>
struct bit_or {
  WF_INTRINSIC T operator()(const T& a, const T& b) const { return a | b; }
};
template <class T>
struct bit_xor {
  WF_INTRINSIC T operator()(const T& a, const T& b) const { return a ^ b; }
};

template <unsigned Size, class Parent, class T, class Operation>
WF_INTRINSIC WF_CONVERGENT T reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                    Operation operation, WF_HERE) {
  for (unsigned distance = Size / 2; distance > 0; distance /= 2) {
    value = operation(value, tile.shfl_xor(value, distance, wf_file, wf_line));
  }
  return value;
}
template <class T, class Operation>
WF_INTRINSIC WF_CONVERGENT T reduce(const coalesced_group& group, T value, Operation operation,
                                    WF_HERE) {
  T total = group.shfl(value, 0, wf_file, wf_line);
  for (unsigned rank = 1; rank < group.num_threads(); ++rank) {
    total = operation(total, group.shfl(value, static_cast<int>(rank), wf_file, wf_line));
  }
  return total;
}

}  // namespace cooperative_groups
