// The CUDA driver, loaded at run time: one binary serves machines with and without a GPU, and none
// of NVIDIA's headers is needed to build it. Names and meanings are those of the driver API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpfuzz::cuda {

using Status = int;  // CUresult
using Context = void*;
using Stream = void*;
using Event = void*;
using ModuleHandle = void*;
using FunctionHandle = void*;
using DevicePointer = uint64_t;
using Ordinal = int;  // CUdevice

inline constexpr Status success = 0;
inline constexpr Status not_ready = 600;
inline constexpr Status mps_not_ready = 806;  // CUDA_ERROR_MPS_SERVER_NOT_READY
inline constexpr Status unknown_error = 999;

inline constexpr unsigned context_spins = 1;          // CU_CTX_SCHED_SPIN
inline constexpr unsigned stream_non_blocking = 1;    // no order with the default stream
inline constexpr unsigned host_memory_mapped = 2;     // CU_MEMHOSTALLOC_DEVICEMAP
inline constexpr int attribute_clock_kilohertz = 13;  // the highest
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_cache_bytes = 38;  // L2
inline constexpr int attribute_capability_major = 75;
inline constexpr int attribute_capability_minor = 76;
inline constexpr int attribute_shared_bytes_optin =
    97;                                           // most per block, where a kernel asks for it
inline constexpr int function_block_threads = 0;  // most, by its registers or its .maxntid
inline constexpr int function_shared_bytes = 1;   // static
inline constexpr int function_local_bytes = 3;
inline constexpr int function_registers = 4;
inline constexpr int function_dynamic_shared_bytes = 8;  // most
inline constexpr int jit_error_log = 5;
inline constexpr int jit_error_log_bytes = 6;
inline constexpr int jit_line_info = 13;

// name in the library, name here, parameters
#define WARPFUZZ_CUDA_DRIVER(X)                                                                    \
  X(cuInit, initialize, (unsigned flags))                                                          \
  X(cuDriverGetVersion, driver_version, (int* version))                                            \
  X(cuDeviceGetCount, device_count, (int* count))                                                  \
  X(cuDeviceGet, device, (Ordinal * device, int index))                                            \
  X(cuDeviceGetName, device_name, (char* name, int bytes, Ordinal device))                         \
  X(cuDeviceGetAttribute, device_attribute, (int* value, int attribute, Ordinal device))           \
  X(cuDevicePrimaryCtxSetFlags_v2, primary_context_set_flags, (Ordinal device, unsigned flags))    \
  X(cuDevicePrimaryCtxRetain, primary_context_retain, (Context * context, Ordinal device))         \
  X(cuDevicePrimaryCtxRelease_v2, primary_context_release, (Ordinal device))                       \
  X(cuCtxSetCurrent, context_set_current, (Context context))                                       \
  X(cuCtxSynchronize, context_synchronize, ())                                                     \
  X(cuStreamCreate, stream_create, (Stream * stream, unsigned flags))                              \
  X(cuStreamDestroy_v2, stream_destroy, (Stream stream))                                           \
  X(cuStreamQuery, stream_query, (Stream stream))                                                  \
  X(cuStreamSynchronize, stream_synchronize, (Stream stream))                                      \
  X(cuMemAlloc_v2, allocate, (DevicePointer * pointer, size_t bytes))                              \
  X(cuMemFree_v2, free, (DevicePointer pointer))                                                   \
  X(cuMemGetInfo_v2, memory_info, (size_t* free, size_t* total))                                   \
  X(cuMemHostAlloc, host_allocate, (void** pointer, size_t bytes, unsigned flags))                 \
  X(cuMemFreeHost, host_free, (void* pointer))                                                     \
  X(cuMemHostGetDevicePointer_v2, host_device_pointer,                                             \
    (DevicePointer * pointer, void* host, unsigned flags))                                         \
  X(cuMemcpyHtoDAsync_v2, copy_to_device,                                                          \
    (DevicePointer to, const void* from, size_t bytes, Stream stream))                             \
  X(cuMemcpyDtoHAsync_v2, copy_to_host,                                                            \
    (void* to, DevicePointer from, size_t bytes, Stream stream))                                   \
  X(cuMemcpyDtoDAsync_v2, copy_on_device,                                                          \
    (DevicePointer to, DevicePointer from, size_t bytes, Stream stream))                           \
  X(cuEventCreate, event_create, (Event * event, unsigned flags))                                  \
  X(cuEventDestroy_v2, event_destroy, (Event event))                                               \
  X(cuEventRecord, event_record, (Event event, Stream stream))                                     \
  X(cuEventElapsedTime, event_elapsed_time, (float* milliseconds, Event from, Event to))           \
  X(cuMemsetD8Async, fill, (DevicePointer to, unsigned char value, size_t bytes, Stream stream))   \
  X(cuModuleLoadDataEx, module_load,                                                               \
    (ModuleHandle * module, const void* image, unsigned options, int* names, void** values))       \
  X(cuModuleUnload, module_unload, (ModuleHandle module))                                          \
  X(cuModuleGetFunction, module_function,                                                          \
    (FunctionHandle * function, ModuleHandle module, const char* name))                            \
  X(cuModuleGetGlobal_v2, module_global,                                                           \
    (DevicePointer * pointer, size_t* bytes, ModuleHandle module, const char* name))               \
  X(cuFuncGetAttribute, function_attribute, (int* value, int attribute, FunctionHandle function))  \
  X(cuFuncSetAttribute, set_function_attribute,                                                    \
    (FunctionHandle function, int attribute, int value))                                           \
  X(cuLaunchKernel, launch,                                                                        \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments,   \
     void** extra))                                                                                \
  X(cuGetErrorName, error_name, (Status status, const char** text))                                \
  X(cuGetErrorString, error_string, (Status status, const char** text))

// Of drivers from 12.4 on; nullptr in others.
#define WARPFUZZ_CUDA_DRIVER_12_4(X)                                                         \
  X(cuFuncGetParamInfo, parameter_info,                                                      \
    (FunctionHandle function, size_t index, size_t* offset, size_t* bytes))                  \
  X(cuFuncGetName, function_name, (const char** name, FunctionHandle function))              \
  X(cuModuleGetFunctionCount, module_function_count, (unsigned* count, ModuleHandle module)) \
  X(cuModuleEnumerateFunctions, module_functions,                                            \
    (FunctionHandle * functions, unsigned count, ModuleHandle module))

struct Driver {
#define WARPFUZZ_DECLARE(symbol, name, parameters) Status(*name) parameters = nullptr;
  WARPFUZZ_CUDA_DRIVER(WARPFUZZ_DECLARE)
  WARPFUZZ_CUDA_DRIVER_12_4(WARPFUZZ_DECLARE)
#undef WARPFUZZ_DECLARE

  // "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
  std::string describe(Status status) const;
  // Throws DeviceUnavailable if the call failed; `what` is the sentence's subject.
  void check(Status status, const std::string& what) const;
};

// Loads libcuda.so.1 on the first call. Throws DeviceUnavailable (kernels/device.h) where there is
// no driver, or one that lacks a function.
const Driver& driver();
// The same with another library, for tests.
Driver load_driver(const char* library);

}  // namespace warpfuzz::cuda
