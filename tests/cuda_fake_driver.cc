// A CUDA driver without a GPU, for tests of the device's host side: device memory is host memory, a
// stream does its work at once. Built as libcuda.so.1 in a directory of its own.
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

// What the next calls of cuStreamQuery return; set by the test through dlsym.
int fake_stream_status = 0;
// Bytes that crossed, to see which path was taken.
uint64_t fake_copied_bytes = 0;
uint64_t fake_live_allocations = 0;
// A clock that moves 10 us with each event and a nanosecond with each kilobyte copied on the
// device.
double fake_milliseconds = 0;
uint64_t fake_events = 0;
// An event was recorded and the one that ends its time not yet.
int fake_timing = 0;

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "fake", static_cast<size_t>(bytes));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  // Clock in kHz, multiprocessors, bytes of L2 cache, compute capability.
  constexpr int attributes[][2] = {{13, 1000000}, {16, 100}, {38, 1 << 20}, {75, 9}};
  *value = 0;
  for (const auto& [known, of_device] : attributes) {
    if (known == attribute) *value = of_device;
  }
  return 0;
}
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned) { return 0; }
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &fake_stream_status;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuStreamCreate(void** stream, unsigned) {
  *stream = &fake_copied_bytes;
  return 0;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamQuery(void* stream) { return stream == nullptr ? 0 : fake_stream_status; }
int cuStreamSynchronize(void*) { return fake_stream_status; }
int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  ++fake_live_allocations;
  *pointer = reinterpret_cast<uint64_t>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(uint64_t pointer) {
  --fake_live_allocations;
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  ++fake_live_allocations;
  *pointer = std::malloc(bytes);
  return 0;
}
int cuMemFreeHost(void* pointer) {
  --fake_live_allocations;
  std::free(pointer);
  return 0;
}
int cuMemHostGetDevicePointer_v2(uint64_t* pointer, void* host, unsigned) {
  *pointer = reinterpret_cast<uint64_t>(host);
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  fake_copied_bytes += bytes;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  fake_copied_bytes += bytes;
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  fake_milliseconds += static_cast<double>(bytes) * 1e-9;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = new double(0);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<double*>(event);
  return 0;
}
int cuEventRecord(void* event, void*) {
  ++fake_events;
  fake_timing = fake_timing == 0;
  fake_milliseconds += 0.01;
  *static_cast<double*>(event) = fake_milliseconds;
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  *milliseconds = static_cast<float>(*static_cast<double*>(to) - *static_cast<double*>(from));
  return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
int cuGetErrorName(int, const char** text) {
  *text = "CUDA_ERROR_FAKE";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "a fake error";
  return 0;
}
}
