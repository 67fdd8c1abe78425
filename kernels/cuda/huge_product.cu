// Judges every element of a matrix product that is too large to travel: sums over its addends in
// double, and the verdict of reference/product_rule.h on the element observed. A kernel like any
// other for the interface of warpfuzz_kernel.h; compiled as huge_tensors.cu is, and for the same
// reason. The attribute `task` is a ProductTask (huge_product_task.h), which says the rest.
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/huge_product_task.h"
#include "warpfuzz_kernel.hpp"

namespace huge = warpfuzz::huge;
using warpfuzz::ProductExpectation;
using warpfuzz::ProductRule;
using warpfuzz::ProductSums;
using Counter = unsigned long long;

// A block takes a tile of the product, in steps along the addends; a thread takes elements of it
// that lie threads_down and threads_across apart.
constexpr int threads_down = 16, threads_across = 16;
constexpr int rows_each = 4, columns_each = 2;
constexpr int tile_rows = threads_down * rows_each, tile_columns = threads_across * columns_each;
constexpr int depth = 16;
constexpr int threads = threads_down * threads_across;
constexpr int64_t most_blocks = 132 * 16;

template <class T>
__device__ double widen(T x) {
  return static_cast<double>(wf::to_float(x));
}

__device__ inline ProductRule rule_of(const double* words) {
  ProductRule rule;
  std::memcpy(static_cast<void*>(&rule), words, sizeof rule);
  return rule;
}

__device__ inline ProductExpectation expected(const ProductRule& rule, const ProductSums& sums) {
  const warpfuzz::ErrorTerms terms = rule.terms(sums);
  return rule.expectation(sums, terms, std::sqrt(terms.var));
}

// What is done with the sums of an element.
template <class U>
struct Judge {
  const U* observed;
  huge::RowTally* tallies;
  __device__ void operator()(const ProductRule& rule, int64_t row, int64_t column, int64_t columns,
                             const ProductSums& sums) const {
    const double y = widen(observed[row * columns + column]);
    const warpfuzz::Decision decision = rule.decide(expected(rule, sums), y);
    if (decision == warpfuzz::Decision::outside) atomicAdd(&tallies[row].outside, 1u);
    if (decision == warpfuzz::Decision::open) atomicAdd(&tallies[row].open, 1u);
  }
};
struct Expect {
  double* elements;
  __device__ void operator()(const ProductRule& rule, int64_t row, int64_t column, int64_t columns,
                             const ProductSums& sums) const {
    const ProductExpectation x = expected(rule, sums);
    double* const element = elements + (row * columns + column) * huge::expectation_words;
    element[0] = x.value;
    element[1] = x.error;
    element[2] = x.tolerance;
    element[3] = huge::pack_classes(x.always, x.possibly);
  }
};

template <class T>
struct Operands {
  const T* a;
  const T* b;
  int64_t rows, depth, columns;
  const int64_t* chosen;  // rows of a; null: all
};

template <class T, class Sink>
__global__ void multiply(Operands<T> x, const double* rule_words, Sink sink) {
  __shared__ double left[depth][tile_rows + 1];
  __shared__ double right[depth][tile_columns];
  const int thread = static_cast<int>(threadIdx.x);
  const int down = thread / threads_across, across = thread % threads_across;
  const ProductRule rule = rule_of(rule_words);
  const int64_t tiles_across = (x.columns + tile_columns - 1) / tile_columns;
  const int64_t tiles = (x.rows + tile_rows - 1) / tile_rows * tiles_across;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t top = tile / tiles_across * tile_rows;
    const int64_t first = tile % tiles_across * tile_columns;
    ProductSums sums[rows_each][columns_each] = {};
    for (int64_t begin = 0; begin < x.depth; begin += depth) {
      for (int i = thread; i < tile_rows * depth; i += threads) {
        const int64_t row = top + i / depth, k = begin + i % depth;
        double value = 0;
        if (row < x.rows && k < x.depth) {
          value = widen(x.a[(x.chosen != nullptr ? x.chosen[row] : row) * x.depth + k]);
        }
        left[i % depth][i / depth] = value;
      }
      for (int i = thread; i < tile_columns * depth; i += threads) {
        const int64_t k = begin + i / tile_columns, column = first + i % tile_columns;
        const bool inside = k < x.depth && column < x.columns;
        right[i / tile_columns][i % tile_columns] = inside ? widen(x.b[k * x.columns + column]) : 0;
      }
      __syncthreads();
#pragma unroll 4
      for (int k = 0; k < depth; ++k) {
        for (int i = 0; i < rows_each; ++i) {
          for (int j = 0; j < columns_each; ++j) {
            const double a = left[k][down + i * threads_down];
            const double b = right[k][across + j * threads_across];
            sums[i][j].add(a, b);
            if constexpr (std::is_same_v<T, __half>) {
              sums[i][j].alignment.add(a, b, a * b, rule.normal);
            }
          }
        }
      }
      __syncthreads();
    }
    for (int i = 0; i < rows_each; ++i) {
      for (int j = 0; j < columns_each; ++j) {
        const int64_t row = top + down + i * threads_down;
        const int64_t column = first + across + j * threads_across;
        if (row < x.rows && column < x.columns) sink(rule, row, column, x.columns, sums[i][j]);
      }
    }
  }
}

