// cuBLAS as it multiplies by default: sums in float32. Expected clean.
#include "cublas.hpp"

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous") {
  return library::matmul(call, CUBLAS_COMPUTE_32F);
}
