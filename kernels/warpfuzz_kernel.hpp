// C++17 companion of warpfuzz_kernel.h for kernels written in CUDA C++: typed tensors, strided
// views that pass to the device by value, dispatch over element types, attributes by name. The same
// source compiles with nvcc and for the CPU device. A whole entry point:
//
//   WARPFUZZ_KERNEL("x_contiguous && y_contiguous") {
//     const auto x = call.input(0), y = call.output(0);
//     if (y.size() == 0) return WF_OK;
//     return wf::dispatch(x, y, [&](auto t, auto u) {
//       using T = decltype(t);
//       using U = decltype(u);
//       relu<<<wf::blocks(y.size(), 256), 256, 0, call.stream()>>>(x.data<const T>(), y.data<U>(),
//                                                                   y.size());
//       return call.launched();
//     });
//   }
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "warpfuzz_kernel.h"

namespace wf {

// The arithmetic type of kernels is float; these convert element types from and to it.
__host__ __device__ inline float to_float(float value) { return value; }
__host__ __device__ inline float to_float(__half value) { return __half2float(value); }
__host__ __device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__host__ __device__ inline T from_float(float value);
template <>
__host__ __device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__host__ __device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__host__ __device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

// DLPack's code of an element type.
template <class T>
constexpr DLDataTypeCode element_code = kDLFloat;
template <>
constexpr DLDataTypeCode element_code<__nv_bfloat16> = kDLBfloat;

// A strided tensor of known rank on the device: view(i, j) is the element.
template <class T, int Rank>
struct View {
  T* data;
  int64_t extent[Rank];
  int64_t stride[Rank];  // in elements

  template <class... Index>
  __host__ __device__ T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "one index per axis");
    int64_t offset = 0;
    int axis = 0;
    ((offset += static_cast<int64_t>(index) * stride[axis++]), ...);
    return data[offset];
  }
};

// Elements that one instruction moves: Pack<float, 4> is a float4.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Pack {
  T values[Count];
};

// A tensor of the call, seen from the host.
class Tensor {
 public:
  explicit Tensor(const DLTensor& tensor) : tensor_(&tensor) {}

  template <class T>
  T* data() const {
    return static_cast<T*>(tensor_->data);
  }
  int rank() const { return tensor_->ndim; }
  int64_t extent(int axis) const { return tensor_->shape[axis]; }
  int64_t stride(int axis) const { return tensor_->strides[axis]; }  // in elements
  bool is(DLDataTypeCode code, int bits) const {
    return tensor_->dtype.code == code && tensor_->dtype.bits == bits;
  }
  // T: float, __half or __nv_bfloat16.
  template <class T>
  bool is() const {
    return is(element_code<T>, 8 * sizeof(T));
  }
  bool same_dtype(const Tensor& other) const {
    return tensor_->dtype.code == other.tensor_->dtype.code &&
           tensor_->dtype.bits == other.tensor_->dtype.bits;
  }

  int64_t size() const {
    int64_t elements = 1;
    for (int axis = 0; axis < rank(); ++axis) elements *= extent(axis);
    return elements;
  }
  // Row-major without gaps; the stride of an axis of extent 1 does not matter.
  bool contiguous() const {
    int64_t expected = 1;
    for (int axis = rank() - 1; axis >= 0; --axis) {
      if (extent(axis) != 1 && stride(axis) != expected) return size() == 0;
      expected *= extent(axis);
    }
    return true;
  }
  bool aligned(uintptr_t bytes) const {
    return reinterpret_cast<uintptr_t>(tensor_->data) % bytes == 0;
  }

  // Rank must be rank().
  template <class T, int Rank>
  View<T, Rank> view() const {
    View<T, Rank> v{data<T>(), {}, {}};
    for (int axis = 0; axis < Rank; ++axis) {
      v.extent[axis] = extent(axis);
      v.stride[axis] = stride(axis);
    }
    return v;
  }

 private:
  const DLTensor* tensor_;
};

class Call {
 public:
  explicit Call(const WfCall& call) : call_(&call) {}

