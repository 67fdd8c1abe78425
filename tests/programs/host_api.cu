// The host API: memory and copies, streams and events, properties, errors of illegal calls and
// launches. Illegal configurations are cudaErrorInvalidConfiguration up to CUDA 12 and
// cudaErrorInvalidValue from CUDA 13 on; the other codes were read off a GPU.
#include <cooperative_groups.h>

#include "check.h"

__global__ void nothing() {}
__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void dynamic(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  if (out != nullptr) *out = s[0];
}
__global__ void optional(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  if (out != nullptr) *out = s[0];
}
__global__ void static_and_dynamic(int* out) {
  __shared__ int a[10240];
  extern __shared__ int s[];
  a[threadIdx.x] = s[threadIdx.x] = 1;
  if (out != nullptr) *out = s[0] + a[0];
}
__global__ void __launch_bounds__(128) bounded() {}
__constant__ int symbol[4];

#define CHECK_ERROR(call, code)               \
  do {                                        \
    const cudaError_t error_of_call = (call); \
    CHECK(error_of_call == (code));           \
    CHECK(cudaPeekAtLastError() == (code));   \
    CHECK(cudaGetLastError() == (code));      \
    CHECK(cudaGetLastError() == cudaSuccess); \
  } while (false)

cudaError_t launched() { return cudaPeekAtLastError(); }

