// cuBLAS summing in float32 throughout, as PyTorch has it unless told otherwise. Expected clean.
#include "cublas.hpp"

WARPFUZZ_KERNEL("a_contiguous && b_contiguous && c_contiguous") {
  return library::matmul(
      call, CUBLAS_COMPUTE_32F,
      static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
}
