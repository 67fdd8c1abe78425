// Linked into every kernel object that compile_cuda.h builds: stands between the kernel's host code
// and the CUDA runtime (the linker's --wrap), counts what a call does, refuses launches of kernels
// that are known to ask for what no device has, and registers the coverage array that the
// instrumenter has added to the device code. Compiled with nvcc's headers; knows
// nothing of warpfuzz but runtime_report.h.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "cuda/runtime_report.h"

extern "C" {

// Defined in the file that compile_cuda.cc generates beside the kernel.
extern const unsigned warpfuzz_cuda_counters;

// The runtime's entry points for what nvcc generates; not in its public headers.
void __cudaRegisterVar(void** fat_cubin, char* host_variable, char* device_address,
                       const char* device_name, int external, size_t bytes, int constant,
                       int global);
void** __real___cudaRegisterFatBinary(void* fat_cubin);
cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared, cudaStream_t stream);

cudaError_t __real_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                    size_t shared, cudaStream_t stream);
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                       void** arguments);
cudaError_t __real_cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                               void** arguments, size_t shared,
                                               cudaStream_t stream);
cudaError_t __real_cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t __real_cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream);
cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __real_cudaDeviceSynchronize();
}

namespace {

WfCudaReport report;
cudaStream_t call_stream;
char coverage_variable;  // stands for the device's array; only its address matters

void keep_largest(uint32_t& kept, size_t value) {
  if (value > kept) kept = static_cast<uint32_t>(value);
}

// Attributes of a function never change: asked once. More functions than fit are asked each time.
const cudaFuncAttributes* attributes_of(const void* function) {
  struct Known {
    const void* function;
    cudaFuncAttributes attributes;
  };
  static Known known[256];
  static unsigned count;
  for (unsigned i = 0; i < count; ++i) {
    if (known[i].function == function) return &known[i].attributes;
  }
  Known& entry = known[count < 255 ? count : 255];
  if (cudaFuncGetAttributes(&entry.attributes, function) != cudaSuccess) {
    cudaGetLastError();  // ours, not the kernel's
    return nullptr;
  }
  entry.function = function;
  if (count < 255) ++count;
  return &entry.attributes;
}

void note_resources(const void* function, dim3 block, size_t dynamic_shared) {
  if (cudaPeekAtLastError() != cudaSuccess) return;  // asking would hide the kernel's own error
  const cudaFuncAttributes* attributes = attributes_of(function);
  if (attributes == nullptr) return;
  keep_largest(report.registers, static_cast<size_t>(attributes->numRegs));
  keep_largest(report.shared_bytes, attributes->sharedSizeBytes + dynamic_shared);
  keep_largest(report.local_bytes, attributes->localSizeBytes);
  keep_largest(report.block_threads, size_t{block.x} * block.y * block.z);
}

// Why this kernel is not launched; nullptr if nothing is known against it.
const char* refusal(const void* function) {
  if (warpfuzz_cuda_refused_entries[0].entry == nullptr) return nullptr;
  if (cudaPeekAtLastError() != cudaSuccess) return nullptr;  // asking would hide that error
  const char* name = nullptr;
#if CUDART_VERSION >= 12030
  if (cudaFuncGetName(&name, function) != cudaSuccess)
    cudaGetLastError();  // ours, not the kernel's
#else
  static_cast<void>(function);
#endif
  if (name == nullptr) return nullptr;
  const WfCudaRefusedEntry* entry = warpfuzz_cuda_refused_entries;
  while (entry->entry != nullptr && std::strcmp(entry->entry, name) != 0) ++entry;
  return entry->message;
}

void note_error(cudaError_t error) {
  std::snprintf(report.message, sizeof report.message, "%s", cudaGetErrorString(error));
}

cudaError_t note_launch(cudaError_t error, cudaStream_t stream) {
  if (error == cudaSuccess) {
    ++report.launches;
    if (stream != call_stream) ++report.foreign_launches;
  } else {
    ++report.failed_launches;
    note_error(error);
  }
  return error;
}

// Launches, unless the kernel is refused.
template <class Launch>
cudaError_t launch_unless_refused(const void* function, dim3 block, size_t dynamic_shared,
                                  cudaStream_t stream, Launch launch) {
  if (const char* const message = refusal(function)) {
    ++report.failed_launches;
    std::snprintf(report.message, sizeof report.message, "%s", message);
    return cudaErrorLaunchOutOfResources;
  }
  note_resources(function, block, dynamic_shared);
  return note_launch(launch(), stream);
}

cudaError_t note_copy(cudaError_t error, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToDevice) ++report.host_copies;
  if (error != cudaSuccess) note_error(error);
  return error;
}

}  // namespace

extern "C" {

void** __wrap___cudaRegisterFatBinary(void* fat_cubin) {
  void** const handle = __real___cudaRegisterFatBinary(fat_cubin);
  static bool registered = false;
  if (warpfuzz_cuda_counters > 0 && !registered) {
    registered = true;
    static char device_name[] = "__warpfuzz_coverage";
    __cudaRegisterVar(handle, &coverage_variable, device_name, device_name, 0,
                      (warpfuzz_cuda_counters + 31) / 32 * 4, 0, 0);
  }
  return handle;
}

cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared, cudaStream_t stream) {
  return launch_unless_refused(kernel, block, shared, stream, [&] {
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
  });
}

cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                    size_t shared, cudaStream_t stream) {
  return launch_unless_refused(function, block, shared, stream, [&] {
    return __real_cudaLaunchKernel(function, grid, block, arguments, shared, stream);
  });
}

cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                       void** arguments) {
  return launch_unless_refused(
      function, config->blockDim, config->dynamicSmemBytes, config->stream,
      [&] { return __real_cudaLaunchKernelExC(config, function, arguments); });
}

cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                               void** arguments, size_t shared,
                                               cudaStream_t stream) {
  return launch_unless_refused(function, block, shared, stream, [&] {
    return __real_cudaLaunchCooperativeKernel(function, grid, block, arguments, shared, stream);
  });
}

cudaError_t __wrap_cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return note_copy(__real_cudaMemcpy(to, from, bytes, kind), kind);
}

cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return note_copy(__real_cudaMemcpyAsync(to, from, bytes, kind, stream), kind);
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
  ++report.synchronizations;
  return __real_cudaStreamSynchronize(stream);
}

cudaError_t __wrap_cudaDeviceSynchronize() {
  ++report.synchronizations;
  return __real_cudaDeviceSynchronize();
}

__attribute__((visibility("default"))) void warpfuzz_cuda_begin(void* stream) {
  std::memset(&report, 0, sizeof report);
  call_stream = static_cast<cudaStream_t>(stream);
  cudaGetLastError();  // what an earlier call left is not this one's
}

__attribute__((visibility("default"))) void warpfuzz_cuda_end(WfCudaReport* out) { *out = report; }

__attribute__((visibility("default"))) int warpfuzz_cuda_coverage_bits(uint64_t* address,
                                                                       uint64_t* count) {
  *address = *count = 0;
  if (warpfuzz_cuda_counters == 0) return 0;
  void* pointer = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&pointer, &coverage_variable);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return error;
  }
  *address = reinterpret_cast<uintptr_t>(pointer);
  *count = warpfuzz_cuda_counters;
  return 0;
}
}
