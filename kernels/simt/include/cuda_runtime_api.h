// The CUDA host API over plain memory. Everything happens in order and before the call returns, so
// streams and events are only handles. Errors become the last error, as CUDA's do.
#pragma once

#include "driver_types.h"
#include "wf_host_launch.h"
#include "wf_host_memory.h"

extern "C" {
// Makes `error` the last error and returns it; `text` reaches the result of the run.
int wf_set_error(int error, const char* text);
int wf_last_error(bool reset);
}

inline const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define WF_ERROR_TEXT(name, value, text) \
  case name:                             \
    return text;
    WF_CUDA_ERRORS(WF_ERROR_TEXT)
#undef WF_ERROR_TEXT
  }
  return "unrecognized error code";
}
inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define WF_ERROR_NAME(name, value, text) \
  case name:                             \
    return #name;
    WF_CUDA_ERRORS(WF_ERROR_NAME)
#undef WF_ERROR_NAME
  }
  return "unrecognized error code";
}
WF_INTRINSIC cudaError_t cudaGetLastError() {
  return static_cast<cudaError_t>(wf_last_error(true));
}
WF_INTRINSIC cudaError_t cudaPeekAtLastError() {
  return static_cast<cudaError_t>(wf_last_error(false));
}

WF_INTRINSIC cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaDeviceReset() { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidDevice);
}
WF_INTRINSIC cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return ::wf_simt::fail(cudaErrorInvalidDevice);
  *properties = cudaDeviceProp{};
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

WF_INTRINSIC cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return ::wf_simt::fail(cudaErrorInvalidDevice);
  const cudaDeviceProp p;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = p.maxThreadsDim[0];
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = p.maxThreadsDim[1];
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = static_cast<int>(p.totalConstMem);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrClockRate:
      *value = p.clockRate;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrConcurrentKernels:
      *value = p.concurrentKernels;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerMultiprocessor;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = p.cooperativeLaunch;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(p.reservedSharedMemPerBlock);
      break;
    default:
      return ::wf_simt::fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

WF_INTRINSIC cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = cudaStreamPerThread;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
WF_INTRINSIC cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
WF_INTRINSIC cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudaSuccess;
}

WF_INTRINSIC cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(1);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
WF_INTRINSIC cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) {
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
// Kernels are not timed here.
WF_INTRINSIC cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0.001f;
  return cudaSuccess;
}
