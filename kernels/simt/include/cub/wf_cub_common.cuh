// What the collectives of CUB have in common: operators, uninitialised storage, warp steps. Part of
// <cub/cub.cuh>, which has the reductions, scans, loads, stores and the radix sort of warps and
// blocks, with the storage and the barriers that CUB's default algorithms have: a kernel that
// reuses temporary storage without a barrier between is wrong here too. The other algorithms that
// CUB can be asked for give the same results.
#pragma once

#include <cooperative_groups.h>

namespace cub {

struct NullType {};

template <class Key, class Value>
struct KeyValuePair {
  using Key_ = Key;
  using Value_ = Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  WF_INTRINSIC KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  WF_INTRINSIC bool operator!=(const KeyValuePair& other) const {
    return key != other.key || value != other.value;
  }
};

#define WF_CUB_OPERATOR(name, expression)                        \
  struct name {                                                  \
    template <class T, class U>                                  \
    WF_INTRINSIC auto operator()(const T& a, const U& b) const { \
      return expression;                                         \
    }                                                            \
  };
WF_CUB_OPERATOR(Equality, a == b)
WF_CUB_OPERATOR(Inequality, a != b)
WF_CUB_OPERATOR(Sum, a + b)
WF_CUB_OPERATOR(Difference, a - b)
WF_CUB_OPERATOR(Max, b > a ? b : a)
WF_CUB_OPERATOR(Min, b < a ? b : a)
#undef WF_CUB_OPERATOR
// Of pairs of an index and a value; the smaller index wins where the values are equal.
struct ArgMax {
  template <class Index, class T>
  WF_INTRINSIC KeyValuePair<Index, T> operator()(const KeyValuePair<Index, T>& a,
                                                 const KeyValuePair<Index, T>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Index, class T>
  WF_INTRINSIC KeyValuePair<Index, T> operator()(const KeyValuePair<Index, T>& a,
                                                 const KeyValuePair<Index, T>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

// Room for a T in shared memory, whose variables have no constructors.
template <class T>
struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];
  WF_INTRINSIC T& Alias() { return reinterpret_cast<T&>(storage); }
};

}  // namespace cub

namespace wf_cub {

WF_INTRINSIC unsigned thread() { return ::wf_simt::context.linear; }

// A group of `Width` neighbouring lanes, of which the first `valid` hold something.
template <int Width>
struct Lanes {
  static_assert(Width >= 1 && Width <= 32, "a logical warp has 1 to 32 lanes");
  static WF_INTRINSIC unsigned rank() { return ::wf_simt::lane() % Width; }
  static WF_INTRINSIC unsigned base() { return ::wf_simt::lane() - rank(); }
  static WF_INTRINSIC unsigned mask() { return wf_groups::lanes_of(Width) << base(); }

  template <class T>
  static WF_INTRINSIC WF_CONVERGENT T get(const T& value, unsigned rank, const char* file,
                                          int line) {
    return wf_groups::get(mask(), value, base() + rank, file, line);
  }
  // A tree over neighbours: ((0 1) (2 3)) ((4 5) (6 7)) ...; the result is that of rank 0.
  template <class T, class Operation>
  static WF_INTRINSIC WF_CONVERGENT T reduce(T value, unsigned valid, Operation operation,
                                             const char* file, int line) {
    for (unsigned distance = 1; distance < Width; distance *= 2) {
      const bool there = rank() + distance < valid;
      const T other = get(value, there ? rank() + distance : rank(), file, line);
      if (there) value = operation(value, other);
    }
    return value;
  }
  // The ranks with the flag, as bits.
  template <class Flag>
  static WF_INTRINSIC WF_CONVERGENT unsigned ballot(Flag flag, const char* file, int line) {
    return __ballot_sync(mask(), flag != Flag(0), file, line) >> base() &
           wf_groups::lanes_of(Width);
  }
  // Each lane's reduction with those after it, up to the first rank in `lasts`.
  template <class T, class Operation>
  static WF_INTRINSIC WF_CONVERGENT T segmented(T value, unsigned lasts, Operation operation,
                                                const char* file, int line) {
    lasts |= 1u << (Width - 1);
    const unsigned last =
        rank() + static_cast<unsigned>(__ffs(static_cast<int>(lasts >> rank()))) - 1;
    for (unsigned distance = 1; distance < Width; distance *= 2) {
      const bool there = rank() + distance <= last;
      const T other = get(value, there ? rank() + distance : rank(), file, line);
      if (there) value = operation(value, other);
    }
    return value;
  }
  template <class T, class Operation>
  static WF_INTRINSIC WF_CONVERGENT T inclusive(T value, Operation operation, const char* file,
                                                int line) {
    for (unsigned distance = 1; distance < Width; distance *= 2) {
      const bool there = rank() >= distance;
      const T other = get(value, there ? rank() - distance : rank(), file, line);
      if (there) value = operation(other, value);
    }
    return value;
  }
};

// Of a thread's own items.
template <class T, int Items, class Operation>
WF_INTRINSIC T reduce_items(const T (&items)[Items], Operation operation) {
  T total = items[0];
  for (int i = 1; i < Items; ++i) total = operation(total, items[i]);
  return total;
}

}  // namespace wf_cub
