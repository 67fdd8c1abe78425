// Memory functions of the host API. Device memory is host memory; copies and fills check the ranges
// they touch, as kernels do.
#pragma once

#include "driver_types.h"

extern "C" {
int wf_set_error(int error, const char* text);
void* wf_allocate(size_t bytes);  // filled with 0xFF; nullptr beyond 1 GiB in all
bool wf_free(void* memory);       // false if it is not from wf_allocate
void wf_copy(void* to, const void* from, size_t bytes);
void wf_fill(void* to, int value, size_t bytes);
void wf_memory_info(size_t* free_bytes, size_t* total_bytes);
}

namespace wf_simt {

inline cudaError_t fail(cudaError_t error) {
  const char* text = "";
  switch (error) {
#define WF_ERROR_TEXT(name, value, message) \
  case name:                                \
    text = message;                         \
    break;
    WF_CUDA_ERRORS(WF_ERROR_TEXT)
#undef WF_ERROR_TEXT
  }
  wf_set_error(error, text);
  return error;
}

inline cudaError_t allocate(void** memory, size_t bytes) {
  if (memory == nullptr) return fail(cudaErrorInvalidValue);
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  *memory = wf_allocate(bytes);
  return *memory != nullptr ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

}  // namespace wf_simt

template <class T>
WF_INTRINSIC cudaError_t cudaMalloc(T** memory, size_t bytes) {
  return ::wf_simt::allocate(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMallocAsync(T** memory, size_t bytes, cudaStream_t) {
  return ::wf_simt::allocate(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMallocManaged(T** memory, size_t bytes,
                                           unsigned = cudaMemAttachGlobal) {
  return ::wf_simt::allocate(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMallocHost(T** memory, size_t bytes, unsigned = 0) {
  return ::wf_simt::allocate(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
WF_INTRINSIC cudaError_t cudaHostAlloc(T** memory, size_t bytes, unsigned) {
  return ::wf_simt::allocate(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMallocPitch(T** memory, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 255) / 256 * 256;
  return ::wf_simt::allocate(reinterpret_cast<void**>(memory), *pitch * height);
}
WF_INTRINSIC cudaError_t cudaFree(void* memory) {
  if (memory == nullptr || wf_free(memory)) return cudaSuccess;
  return ::wf_simt::fail(cudaErrorInvalidValue);
}
WF_INTRINSIC cudaError_t cudaFreeAsync(void* memory, cudaStream_t) { return cudaFree(memory); }
WF_INTRINSIC cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }
WF_INTRINSIC cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  wf_memory_info(free_bytes, total_bytes);
  return cudaSuccess;
}

WF_INTRINSIC cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return ::wf_simt::fail(cudaErrorInvalidValue);
  wf_copy(to, from, bytes);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
WF_INTRINSIC cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t height,
                                      cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return ::wf_simt::fail(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error =
        cudaMemcpy(static_cast<char*>(to) + row * to_pitch,
                   static_cast<const char*>(from) + row * from_pitch, width, kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                           size_t from_pitch, size_t width, size_t height,
                                           cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
WF_INTRINSIC cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr) return ::wf_simt::fail(cudaErrorInvalidValue);
  wf_fill(to, value, bytes);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                         cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}
WF_INTRINSIC cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width,
                                      size_t height) {
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error = cudaMemset(static_cast<char*>(to) + row * pitch, value, width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}

template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                                            size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) {
    return ::wf_simt::fail(cudaErrorInvalidValue);
  }
  // __constant__ variables are not const for the host.
  return cudaMemcpy(reinterpret_cast<char*>(const_cast<__remove_const(T)*>(&symbol)) + offset, from,
                    bytes, kind);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes,
                                                 size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                 cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                              size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) {
    return ::wf_simt::fail(cudaErrorInvalidValue);
  }
  return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, kind);
}
template <class T>
WF_INTRINSIC cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = const_cast<void*>(static_cast<const volatile void*>(&symbol));
  return cudaSuccess;
}
