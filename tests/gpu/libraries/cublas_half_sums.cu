// cuBLAS summing in float16: narrower than the accumulator that the contract of matmul declares.
#include "cublas.hpp"

WARPFUZZ_KERNEL("T == float16 && U == float16 && a_contiguous && b_contiguous && c_contiguous") {
  return library::matmul(call, CUBLAS_COMPUTE_16F, CUBLAS_DEFAULT_MATH);
}
