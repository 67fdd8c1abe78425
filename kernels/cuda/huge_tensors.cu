// Work on tensors that are too large to travel: fills one by a value law, or counts elements. A
// kernel like any other for the interface of warpfuzz_kernel.h, so that it is built, loaded and
// tested as they are. Attributes: task (huge_elements.h), and law, seed, lowest, largest, dtype of
// RandomLaw and Encoding. Counting writes count_words numbers to output 0. Needs C++20, constexpr
// functions in device code, and no fused arithmetic: huge_tensors.cc has the flags.
#include "kernels/cuda/huge_elements.h"
#include "warpfuzz_kernel.hpp"

namespace huge = warpfuzz::huge;
using Counter = unsigned long long;

__device__ inline uint64_t first_index() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline uint64_t index_step() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

template <class Word>
__global__ void fill(Word* y, uint64_t size, huge::Elements elements) {
  for (uint64_t i = first_index(); i < size; i += index_step()) {
    y[i] = static_cast<Word>(elements(i));
  }
}

__global__ void clear(Counter* result) {
  result[0] = 0;
  result[1] = ~Counter{0};
  result[2] = 0;
}

template <class Word, class Counted>
__global__ void count(const Word* x, uint64_t size, Counted counted, Counter* result) {
  Counter found = 0, lowest = ~Counter{0}, sum = 0;
  for (uint64_t i = first_index(); i < size; i += index_step()) {
    if (!counted(i, x[i])) continue;
    if (found == 0) lowest = i;
    ++found;
    sum += huge::index_hash(i);
  }
  if (found == 0) return;
  atomicAdd(&result[0], found);
  atomicMin(&result[1], lowest);
  atomicAdd(&result[2], sum);
}

template <class Word>
__global__ void replace(Word* y, uint64_t size, Word from, Word to) {
  for (uint64_t i = first_index(); i < size; i += index_step()) {
    if (y[i] == from) y[i] = to;
  }
}

constexpr int threads = 256;
constexpr int64_t most_blocks = 132 * 16;  // all that a large GPU runs at once

unsigned blocks(const wf::Tensor& tensor) {
  return wf::blocks(tensor.size(), threads, most_blocks);
}

huge::Elements elements_of(const wf::Call& call) {
  return {warpfuzz::RandomLaw(static_cast<warpfuzz::ValueLaw>(call.integer("law")),
                              static_cast<uint64_t>(call.integer("seed")),
                              static_cast<int>(call.integer("lowest")), call.real("largest")),
          warpfuzz::encodings[call.integer("dtype")]};
}

template <class Word>
WfStatus run(const wf::Call& call) {
  const auto task = static_cast<huge::Task>(call.integer("task"));
  const auto size = [](const wf::Tensor& t) { return static_cast<uint64_t>(t.size()); };
  if (task == huge::Task::fill) {
    const auto y = call.output(0);
    fill<Word>
        <<<blocks(y), threads, 0, call.stream()>>>(y.data<Word>(), size(y), elements_of(call));
    return call.launched();
  }
  constexpr auto ones = static_cast<Word>(~uint64_t{0}), marked = static_cast<Word>(huge::mark);
  if (task == huge::Task::mark_all_ones) {
    const auto y = call.output(0);
    replace<Word><<<blocks(y), threads, 0, call.stream()>>>(y.data<Word>(), size(y), ones, marked);
    return call.launched();
  }
  const auto x = call.input(0);
  Counter* const result = call.output(0).data<Counter>();
  clear<<<1, 1, 0, call.stream()>>>(result);
  if (task == huge::Task::count_other) {
    count<Word, huge::Differs><<<blocks(x), threads, 0, call.stream()>>>(
        x.data<const Word>(), size(x), huge::Differs{elements_of(call)}, result);
  } else {
    const Word wanted = task == huge::Task::count_marks ? marked : ones;
    count<Word, huge::Equals><<<blocks(x), threads, 0, call.stream()>>>(
        x.data<const Word>(), size(x), huge::Equals{wanted}, result);
  }
  return call.launched();
}

WARPFUZZ_KERNEL("") {
  const auto dtype = call.integer("dtype");
  if (dtype < 0 || dtype >= static_cast<int64_t>(std::size(warpfuzz::encodings))) return WF_ERROR;
  switch (warpfuzz::encodings[dtype].bytes) {
    case 1:
      return run<uint8_t>(call);
    case 2:
      return run<uint16_t>(call);
    case 4:
      return run<uint32_t>(call);
    default:
      return run<uint64_t>(call);
  }
}
