// Memory functions of the host API. Device memory is host memory; copies and fills check the ranges
// they touch, as kernels do, and in a whole program also that the kind of the copy is right.
#pragma once

#include "driver_types.h"

extern "C" {
int wf_set_error(int error, const char* text);
// `type` is a cudaMemoryType. Filled with NaN; nullptr beyond 1 GiB in all.
void* wf_allocate(size_t bytes, int type);
// False if it is not from wf_allocate, or host memory is freed as device memory or conversely.
bool wf_free(void* memory, bool host);
// Returns a cudaError_t, which is not yet the last error; so does wf_fill.
int wf_copy(void* to, const void* from, size_t bytes, int kind, cudaStream_t stream,
            bool asynchronous);
int wf_fill(void* to, int value, size_t bytes, cudaStream_t stream);
void wf_wait_for_device(void);
void wf_memory_info(size_t* free_bytes, size_t* total_bytes);
int wf_memory_type(const void* pointer);
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

inline cudaError_t result(int error) {
  return error == 0 ? cudaSuccess : fail(static_cast<cudaError_t>(error));
}

inline cudaError_t allocate(void** memory, size_t bytes, cudaMemoryType type) {
  if (memory == nullptr) return fail(cudaErrorInvalidValue);
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  *memory = wf_allocate(bytes, type);
  return *memory != nullptr ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

}  // namespace wf_simt

#define WF_DEFINE_ALLOCATION(name, type, ...)                                  \
  template <class T>                                                           \
  WF_INTRINSIC cudaError_t name(T** memory, size_t bytes __VA_ARGS__) {        \
    return ::wf_simt::allocate(reinterpret_cast<void**>(memory), bytes, type); \
  }
WF_DEFINE_ALLOCATION(cudaMalloc, cudaMemoryTypeDevice, )
WF_DEFINE_ALLOCATION(cudaMallocAsync, cudaMemoryTypeDevice, , cudaStream_t)
WF_DEFINE_ALLOCATION(cudaMallocManaged, cudaMemoryTypeManaged, , unsigned = cudaMemAttachGlobal)
WF_DEFINE_ALLOCATION(cudaMallocHost, cudaMemoryTypeHost, , unsigned = 0)
WF_DEFINE_ALLOCATION(cudaHostAlloc, cudaMemoryTypeHost, , unsigned)
#undef WF_DEFINE_ALLOCATION
template <class T>
WF_INTRINSIC cudaError_t cudaMallocPitch(T** memory, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(memory, *pitch * height);
}
WF_INTRINSIC cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  if (memory == nullptr || wf_free(memory, false)) return cudaSuccess;
  return ::wf_simt::fail(cudaErrorInvalidValue);
}
WF_INTRINSIC cudaError_t cudaFree(void* memory) {
  wf_wait_for_device();
  return cudaFreeAsync(memory, nullptr);
}
WF_INTRINSIC cudaError_t cudaFreeHost(void* memory) {
  wf_wait_for_device();
  if (memory == nullptr || wf_free(memory, true)) return cudaSuccess;
  return ::wf_simt::fail(cudaErrorInvalidValue);
}
// There is one pool, without bounds of its own.
WF_INTRINSIC cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  static char the_pool;
  if (device != 0) return ::wf_simt::fail(cudaErrorInvalidDevice);
  *pool = reinterpret_cast<cudaMemPool_t>(&the_pool);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
WF_INTRINSIC cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void*) {
  return pool != nullptr ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidValue);
}
WF_INTRINSIC cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return pool != nullptr ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidValue);
}
// Pageable memory is as good as registered memory here.
WF_INTRINSIC cudaError_t cudaHostRegister(void* memory, size_t, unsigned) {
  return memory != nullptr ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidValue);
}
WF_INTRINSIC cudaError_t cudaHostUnregister(void* memory) {
  return memory != nullptr ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidValue);
}
WF_INTRINSIC cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                  const void* pointer) {
  const auto type = static_cast<cudaMemoryType>(wf_memory_type(pointer));
  void* const address = const_cast<void*>(pointer);
  attributes->type = type;
  attributes->device = type == cudaMemoryTypeUnregistered ? cudaInvalidDeviceId : 0;
  attributes->devicePointer = type == cudaMemoryTypeUnregistered ? nullptr : address;
  attributes->hostPointer = type == cudaMemoryTypeDevice ? nullptr : address;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  wf_memory_info(free_bytes, total_bytes);
  return cudaSuccess;
}

