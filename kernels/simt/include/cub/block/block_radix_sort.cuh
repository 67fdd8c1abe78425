// Sorts the keys of a block, with values if wanted; stable. Each item counts those that come before
// it, which takes the square of their number: for blocks of some thousand items.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../wf_cub_common.cuh"
#include "block_scan.cuh"

namespace wf_cub {

template <size_t Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = unsigned char;
};
template <>
struct UnsignedOf<2> {
  using Type = unsigned short;
};
template <>
struct UnsignedOf<4> {
  using Type = unsigned;
};
template <>
struct UnsignedOf<8> {
  using Type = unsigned long long;
};

template <class T>
inline constexpr bool is_floating =
    __is_floating_point(T) || __is_same(T, __half) || __is_same(T, __nv_bfloat16);
template <class T>
constexpr bool is_signed_integer() {
  if constexpr (__is_integral(T)) return static_cast<T>(-1) < 0;
  return false;
}

// Bits that are ordered as unsigned numbers as the keys are; -0 and +0 have the same.
template <class Key>
WF_INTRINSIC auto ordered_bits(Key key) {
  using Bits = typename UnsignedOf<sizeof(Key)>::Type;
  constexpr Bits top = static_cast<Bits>(Bits{1} << (8 * sizeof(Key) - 1));
  Bits bits = __builtin_bit_cast(Bits, key);
  if constexpr (is_floating<Key>) {
    if (bits == top) bits = 0;
    return static_cast<Bits>((bits & top) != 0 ? ~bits : bits | top);
  } else {
    return static_cast<Bits>(is_signed_integer<Key>() ? bits ^ top : bits);
  }
}

}  // namespace wf_cub

namespace cub {

template <class Key, int BlockDimX, int Items, class Value = NullType, int RadixBits = 4,
          bool MemoizeOuterScan = true, BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS,
          int SharedMemoryConfig = 0, int BlockDimY = 1, int BlockDimZ = 1, int PtxArch = 0>
class BlockRadixSort {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;
  static constexpr int count = threads * Items;
  static constexpr int key_bits = 8 * sizeof(Key);
  using Bits = typename wf_cub::UnsignedOf<sizeof(Key)>::Type;

 public:
  union TempStorage {
    Bits bits[count];
    Uninitialized<Key> keys[count];
    Uninitialized<Value> values[count];
  };
  WF_INTRINSIC explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define WF_CUB_SORT(name, descending, striped)                                               \
  WF_INTRINSIC WF_CONVERGENT void name(Key(&keys)[Items], int begin_bit = 0,                 \
                                       int end_bit = key_bits, WF_HERE) {                    \
    int ranks[Items];                                                                        \
    rank(keys, ranks, descending, begin_bit, end_bit, wf_file, wf_line);                     \
    exchange(storage_.keys, keys, ranks, striped, wf_file, wf_line);                         \
  }                                                                                          \
  WF_INTRINSIC WF_CONVERGENT void name(Key(&keys)[Items], Value(&values)[Items],             \
                                       int begin_bit = 0, int end_bit = key_bits, WF_HERE) { \
    int ranks[Items];                                                                        \
    rank(keys, ranks, descending, begin_bit, end_bit, wf_file, wf_line);                     \
    exchange(storage_.keys, keys, ranks, striped, wf_file, wf_line);                         \
    __syncthreads(wf_file, wf_line);                                                         \
    exchange(storage_.values, values, ranks, striped, wf_file, wf_line);                     \
  }
  WF_CUB_SORT(Sort, false, false)
  WF_CUB_SORT(SortDescending, true, false)
  WF_CUB_SORT(SortBlockedToStriped, false, true)
  WF_CUB_SORT(SortDescendingBlockedToStriped, true, true)
#undef WF_CUB_SORT

 private:
  WF_INTRINSIC WF_CONVERGENT void rank(const Key (&keys)[Items], int (&ranks)[Items],
                                       bool descending, int begin_bit, int end_bit,
                                       const char* file, int line) {
    const int width = end_bit - begin_bit;
    const Bits mask = static_cast<Bits>(width >= key_bits ? ~Bits{0} : (Bits{1} << width) - 1);
    const int first = static_cast<int>(wf_cub::thread()) * Items;
    for (int i = 0; i < Items; ++i) {
      const Bits bits = static_cast<Bits>(wf_cub::ordered_bits(keys[i]) >> begin_bit & mask);
      storage_.bits[first + i] = static_cast<Bits>(descending ? bits ^ mask : bits);
    }
    __syncthreads(file, line);
    for (int i = 0; i < Items; ++i) ranks[i] = count_before(storage_.bits, first + i);
    __syncthreads(file, line);
  }
  // Not inlined, so that its loop is none of the kernel's.
  WF_NO_INSTRUMENT __attribute__((noinline)) static int count_before(const Bits (&bits)[count],
                                                                     int item) {
    int before = 0;
    for (int other = 0; other < count; ++other) {
      before += bits[other] < bits[item] || (bits[other] == bits[item] && other < item);
    }
    return before;
  }
  template <class T>
  WF_INTRINSIC WF_CONVERGENT void exchange(Uninitialized<T> (&shared)[count], T (&items)[Items],
                                           const int (&ranks)[Items], bool striped,
                                           const char* file, int line) {
    for (int i = 0; i < Items; ++i) shared[ranks[i]].Alias() = items[i];
    __syncthreads(file, line);
    const int thread = static_cast<int>(wf_cub::thread());
    for (int i = 0; i < Items; ++i) {
      items[i] = shared[striped ? i * threads + thread : thread * Items + i].Alias();
    }
  }
  TempStorage& storage_;
};

}  // namespace cub
