// The CUDA host API: here errors and the device, of which there is one; memory, streams, events and
// launches in the other headers. Errors become the last error, as CUDA's do.
#pragma once

#include "driver_types.h"
#include "wf_host_launch.h"
#include "wf_host_memory.h"
#include "wf_host_streams.h"

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
WF_INTRINSIC cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return cudaGetDevice(device);
}
WF_INTRINSIC cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
// The only device is no peer of itself.
WF_INTRINSIC cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned) {
  return ::wf_simt::fail(device == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}
WF_INTRINSIC cudaError_t cudaDeviceDisablePeerAccess(int) {
  return ::wf_simt::fail(cudaErrorInvalidDevice);
}
WF_INTRINSIC cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) {
  *value = 1 << 20;
  return cudaSuccess;
}
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
#define WF_ATTRIBUTE(name, field)       \
  case cudaDevAttr##name:               \
    *value = static_cast<int>(p.field); \
    break;
    WF_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock)
    WF_ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0])
    WF_ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1])
    WF_ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2])
    WF_ATTRIBUTE(MaxGridDimX, maxGridSize[0])
    WF_ATTRIBUTE(MaxGridDimY, maxGridSize[1])
    WF_ATTRIBUTE(MaxGridDimZ, maxGridSize[2])
    WF_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock)
    WF_ATTRIBUTE(TotalConstantMemory, totalConstMem)
    WF_ATTRIBUTE(WarpSize, warpSize)
    WF_ATTRIBUTE(MaxPitch, memPitch)
    WF_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock)
    WF_ATTRIBUTE(ClockRate, clockRate)
    WF_ATTRIBUTE(MultiProcessorCount, multiProcessorCount)
    WF_ATTRIBUTE(Integrated, integrated)
    WF_ATTRIBUTE(CanMapHostMemory, canMapHostMemory)
    WF_ATTRIBUTE(ComputeMode, computeMode)
    WF_ATTRIBUTE(ConcurrentKernels, concurrentKernels)
    WF_ATTRIBUTE(EccEnabled, ECCEnabled)
    WF_ATTRIBUTE(MemoryClockRate, memoryClockRate)
    WF_ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth)
    WF_ATTRIBUTE(L2CacheSize, l2CacheSize)
    WF_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    WF_ATTRIBUTE(AsyncEngineCount, asyncEngineCount)
    WF_ATTRIBUTE(UnifiedAddressing, unifiedAddressing)
    WF_ATTRIBUTE(ComputeCapabilityMajor, major)
    WF_ATTRIBUTE(ComputeCapabilityMinor, minor)
    WF_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
    WF_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    WF_ATTRIBUTE(ManagedMemory, managedMemory)
    WF_ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess)
    WF_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch)
    WF_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    WF_ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    WF_ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
    WF_ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported)
#undef WF_ATTRIBUTE
    default:
      return ::wf_simt::fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
