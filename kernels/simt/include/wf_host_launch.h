// Launch functions, function attributes and occupancy of the host API. Kernels are functions with
// their types: the rewriter takes casts to void* in the call away, and a kernel that is known only
// as a void* cannot be launched.
#pragma once

#include "driver_types.h"
#include "wf_host_memory.h"
#include "wf_simt.h"

extern "C" {
// False if more bytes are asked for than a block can have. `enters`: the kernels of the object call
// wf_simt::enter().
bool wf_opt_in_dynamic_shared(const void* function, ::wf_simt::Context* context, bool enters,
                              size_t bytes);
void wf_kernel_limits(const void* function, ::wf_simt::Context* context, bool enters,
                      ::wf_simt::KernelLimits* result);
}

namespace wf_simt {

template <class Function>
inline KernelLimits limits_of(Function* function) {
  KernelLimits limits;
  wf_kernel_limits(reinterpret_cast<const void*>(function), &context, &wf_kernels_enter != nullptr,
                   &limits);
  return limits;
}

template <class Integer, Integer... Index>
struct Indices {};
template <class... Parameters, size_t... Index>
int launch_with_pointers(const Kernel<void (*)(Parameters...)>& kernel, void** arguments,
                         Indices<size_t, Index...>) {
  return kernel(*static_cast<__remove_reference_t(Parameters)*>(arguments[Index])...);
}
template <class... Parameters>
cudaError_t launch_function(void (*function)(Parameters...), dim3 grid, dim3 block,
                            void** arguments, size_t bytes, cudaStream_t stream, bool cooperative) {
  const Config config(grid, block, bytes, stream, cooperative);
  return static_cast<cudaError_t>(
      launch_with_pointers(config.function(function), arguments,
                           __make_integer_seq<Indices, size_t, sizeof...(Parameters)>()));
}

}  // namespace wf_simt

template <class... Parameters>
WF_INTRINSIC cudaError_t cudaLaunchKernel(void (*function)(Parameters...), dim3 grid, dim3 block,
                                          void** arguments, size_t bytes = 0,
                                          cudaStream_t stream = nullptr) {
  return ::wf_simt::launch_function(function, grid, block, arguments, bytes, stream, false);
}
template <class... Parameters>
WF_INTRINSIC cudaError_t cudaLaunchCooperativeKernel(void (*function)(Parameters...), dim3 grid,
                                                     dim3 block, void** arguments, size_t bytes = 0,
                                                     cudaStream_t stream = nullptr) {
  return ::wf_simt::launch_function(function, grid, block, arguments, bytes, stream, true);
}
WF_INTRINSIC cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t = 0,
                                          cudaStream_t = nullptr) {
  return ::wf_simt::fail(cudaErrorInvalidDeviceFunction);
}
WF_INTRINSIC cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t = 0,
                                                     cudaStream_t = nullptr) {
  return ::wf_simt::fail(cudaErrorInvalidDeviceFunction);
}
template <class... Parameters, class... Arguments>
WF_INTRINSIC cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                                            void (*function)(Parameters...),
                                            Arguments&&... arguments) {
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      cooperative = attribute.val.cooperative != 0;
    } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto cluster = attribute.val.clusterDim;
      if (cluster.x * cluster.y * cluster.z != 1) return ::wf_simt::fail(cudaErrorNotSupported);
    }
  }
  const ::wf_simt::Config launch(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                 config->stream, cooperative);
  return static_cast<cudaError_t>(launch.function(function)(static_cast<Parameters>(arguments)...));
}