void test_illegal_launches() {
  const cudaError_t configuration =
      CUDART_VERSION < 13000 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
  const struct {
    dim3 grid, block;
  } illegal[] = {
      {1, 1025}, {1, dim3(1, 1025)},  {1, dim3(1, 1, 65)},    {1, dim3(32, 32, 2)}, {1, 0},
      {0, 1},    {dim3(1, 65536), 1}, {dim3(1, 1, 65536), 1}, {0x80000000u, 1}};
  for (const auto& launch : illegal) {
    nothing<<<launch.grid, launch.block>>>();
    CHECK_ERROR(launched(), configuration);
  }
  nothing<<<dim3(1, 65535), 1>>>();
  CHECK_CUDA(cudaGetLastError());
  bounded<<<1, 129>>>();
  CHECK_ERROR(launched(), cudaErrorInvalidValue);

  int* none = nullptr;
  dynamic<<<1, 1, 49152>>>(none);
  CHECK_CUDA(cudaGetLastError());
  dynamic<<<1, 1, 49153>>>(none);
  CHECK_ERROR(launched(), cudaErrorInvalidValue);
  CHECK_CUDA(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  dynamic<<<1, 1, 100000>>>(none);
  CHECK_CUDA(cudaGetLastError());
  dynamic<<<1, 1, 100001>>>(none);
  CHECK_ERROR(launched(), cudaErrorInvalidValue);
  const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK_ERROR(cudaFuncSetAttribute((const void*)dynamic, most, 232449), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFuncSetAttribute(dynamic, most, -1), cudaErrorInvalidValue);
  static_and_dynamic<<<1, 1, 8192>>>(none);
  CHECK_CUDA(cudaGetLastError());
  static_and_dynamic<<<1, 1, 8193>>>(none);
  CHECK_ERROR(launched(), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFuncSetAttribute(static_and_dynamic, most, 232449 - 40960),
              cudaErrorInvalidValue);
  CHECK_CUDA(cudaFuncSetAttribute(static_and_dynamic, most, 232448 - 40960));
  CHECK_ERROR(cudaLaunchKernel((const void*)nullptr, dim3(1), dim3(1), nullptr, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
  CHECK_ERROR(cudaLaunchCooperativeKernel(nothing, dim3(100000), dim3(1024), nullptr, 0, nullptr),
              cudaErrorCooperativeLaunchTooLarge);
}

void test_memory() {
  std::vector<int> host(64), back(64);
  for (int i = 0; i < 64; ++i) host[i] = i;
  int* device = nullptr;
  const size_t bytes = 64 * sizeof(int);
  CHECK_CUDA(cudaMalloc(&device, bytes));
  CHECK_CUDA(cudaMemcpy(device, host.data(), bytes, cudaMemcpyDefault));
  CHECK_CUDA(cudaMemcpyAsync(back.data(), device, bytes, cudaMemcpyDeviceToHost, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(back == host);
  // A 4 x 5 corner of rows of 8 into rows of 16.
  CHECK_CUDA(cudaMemset(device, 0, bytes));
  CHECK_CUDA(cudaMemcpy2D(device, 64, host.data(), 32, 20, 4, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(back.data(), device, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) CHECK(back[i] == (i % 16 < 5 ? i / 16 * 8 + i % 16 : 0));
  CHECK_CUDA(cudaMemset2D(device, 64, 0xff, 8, 4));
  CHECK_CUDA(cudaMemcpy(back.data(), device, bytes, cudaMemcpyDeviceToHost));
  CHECK(back[16] == -1 && back[17] == -1 && back[18] == 10);

  int *managed = nullptr, *pinned = nullptr, *pitched = nullptr;
  size_t pitch = 0, free_bytes = 0, total_bytes = 0;
  CHECK_CUDA(cudaMallocManaged(&managed, bytes));
  CHECK_CUDA(cudaMallocHost(&pinned, bytes));
  CHECK_CUDA(cudaMallocPitch(&pitched, &pitch, 100, 10));
  CHECK(pitch == 512);
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  CHECK(free_bytes < total_bytes);
  fill<<<1, 64>>>(managed, 3);
  CHECK_CUDA(cudaMemcpy(pinned, managed, bytes, cudaMemcpyDeviceToHost));
  CHECK(managed[63] == 3 && pinned[0] == 3);
  const struct {
    const void* pointer;
    cudaMemoryType type;
  } kinds[] = {{device, cudaMemoryTypeDevice},
               {pinned, cudaMemoryTypeHost},
               {managed, cudaMemoryTypeManaged},
               {host.data(), cudaMemoryTypeUnregistered}};
  for (const auto& kind : kinds) {
    cudaPointerAttributes attributes;
    CHECK_CUDA(cudaPointerGetAttributes(&attributes, kind.pointer));
    CHECK(attributes.type == kind.type);
  }

  CHECK_ERROR(cudaMemcpy(host.data(), device, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(device, host.data(), 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(device, host.data(), 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy(device, host.data(), 4, cudaMemcpyKind(7)),
              cudaErrorInvalidMemcpyDirection);
  CHECK_ERROR(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpy2D(device, 4, host.data(), 4, 8, 2, cudaMemcpyHostToDevice),
              cudaErrorInvalidPitchValue);
  CHECK_ERROR(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFree(host.data()), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFree(device + 1), cudaErrorInvalidValue);
  CHECK_ERROR(cudaFree(pinned), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMalloc(&device, size_t{1} << 50), cudaErrorMemoryAllocation);
  CHECK_ERROR(cudaMemcpyToSymbol(symbol, host.data(), 17), cudaErrorInvalidValue);
  CHECK_ERROR(cudaMemcpyToSymbol(symbol, host.data(), 4, 0, cudaMemcpyDeviceToHost),
              cudaErrorInvalidMemcpyDirection);
  cudaMemPool_t pool;
  unsigned long long threshold = ~0ull;
  CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  int* pooled = nullptr;
  CHECK_CUDA(cudaMallocAsync(&pooled, bytes, nullptr));
  fill<<<1, 64>>>(pooled, 4);
  CHECK_CUDA(cudaMemcpyAsync(back.data(), pooled, bytes, cudaMemcpyDeviceToHost, nullptr));
  CHECK_CUDA(cudaFreeAsync(pooled, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(back[63] == 4);
  CHECK_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  CHECK_CUDA(cudaFree(nullptr));
  CHECK_CUDA(cudaFree(managed));
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaFree(pitched));
  CHECK_ERROR(cudaFree(pitched), cudaErrorInvalidValue);
}

void test_streams_and_events() {
  cudaStream_t first, second;
  CHECK_CUDA(cudaStreamCreate(&first));
  CHECK_CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(first != second);
  cudaEvent_t start, end, untimed;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&end));
  CHECK_CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float milliseconds = -1;
  CHECK_ERROR(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  CHECK_CUDA(cudaEventRecord(start, first));
  nothing<<<100, 256, 0, first>>>();
  CHECK_CUDA(cudaEventRecord(untimed, first));
  CHECK_CUDA(cudaStreamWaitEvent(second, untimed, 0));
  CHECK_CUDA(cudaEventRecord(end, first));
  CHECK_CUDA(cudaEventSynchronize(end));
  CHECK_CUDA(cudaEventQuery(end));
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds > 0 && milliseconds < 60000);
  CHECK_ERROR(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  int called = 0;
  CHECK_CUDA(cudaLaunchHostFunc(second, [](void* data) { *static_cast<int*>(data) = 1; }, &called));
  CHECK_CUDA(cudaStreamSynchronize(second));
  CHECK(called == 1);
  CHECK_CUDA(cudaStreamQuery(first));
  CHECK_CUDA(cudaStreamDestroy(first));
  CHECK_CUDA(cudaStreamDestroy(second));
  CHECK_CUDA(cudaEventDestroy(start));
  CHECK_ERROR(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  CHECK_ERROR(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
}

void test_device() {
  int count = 0, device = -1, value = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK(count >= 1 && device == 0);
  CHECK_ERROR(cudaSetDevice(99), cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  CHECK(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
  CHECK(properties.major == 9 && properties.sharedMemPerBlock == 49152);
  CHECK(properties.maxGridSize[1] == 65535 && properties.maxThreadsDim[2] == 64);
  const struct {
    cudaDeviceAttr attribute;
    int value;
  } attributes[] = {{cudaDevAttrMaxThreadsPerBlock, 1024},
                    {cudaDevAttrMaxSharedMemoryPerBlockOptin, 232448},
                    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 233472},
                    {cudaDevAttrComputeCapabilityMajor, 9},
                    {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
                    {cudaDevAttrCooperativeLaunch, 1}};
  for (const auto& row : attributes) {
    CHECK_CUDA(cudaDeviceGetAttribute(&value, row.attribute, 0));
    CHECK(value == row.value);
  }
  CHECK_ERROR(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9), cudaErrorInvalidDevice);
  const int occupancy[][2] = {{32, 32}, {33, 32}, {128, 16}, {1024, 2}, {1025, 0}};
  for (const auto& row : occupancy) {
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, row[0], 0));
    CHECK(value == row[1]);
  }
  CHECK_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 0, 0),
              cudaErrorInvalidValue);
  int grid = 0, block = 0;
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  CHECK(block == 128 && grid == 16 * properties.multiProcessorCount);
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 100));
  CHECK(block == 64 && grid == 32 * properties.multiProcessorCount);
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 33));
  CHECK(block == 33 && grid == 32 * properties.multiProcessorCount);

  // Dynamic shared memory beyond 48 KiB: nothing fits before it is admitted.
  const auto bytes_of_block = [](int threads) { return size_t(threads) * 50; };
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, optional, 32, 49152));
  CHECK(value == 4);
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, optional, 32, 50000));
  CHECK(value == 0);
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, optional, 50000, 0));
  CHECK(block == 0 && grid == 0);
  CHECK_CUDA(
      cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, optional, bytes_of_block, 0));
  CHECK(block == 512 && grid == 4 * properties.multiProcessorCount);
  CHECK_CUDA(cudaFuncSetAttribute(optional, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, optional, 32, 50000));
  CHECK(value == 4);
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &value, (const void*)optional, 32, 50001, cudaOccupancyDefault));
  CHECK(value == 0);
  CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, optional, 50000, 0));
  CHECK(block == 1024 && grid == 2 * properties.multiProcessorCount);
  CHECK(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
}

int main() {
  test_device();
  test_memory();
  test_streams_and_events();
  test_illegal_launches();
  std::printf("host_api: %d failed\n", failed_checks);
  return failed_checks;
}
