// cuBLAS allowed to cut float32 inputs to TF32: not what the contract of matmul grants.
#include "cublas.hpp"

WARPFUZZ_KERNEL("T == float32 && U == float32 && a_contiguous && b_contiguous && c_contiguous") {
  return library::matmul(call, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_DEFAULT_MATH);
}
