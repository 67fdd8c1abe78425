// A matrix product by cuBLAS as a kernel: row-major c = a b is column-major c' = b' a'.
#pragma once

#include <cublas_v2.h>

#include "warpfuzz_kernel.hpp"

namespace library {

inline cudaDataType_t type_of(const wf::Tensor& tensor) {
  if (tensor.is<float>()) return CUDA_R_32F;
  return tensor.is<__half>() ? CUDA_R_16F : CUDA_R_16BF;
}

inline WfStatus matmul(const wf::Call& call, cublasComputeType_t compute, cublasMath_t mode) {
  static const cublasHandle_t handle = [mode] {
    cublasHandle_t created = nullptr;
    const bool ready = cublasCreate(&created) == CUBLAS_STATUS_SUCCESS &&
                       cublasSetMathMode(created, mode) == CUBLAS_STATUS_SUCCESS;
    return ready ? created : nullptr;
  }();
  const auto a = call.input(0), b = call.input(1), c = call.output(0);
  if (c.size() == 0) return WF_OK;
  const auto m = static_cast<int>(a.extent(0)), k = static_cast<int>(a.extent(1));
  const auto n = static_cast<int>(b.extent(1));
  if (handle == nullptr || cublasSetStream(handle, call.stream()) != CUBLAS_STATUS_SUCCESS) {
    return WF_ERROR;
  }
  // The scale has the type of the computation.
  const float one = 1, zero = 0;
  const __half half_one = __float2half(1), half_zero = __float2half(0);
  const bool half = compute == CUBLAS_COMPUTE_16F;
  const cublasStatus_t status = cublasGemmEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, half ? static_cast<const void*>(&half_one) : &one,
      b.data<const void>(), type_of(b), n, a.data<const void>(), type_of(a), k > 0 ? k : 1,
      half ? static_cast<const void*>(&half_zero) : &zero, c.data<void>(), type_of(c), n, compute,
      CUBLAS_GEMM_DEFAULT);
  return status == CUBLAS_STATUS_SUCCESS ? WF_OK : WF_ERROR;
}

}  // namespace library