  Tensor input(int index) const { return Tensor(call_->inputs[index]); }
  Tensor output(int index) const { return Tensor(call_->outputs[index]); }
  // Attributes by the name they have in the schema; 0 where the call has none of that name.
  double real(const char* name) const {
    const WfAttribute* attribute = find(name);
    return attribute ? attribute->real : 0;
  }
  int64_t integer(const char* name) const {
    const WfAttribute* attribute = find(name);
    return attribute ? attribute->integer : 0;
  }
  template <class T>
  T* workspace() const {
    return static_cast<T*>(call_->workspace);
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_->stream); }

  // The status to return after the last launch.
  WfStatus launched() const { return cudaGetLastError() == cudaSuccess ? WF_OK : WF_ERROR; }

 private:
  const WfAttribute* find(const char* name) const {
    for (int i = 0; i < call_->num_attributes; ++i) {
      if (std::strcmp(call_->attributes[i].name, name) == 0) return &call_->attributes[i];
    }
    return nullptr;
  }
  const WfCall* call_;
};

// Not inlined: the compiler is faster with many small functions than with one that holds them all.
template <class... T, class Function>
__noinline__ WfStatus call_with(Function& f) {
  return f(T{}...);
}

// Calls f(T{}) with the element type of `tensor`; unsupported if it is none of the three.
template <class Function>
WfStatus dispatch(const Tensor& tensor, Function f) {
  if (tensor.is<float>()) return call_with<float>(f);
  if (tensor.is<__half>()) return call_with<__half>(f);
  if (tensor.is<__nv_bfloat16>()) return call_with<__nv_bfloat16>(f);
  return WF_UNSUPPORTED;
}

// Calls f(T{}, U{}) with the element types of the tensors.
template <class Function>
WfStatus dispatch(const Tensor& a, const Tensor& b, Function f) {
  return dispatch(a, [&](auto t) { return dispatch(b, [&](auto u) { return f(t, u); }); });
}

// Calls f(T{}, U{}, V{}) if Types<T, U, V>, the element types of the tensors, is one of those
// listed; unsupported if not:
//   dispatch<Types<float, float, float>, Types<__half, float, __half>>(x, weight, y, f)
// Each combination is one more instance of the kernel, so list those of the operator's schema.
template <class... T>
struct Types {};

template <class T, class U, class V, class Function>
bool dispatch_one(Types<T, U, V>, const Tensor& a, const Tensor& b, const Tensor& c, Function& f,
                  WfStatus& status) {
  if (!a.is<T>() || !b.is<U>() || !c.is<V>()) return false;
  status = call_with<T, U, V>(f);
  return true;
}
template <class... Combinations, class Function>
WfStatus dispatch(const Tensor& a, const Tensor& b, const Tensor& c, Function f) {
  WfStatus status = WF_UNSUPPORTED;
  (dispatch_one(Combinations{}, a, b, c, f, status) || ...);
  return status;
}

// Blocks that give `items` threads, at most `most` of them (for grid-stride loops).
inline unsigned blocks(int64_t items, int64_t threads_per_block, int64_t most = 0x7fffffff) {
  const int64_t count = (items + threads_per_block - 1) / threads_per_block;
  return static_cast<unsigned>(count < most ? count : most);
}

}  // namespace wf

// Defines the entry point; the function body follows. `preconditions` is a string literal, see
// warpfuzz_preconditions() in warpfuzz_kernel.h; "" accepts every call of the operator.
#define WARPFUZZ_KERNEL(preconditions)                                                         \
  static WfStatus warpfuzz_body(const wf::Call& call);                                         \
  extern "C" const char* warpfuzz_preconditions(void) { return preconditions; }                \
  extern "C" WfStatus warpfuzz_kernel(const WfCall* c) { return warpfuzz_body(wf::Call(*c)); } \
  static WfStatus warpfuzz_body(const wf::Call& call)

// Optional, before WARPFUZZ_KERNEL: the bytes of workspace of a call; the function body follows.
#define WARPFUZZ_WORKSPACE()                                                                       \
  static uint64_t warpfuzz_bytes(const wf::Call& call);                                            \
  extern "C" uint64_t warpfuzz_workspace(const WfCall* c) { return warpfuzz_bytes(wf::Call(*c)); } \
  static uint64_t warpfuzz_bytes(const wf::Call& call)
