// Warp matrix functions (nvcuda::wmma) for the CPU device: half, bfloat16, tf32, int8, uint8 and
// double in all shapes that CUDA has for them.
//
// Numbers. Every product is exact. An element of the result is c, then for k = 0, 1, ... one fused
// multiply-add in the arithmetic of the accumulator (float for half, bfloat16 and tf32; a half
// accumulator is rounded once, at the end). A GPU adds in another order and truncates, which its
// manual leaves open: results agree within the rounding of one dot product, and exactly where all
// sums are exact. int32 sums wrap, or saturate with `satf` at the end. tf32 uses the upper 19 bits.
//
// Fragments. Each element belongs to one lane; which one is not specified. Matrices of half have
// copies, for num_elements to be what it is on a GPU.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

}  // namespace wmma
}  // namespace nvcuda

namespace wf_wmma {

using namespace nvcuda::wmma;

// How an element type is stored and computed with.
template <class T>
struct Element {
  using Storage = T;
  static WF_INTRINSIC T value(T v) { return v; }
};
template <>
struct Element<__half> {
  using Storage = __half;
  static WF_INTRINSIC float value(__half v) { return v.wf_value(); }
};
template <>
struct Element<__nv_bfloat16> {
  using Storage = __nv_bfloat16;
  static WF_INTRINSIC float value(__nv_bfloat16 v) { return v.wf_value(); }
};
template <>
struct Element<precision::tf32> {
  using Storage = float;
  static WF_INTRINSIC float value(float v) {
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, v) & 0xffffe000u);
  }
};

// What CUDA has: <M, N, K>, the type of the matrices, that of the accumulator.
template <int M, int N, int K, class T>
inline constexpr bool has_shape = false;
template <>
inline constexpr bool has_shape<16, 16, 8, precision::tf32> = true;
template <>
inline constexpr bool has_shape<8, 8, 4, double> = true;
#define WF_SHAPES(type)                                     \
  template <>                                               \
  inline constexpr bool has_shape<16, 16, 16, type> = true; \
  template <>                                               \
  inline constexpr bool has_shape<32, 8, 16, type> = true;  \
  template <>                                               \
  inline constexpr bool has_shape<8, 32, 16, type> = true;
WF_SHAPES(__half)
WF_SHAPES(__nv_bfloat16)
WF_SHAPES(signed char)
WF_SHAPES(unsigned char)
#undef WF_SHAPES

// Of the matrices' type and the two accumulators'.
template <class T, class D, class C>
inline constexpr bool accumulates = __is_same(D, float) && __is_same(C, float);
template <class D, class C>
inline constexpr bool accumulates<__half, D, C> =
    (__is_same(D, float) || __is_same(D, __half)) && (__is_same(C, float) || __is_same(C, __half));
template <class D, class C>
inline constexpr bool accumulates<double, D, C> = __is_same(D, double) && __is_same(C, double);
template <class D, class C>
inline constexpr bool accumulates<signed char, D, C> = __is_same(D, int) && __is_same(C, int);
template <class D, class C>
inline constexpr bool accumulates<unsigned char, D, C> = __is_same(D, int) && __is_same(C, int);

// Rows and columns of what a fragment holds.
template <class Use, int M, int N, int K>
struct Extent;
template <int M, int N, int K>
struct Extent<matrix_a, M, N, K> {
  static constexpr unsigned rows = M, columns = K;
};
template <int M, int N, int K>
struct Extent<matrix_b, M, N, K> {
  static constexpr unsigned rows = K, columns = N;
};
template <int M, int N, int K>
struct Extent<accumulator, M, N, K> {
  static constexpr unsigned rows = M, columns = N;
};

// Where each lane of a warp has its fragments while it takes part in mma_sync. Lanes read one
// another's: all threads of a block share their memory on the CPU device.
struct Operands {
  const void *a, *b, *c;
};
inline WF_HIDDEN Operands operands[32][32];

}  // namespace wf_wmma

