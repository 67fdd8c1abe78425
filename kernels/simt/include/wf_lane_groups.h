// The cooperative groups inside a warp: tiles of a fixed size and coalesced groups. Part of
// <cooperative_groups.h>.
#pragma once

#include "wf_integers.h"
#include "wf_threads.h"

namespace wf_groups {

WF_INTRINSIC unsigned lanes_of(unsigned size) { return size >= 32 ? ~0u : (1u << size) - 1; }
// The lanes of the running thread's tile; `size` is a power of two up to 32.
WF_INTRINSIC unsigned tile_mask(unsigned size) {
  return lanes_of(size) << (::wf_simt::lane() & ~(size - 1) & 31);
}
WF_INTRINSIC unsigned rank_in(unsigned mask) {
  return static_cast<unsigned>(__popc(mask & lanes_of(::wf_simt::lane())));
}
WF_INTRINSIC unsigned lane_of_rank(unsigned mask, unsigned rank) {
  return __fns(mask, 0, static_cast<int>(rank) + 1) & 31u;
}
// The bits of `lanes` that lie in `mask`, closed up.
inline unsigned compress(unsigned lanes, unsigned mask) {
  unsigned result = 0;
  for (unsigned rank = 0; mask != 0; mask &= mask - 1, ++rank) {
    result |= (lanes >> __builtin_ctz(mask) & 1u) << rank;
  }
  return result;
}

// A value of any size from lane `source`, in pieces of 8 bytes.
template <class T>
WF_INTRINSIC WF_CONVERGENT T get(unsigned mask, const T& value, unsigned source, const char* file,
                                 int line) {
  if constexpr (sizeof(T) <= 8) {
    return ::wf_simt::shuffle_from(mask, value, source, file, line);
  } else {
    constexpr size_t pieces = (sizeof(T) + 7) / 8;
    uint64_t words[pieces] = {};
    memcpy(words, &value, sizeof value);
    for (uint64_t& word : words) word = ::wf_simt::shuffle_from(mask, word, source, file, line);
    T result;
    memcpy(&result, words, sizeof result);
    return result;
  }
}

}  // namespace wf_groups

namespace cooperative_groups {

template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the CPU device has tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
  static WF_INTRINSIC unsigned wf_mask() { return wf_groups::tile_mask(Size); }

  // A tile is no more than its size: the parent is only a part of its type.
  thread_block_tile() = default;
  template <class Other>
  WF_INTRINSIC thread_block_tile(const thread_block_tile<Size, Other>&) {}

  static constexpr WF_INTRINSIC unsigned num_threads() { return Size; }
  static constexpr WF_INTRINSIC unsigned size() { return Size; }
  static WF_INTRINSIC unsigned thread_rank() { return ::wf_simt::lane() & (Size - 1); }
  static WF_INTRINSIC unsigned meta_group_rank() { return ::wf_simt::context.linear / Size; }
  static WF_INTRINSIC unsigned meta_group_size() {
    return (::wf_simt::context.threads + Size - 1) / Size;
  }

