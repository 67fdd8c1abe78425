// The kernels of simt_benchmark_kernels.cu: values of the attribute `kernel`.
#pragma once

enum BenchmarkKernel {
  benchmark_add,            // n = 1000, 256 threads, no barrier
  benchmark_softmax_256,    // 4 x 1025, 256 threads: 20,400 switches
  benchmark_softmax_32,     // 4 x 1025, 32 threads
  benchmark_softmax_small,  // 1 x 17, 32 threads
  benchmark_matmul,         // 65 x 63 x 129, tile 16
  benchmark_layernorm,      // 3 x 771, 128 threads
  benchmark_shuffle,        // 1024 threads, 20 shuffles each
};