// Synchronous calls work on the default stream.
WF_INTRINSIC cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return ::wf_simt::result(wf_copy(to, from, bytes, kind, nullptr, false));
}
WF_INTRINSIC cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return ::wf_simt::result(wf_copy(to, from, bytes, kind, stream, true));
}
WF_INTRINSIC cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return ::wf_simt::result(wf_fill(to, value, bytes, nullptr));
}
WF_INTRINSIC cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                         cudaStream_t stream = nullptr) {
  return ::wf_simt::result(wf_fill(to, value, bytes, stream));
}

namespace wf_simt {
WF_INTRINSIC cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                   size_t width, size_t height, cudaMemcpyKind kind,
                                   cudaStream_t stream, bool asynchronous) {
  if (width > to_pitch || width > from_pitch) return fail(cudaErrorInvalidPitchValue);
  int error = 0;
  for (size_t row = 0; row < height && error == 0; ++row) {
    error = wf_copy(static_cast<char*>(to) + row * to_pitch,
                    static_cast<const char*>(from) + row * from_pitch, width, kind, stream,
                    asynchronous);
  }
  return result(error);
}
WF_INTRINSIC cudaError_t fill_rows(void* to, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  int error = 0;
  for (size_t row = 0; row < height && error == 0; ++row) {
    error = wf_fill(static_cast<char*>(to) + row * pitch, value, width, stream);
  }
  return result(error);
}
}  // namespace wf_simt

WF_INTRINSIC cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t height,
                                      cudaMemcpyKind kind) {
  return ::wf_simt::copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, false);
}
WF_INTRINSIC cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                           size_t from_pitch, size_t width, size_t height,
                                           cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return ::wf_simt::copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, true);
}
WF_INTRINSIC cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width,
                                      size_t height) {
  return ::wf_simt::fill_rows(to, pitch, value, width, height, nullptr);
}
WF_INTRINSIC cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                           size_t height, cudaStream_t stream = nullptr) {
  return ::wf_simt::fill_rows(to, pitch, value, width, height, stream);
}
WF_INTRINSIC cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                             int from_device, size_t bytes,
                                             cudaStream_t stream = nullptr) {
  if (to_device != 0 || from_device != 0) return ::wf_simt::fail(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
WF_INTRINSIC cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                        size_t bytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}
WF_INTRINSIC cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}

namespace wf_simt {
template <class T>
WF_INTRINSIC cudaError_t copy_to_symbol(T& symbol, const void* from, size_t bytes, size_t offset,
                                        cudaMemcpyKind kind, cudaStream_t stream,
                                        bool asynchronous) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) return fail(cudaErrorInvalidValue);
  if (kind == cudaMemcpyDeviceToHost) return fail(cudaErrorInvalidMemcpyDirection);
  // __constant__ variables are not const for the host.
  char* const to = reinterpret_cast<char*>(const_cast<__remove_const(T)*>(&symbol));
  return result(wf_copy(to + offset, from, bytes, kind, stream, asynchronous));
}
template <class T>
WF_INTRINSIC cudaError_t copy_from_symbol(void* to, const T& symbol, size_t bytes, size_t offset,
                                          cudaMemcpyKind kind, cudaStream_t stream,
                                          bool asynchronous) {
  if (offset > sizeof symbol || bytes > sizeof symbol - offset) return fail(cudaErrorInvalidValue);
  if (kind == cudaMemcpyHostToDevice) return fail(cudaErrorInvalidMemcpyDirection);
  const char* const from = reinterpret_cast<const char*>(&symbol);
  return result(wf_copy(to, from + offset, bytes, kind, stream, asynchronous));
}
}  // namespace wf_simt

template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                                            size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::wf_simt::copy_to_symbol(symbol, from, bytes, offset, kind, nullptr, false);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes,
                                                 size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                 cudaStream_t stream = nullptr) {
  return ::wf_simt::copy_to_symbol(symbol, from, bytes, offset, kind, stream, true);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                              size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::wf_simt::copy_from_symbol(to, symbol, bytes, offset, kind, nullptr, false);
}
template <class T>
WF_INTRINSIC cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                                   size_t offset = 0,
                                                   cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                   cudaStream_t stream = nullptr) {
  return ::wf_simt::copy_from_symbol(to, symbol, bytes, offset, kind, stream, true);
}
template <class T>
WF_INTRINSIC cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof symbol;
  return cudaSuccess;
}
template <class T>
WF_INTRINSIC cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = const_cast<void*>(static_cast<const volatile void*>(&symbol));
  return cudaSuccess;
}