namespace nvcuda {
namespace wmma {

template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
  using Extent = wf_wmma::Extent<Use, M, N, K>;
  static constexpr unsigned held = Extent::rows * Extent::columns / 32;
  static constexpr bool is_accumulator = __is_same(Use, accumulator);
  static_assert(is_accumulator || wf_wmma::has_shape<M, N, K, T>,
                "no such shape of wmma for this element type");
  static_assert(is_accumulator || !__is_same(Layout, void), "a matrix has a layout");

 public:
  using element_type = T;
  using storage_element_type = typename wf_wmma::Element<T>::Storage;
  static constexpr unsigned num_elements = !is_accumulator && __is_same(T, __half) ? 16 : held;
  static constexpr unsigned num_storage_elements = num_elements;
  storage_element_type x[num_elements];

  // For these headers only: the lane that holds an element, and where.
  static constexpr unsigned wf_rows = Extent::rows, wf_columns = Extent::columns, wf_held = held;
};

template <class Fragment, class Value>
WF_INTRINSIC void fill_fragment(Fragment& f, const Value& value) {
  for (auto& element : f.x) element = static_cast<typename Fragment::storage_element_type>(value);
}

// Rounds to the 19 bits of tf32, ties away from zero.
WF_INTRINSIC float __float_to_tf32(float v) {
  const unsigned bits = __builtin_bit_cast(unsigned, v);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return __builtin_bit_cast(float, (finite ? bits + 0x1000u : bits) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace nvcuda

namespace wf_wmma {

// Calls f(index in x, offset in memory) for each element of the lane, `leading` elements apart.
template <class Fragment, class Function>
WF_INTRINSIC void for_each(bool by_rows, unsigned leading, Function f) {
  const unsigned lane = ::wf_simt::lane();
  for (unsigned i = 0; i < Fragment::num_elements; ++i) {
    const unsigned element = lane * Fragment::wf_held + i % Fragment::wf_held;
    const unsigned row = element / Fragment::wf_columns, column = element % Fragment::wf_columns;
    f(i, by_rows ? size_t{row} * leading + column : size_t{column} * leading + row);
  }
}

template <class Fragment, class T>
WF_INTRINSIC void check_matrix(bool by_rows, const T* matrix, unsigned leading, const char* file,
                               int line) {
  const size_t bytes = sizeof(T) * (by_rows ? Fragment::wf_columns : Fragment::wf_rows);
  ::wf_simt::check_alignment(matrix, bytes < 32 ? bytes : 32, leading * sizeof(T), 16, file, line);
}

template <class Fragment>
WF_INTRINSIC auto at(const Operands* lanes, const void* Operands::* which, unsigned row,
                     unsigned column) {
  const unsigned element = row * Fragment::wf_columns + column;
  const auto* f = static_cast<const Fragment*>(lanes[element / Fragment::wf_held].*which);
  return Element<typename Fragment::element_type>::value(f->x[element % Fragment::wf_held]);
}

WF_INTRINSIC float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WF_INTRINSIC double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
WF_INTRINSIC long long fused(int a, int b, long long c) {
  return c + static_cast<long long>(a) * b;
}

template <class Accumulator>
struct Sum {
  using Type = Accumulator;
};
template <>
struct Sum<__half> {
  using Type = float;
};
template <>
struct Sum<int> {
  using Type = long long;
};

WF_INTRINSIC void finish(float& to, float sum, bool) { to = sum; }
WF_INTRINSIC void finish(double& to, double sum, bool) { to = sum; }
WF_INTRINSIC void finish(__half& to, float sum, bool saturate) {
  const __half largest = __half::wf_from_bits(sum < 0 ? 0xfbff : 0x7bff);
  to = __half::wf_from(sum);
  if (saturate && __hisinf(to) != 0) to = largest;
}
WF_INTRINSIC void finish(int& to, long long sum, bool saturate) {
  if (saturate) sum = sum > 2147483647 ? 2147483647 : sum < -2147483648 ? -2147483648 : sum;
  to = static_cast<int>(static_cast<unsigned long long>(sum));
}

}  // namespace wf_wmma

namespace nvcuda {
namespace wmma {

// The pointer is aligned to 32 bytes (16 where the fragment's lines are that short), and `leading`
// a multiple of 16 bytes.
template <class Use, int M, int N, int K, class T, class Layout, class Memory>
WF_INTRINSIC WF_CONVERGENT void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f,
                                                 const Memory* from, unsigned leading, WF_HERE) {
  static_assert(sizeof(Memory) == sizeof(f.x[0]), "the type in memory is that of the fragment");
  wf_wmma::check_matrix<fragment<Use, M, N, K, T, Layout>>(__is_same(Layout, row_major), from,
                                                           leading, wf_file, wf_line);
  wf_wmma::for_each<fragment<Use, M, N, K, T, Layout>>(
      __is_same(Layout, row_major), leading,
      [&](unsigned i, size_t offset)
          __attribute__((always_inline, nodebug)) { f.x[i] = from[offset]; });
  __syncwarp(0xffffffffu, wf_file, wf_line);
}
template <int M, int N, int K, class T>
WF_INTRINSIC WF_CONVERGENT void load_matrix_sync(fragment<accumulator, M, N, K, T>& f,
                                                 const T* from, unsigned leading, layout_t layout,
                                                 WF_HERE) {
  wf_wmma::check_matrix<fragment<accumulator, M, N, K, T>>(layout == mem_row_major, from, leading,
                                                           wf_file, wf_line);
  wf_wmma::for_each<fragment<accumulator, M, N, K, T>>(
      layout == mem_row_major, leading,
      [&](unsigned i, size_t offset)
          __attribute__((always_inline, nodebug)) { f.x[i] = from[offset]; });
  __syncwarp(0xffffffffu, wf_file, wf_line);
}
template <int M, int N, int K, class T>
WF_INTRINSIC WF_CONVERGENT void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& f,
                                                  unsigned leading, layout_t layout, WF_HERE) {
  wf_wmma::check_matrix<fragment<accumulator, M, N, K, T>>(layout == mem_row_major, to, leading,
                                                           wf_file, wf_line);
  wf_wmma::for_each<fragment<accumulator, M, N, K, T>>(
      layout == mem_row_major, leading,
      [&](unsigned i, size_t offset)
          __attribute__((always_inline, nodebug)) { to[offset] = f.x[i]; });
  __syncwarp(0xffffffffu, wf_file, wf_line);
}

template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
WF_CONVERGENT WF_NO_INSTRUMENT inline void mma_sync(
    fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
    const fragment<matrix_b, M, N, K, T, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
    bool satf = false, WF_HERE) {
  static_assert(wf_wmma::accumulates<T, D, C>, "wmma has no such accumulators for this type");
  using A = fragment<matrix_a, M, N, K, T, LayoutA>;
  using B = fragment<matrix_b, M, N, K, T, LayoutB>;
  wf_wmma::Operands(&lanes)[32] = wf_wmma::operands[::wf_simt::warp()];
  const unsigned lane = ::wf_simt::lane();
  lanes[lane] = {a.x, b.x, c.x};
  // A lane that is gone has left nothing here: the shuffle names it.
  __syncwarp(0xffffffffu, wf_file, wf_line);
  for (int other = 0; other < 32; ++other) {
    if (lanes[other].a == nullptr) __shfl_sync(0xffffffffu, 0, other, 32, wf_file, wf_line);
    if (lanes[other].a == nullptr) return;
  }
  typename wf_wmma::Element<D>::Storage result[fragment<accumulator, M, N, K, D>::wf_held];
  for (unsigned i = 0; i < d.wf_held; ++i) {
    const unsigned element = lane * d.wf_held + i;
    typename wf_wmma::Sum<D>::Type sum = wf_wmma::Element<C>::value(c.x[i]);
    for (unsigned k = 0; k < K; ++k) {
      sum = wf_wmma::fused(wf_wmma::at<A>(lanes, &wf_wmma::Operands::a, element / N, k),
                           wf_wmma::at<B>(lanes, &wf_wmma::Operands::b, k, element % N), sum);
    }
    wf_wmma::finish(result[i], sum, satf);
  }
  __syncwarp(0xffffffffu, wf_file, wf_line);  // d may be a matrix that others still read
  lanes[lane] = {};
  for (unsigned i = 0; i < d.wf_held; ++i) d.x[i] = result[i];
}

}  // namespace wmma
}  // namespace nvcuda