template <class T>
__global__ void find_magnitudes(const T* x, int64_t size, Counter* result) {
  Counter smallest = ~Counter{0}, largest = 0, special = 0;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const double value = widen(x[i]);
    if (warpfuzz::class_of(value) != warpfuzz::class_finite) {
      ++special;
      continue;
    }
    const Counter magnitude =
        std::bit_cast<Counter>(warpfuzz::magnitude_of(value));  // ordered as the values are
    if (magnitude > largest) largest = magnitude;
    if (magnitude != 0 && magnitude < smallest) smallest = magnitude;
  }
  atomicMin(&result[0], smallest);
  atomicMax(&result[1], largest);
  if (special != 0) atomicAdd(&result[2], special);
}

__global__ void clear(Counter* words, int64_t count, Counter first) {
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    words[i] = i == 0 ? first : 0;
  }
}

WfStatus magnitudes(const wf::Call& call) {
  const auto x = call.input(0);
  Counter* const result = call.output(0).data<Counter>();
  clear<<<1, 32, 0, call.stream()>>>(result, 3, std::bit_cast<Counter>(HUGE_VAL));
  return wf::dispatch(x, [&](auto t) {
    using T = decltype(t);
    find_magnitudes<T><<<wf::blocks(x.size(), threads, most_blocks), threads, 0, call.stream()>>>(
        x.data<const T>(), x.size(), result);
    return call.launched();
  });
}

template <class T, class Sink>
WfStatus launch(const wf::Call& call, int64_t rows, const int64_t* chosen, Sink sink) {
  const auto a = call.input(0), b = call.input(1);
  const Operands<T> x{a.data<const T>(), b.data<const T>(), rows, b.extent(0), b.extent(1), chosen};
  const int64_t down = (rows + tile_rows - 1) / tile_rows;
  const int64_t across = (x.columns + tile_columns - 1) / tile_columns;
  multiply<T, Sink><<<wf::blocks(down * across, 1, most_blocks), threads, 0, call.stream()>>>(
      x, call.input(3).data<const double>(), sink);
  return call.launched();
}

WfStatus judge(const wf::Call& call) {
  const auto a = call.input(0), c = call.input(2);
  auto* const tallies = call.output(0).data<huge::RowTally>();
  const int64_t rows = a.extent(0);
  clear<<<wf::blocks(rows, threads, most_blocks), threads, 0, call.stream()>>>(
      call.output(0).data<Counter>(), rows, 0);
  return wf::dispatch(a, c, [&](auto t, auto u) {
    using U = decltype(u);
    return launch<decltype(t)>(call, rows, nullptr, Judge<U>{c.data<const U>(), tallies});
  });
}

WfStatus expect(const wf::Call& call) {
  const auto chosen = call.input(4);
  return wf::dispatch(call.input(0), [&](auto t) {
    return launch<decltype(t)>(call, chosen.size(), chosen.data<const int64_t>(),
                               Expect{call.output(0).data<double>()});
  });
}

WARPFUZZ_KERNEL("") {
  switch (static_cast<huge::ProductTask>(call.integer("task"))) {
    case huge::ProductTask::magnitudes:
      return magnitudes(call);
    case huge::ProductTask::judge:
      return judge(call);
    case huge::ProductTask::expect:
      return expect(call);
  }
  return WF_ERROR;
}