template <class Function>
WF_INTRINSIC cudaError_t cudaFuncSetAttribute(Function* function, cudaFuncAttribute attribute,
                                              int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 ||
          !wf_opt_in_dynamic_shared(reinterpret_cast<const void*>(function), &::wf_simt::context,
                                    &wf_kernels_enter != nullptr, static_cast<size_t>(value))) {
        return ::wf_simt::fail(cudaErrorInvalidValue);
      }
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      return cudaSuccess;
  }
  return ::wf_simt::fail(cudaErrorInvalidValue);
}
template <class Function>
WF_INTRINSIC cudaError_t cudaFuncSetCacheConfig(Function*, cudaFuncCache) {
  return cudaSuccess;
}
template <class Function>
WF_INTRINSIC cudaError_t cudaFuncSetSharedMemConfig(Function*, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class Function>
WF_INTRINSIC cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function* function) {
  if (function == nullptr) return ::wf_simt::fail(cudaErrorInvalidDeviceFunction);
  const ::wf_simt::KernelLimits limits = ::wf_simt::limits_of(function);
  *attributes = cudaFuncAttributes{};
  attributes->sharedSizeBytes = limits.static_shared_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(limits.most_threads);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(limits.dynamic_shared_bytes);
  return cudaSuccess;
}

// One multiprocessor holds 2048 threads, 32 blocks and 228 KiB of shared memory, of which each
// block costs 1 KiB more than it asks for; registers are no limit. No block fits that asks for more
// dynamic shared memory than cudaFuncSetAttribute has admitted (seen on an H200).
template <class Function>
WF_INTRINSIC cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       Function* function,
                                                                       int block_threads,
                                                                       size_t dynamic_bytes) {
  if (block_threads <= 0) return ::wf_simt::fail(cudaErrorInvalidValue);
  const ::wf_simt::KernelLimits limits = ::wf_simt::limits_of(function);
  *blocks = 0;
  if (static_cast<unsigned>(block_threads) > limits.most_threads ||
      dynamic_bytes > limits.dynamic_shared_bytes) {
    return cudaSuccess;
  }
  int most = 2048 / ((block_threads + 31) / 32 * 32);
  if (most > 32) most = 32;
  const size_t bytes = limits.static_shared_bytes + dynamic_bytes;
  const size_t by_memory = (size_t{228} << 10) / (bytes + 1024);
  *blocks = by_memory < static_cast<size_t>(most) ? static_cast<int>(by_memory) : most;
  return cudaSuccess;
}
template <class Function>
WF_INTRINSIC cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Function* function, int block_threads, size_t dynamic_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads,
                                                       dynamic_bytes);
}
// The block size with the most threads in flight, the larger one of two that are equal: a multiple
// of the warp or the limit itself. Both results are 0 if no block fits.
template <class Function, class BytesOfBlock>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block_threads,
                                                                  Function* function,
                                                                  BytesOfBlock bytes_of_block,
                                                                  int limit = 0) {
  if (min_grid == nullptr || block_threads == nullptr || function == nullptr) {
    return ::wf_simt::fail(cudaErrorInvalidValue);
  }
  const int most_threads = static_cast<int>(::wf_simt::limits_of(function).most_threads);
  if (limit == 0 || limit > most_threads) limit = most_threads;
  int most = 0;
  *min_grid = *block_threads = 0;
  for (int aligned = (limit + 31) / 32 * 32; aligned > 0; aligned -= 32) {
    const int threads = aligned < limit ? aligned : limit;
    int blocks = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, threads, static_cast<size_t>(bytes_of_block(threads)));
    if (error != cudaSuccess) return error;
    if (blocks * threads <= most) continue;
    most = blocks * threads;
    *block_threads = threads;
    *min_grid = blocks * cudaDeviceProp().multiProcessorCount;
  }
  return cudaSuccess;
}
template <class Function, class BytesOfBlock>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* min_grid, int* block_threads, Function* function, BytesOfBlock bytes_of_block,
    int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid, block_threads, function,
                                                        bytes_of_block, limit);
}
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block_threads,
                                                      Function* function, size_t bytes = 0,
                                                      int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid, block_threads, function, [bytes](int) { return bytes; }, limit);
}
template <class Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block_threads,
                                                               Function* function, size_t bytes = 0,
                                                               int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(min_grid, block_threads, function, bytes, limit);
}