  WF_INTRINSIC WF_CONVERGENT void sync(WF_HERE) const { __syncwarp(wf_mask(), wf_file, wf_line); }

  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl(const T& value, int rank, WF_HERE) const {
    return wf_groups::get(wf_mask(), value, base() + (static_cast<unsigned>(rank) & (Size - 1)),
                          wf_file, wf_line);
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl_up(const T& value, unsigned delta, WF_HERE) const {
    const unsigned rank = thread_rank();
    return wf_groups::get(wf_mask(), value, base() + (delta <= rank ? rank - delta : rank), wf_file,
                          wf_line);
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl_down(const T& value, unsigned delta, WF_HERE) const {
    const unsigned rank = thread_rank();
    const unsigned source = delta < Size - rank ? rank + delta : rank;
    return wf_groups::get(wf_mask(), value, base() + source, wf_file, wf_line);
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl_xor(const T& value, unsigned lane_mask, WF_HERE) const {
    const unsigned rank = thread_rank();
    const unsigned source = (rank ^ lane_mask) < Size ? rank ^ lane_mask : rank;
    return wf_groups::get(wf_mask(), value, base() + source, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT int any(int predicate, WF_HERE) const {
    return __any_sync(wf_mask(), predicate, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT int all(int predicate, WF_HERE) const {
    return __all_sync(wf_mask(), predicate, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT unsigned ballot(int predicate, WF_HERE) const {
    return __ballot_sync(wf_mask(), predicate, wf_file, wf_line) >> base();
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT unsigned match_any(T value, WF_HERE) const {
    return __match_any_sync(wf_mask(), value, wf_file, wf_line) >> base();
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT unsigned match_all(T value, int& predicate, WF_HERE) const {
    return __match_all_sync(wf_mask(), value, &predicate, wf_file, wf_line) >> base();
  }

 private:
  // First lane of the tile.
  static WF_INTRINSIC unsigned base() { return ::wf_simt::lane() & ~(Size - 1); }
};

// The lanes of the warp that were together when the group was made, in order.
class coalesced_group {
 public:
  explicit WF_INTRINSIC coalesced_group(unsigned mask) : mask_(mask) {}
  WF_INTRINSIC unsigned wf_mask() const { return mask_; }

  WF_INTRINSIC unsigned num_threads() const { return static_cast<unsigned>(__popc(mask_)); }
  WF_INTRINSIC unsigned size() const { return num_threads(); }
  WF_INTRINSIC unsigned thread_rank() const { return wf_groups::rank_in(mask_); }
  static WF_INTRINSIC unsigned meta_group_rank() { return 0; }
  static WF_INTRINSIC unsigned meta_group_size() { return 1; }

  WF_INTRINSIC WF_CONVERGENT void sync(WF_HERE) const { __syncwarp(mask_, wf_file, wf_line); }

  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl(const T& value, int rank, WF_HERE) const {
    const unsigned source =
        wf_groups::lane_of_rank(mask_, static_cast<unsigned>(rank) % num_threads());
    return wf_groups::get(mask_, value, source, wf_file, wf_line);
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl_up(const T& value, unsigned delta, WF_HERE) const {
    const unsigned rank = thread_rank();
    return wf_groups::get(mask_, value,
                          wf_groups::lane_of_rank(mask_, delta <= rank ? rank - delta : rank),
                          wf_file, wf_line);
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT T shfl_down(const T& value, unsigned delta, WF_HERE) const {
    const unsigned rank = thread_rank();
    const unsigned source = delta < num_threads() - rank ? rank + delta : rank;
    return wf_groups::get(mask_, value, wf_groups::lane_of_rank(mask_, source), wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT int any(int predicate, WF_HERE) const {
    return __any_sync(mask_, predicate, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT int all(int predicate, WF_HERE) const {
    return __all_sync(mask_, predicate, wf_file, wf_line);
  }
  WF_INTRINSIC WF_CONVERGENT unsigned ballot(int predicate, WF_HERE) const {
    return wf_groups::compress(__ballot_sync(mask_, predicate, wf_file, wf_line), mask_);
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT unsigned match_any(T value, WF_HERE) const {
    return wf_groups::compress(__match_any_sync(mask_, value, wf_file, wf_line), mask_);
  }

 private:
  unsigned mask_;
};

WF_INTRINSIC WF_CONVERGENT coalesced_group coalesced_threads(WF_HERE) {
  return coalesced_group(__activemask(wf_file, wf_line));
}

// The threads of `group` with the same value as the caller.
template <class Group, class Label>
WF_INTRINSIC WF_CONVERGENT coalesced_group labeled_partition(const Group& group, Label label,
                                                             WF_HERE) {
  return coalesced_group(__match_any_sync(group.wf_mask(), label, wf_file, wf_line));
}
template <class Group>
WF_INTRINSIC WF_CONVERGENT coalesced_group binary_partition(const Group& group, bool predicate,
                                                            WF_HERE) {
  const unsigned yes = __ballot_sync(group.wf_mask(), predicate, wf_file, wf_line);
  return coalesced_group(predicate ? yes : group.wf_mask() & ~yes);
}

}  // namespace cooperative_groups
