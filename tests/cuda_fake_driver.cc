// A CUDA driver without a GPU, for tests of the device's host side: device memory is host memory, a
// stream does its work at once, PTX is interpreted. Built as libcuda.so.1 in a directory of its
// own.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "tests/ptx_interpreter.h"

using warpfuzz::test::PtxEntry;
using warpfuzz::test::PtxProgram;

extern "C" {

// What the next calls of cuStreamQuery return; set by the test through dlsym.
int fake_stream_status = 0;
// Bytes that crossed, to see which path was taken.
uint64_t fake_copied_bytes = 0;
uint64_t fake_live_allocations = 0;
uint64_t fake_free_bytes = uint64_t{1} << 30;
// A clock that moves 10 us with each event and a nanosecond with each kilobyte copied on the
// device.
double fake_milliseconds = 0;
uint64_t fake_events = 0;
// An event was recorded and the one that ends its time not yet.
int fake_timing = 0;

// As the real one: what a process has begun, its children cannot go on with.
static pid_t owner = 0;
int cuInit(unsigned) {
  if (owner == 0) owner = getpid();
  return owner == getpid() ? 0 : 3;  // CUDA_ERROR_NOT_INITIALIZED
}
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
  // Clock in kHz, multiprocessors, bytes of L2 cache, compute capability, shared bytes of a block.
  constexpr int attributes[][2] = {{13, 1000000}, {16, 100}, {38, 1 << 20}, {75, 9}, {97, 1 << 16}};
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
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = fake_free_bytes;
  *total = uint64_t{64} << 30;
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
struct FakeModule;
struct FakeFunction {
  FakeModule* module;
  const PtxEntry* entry;
};
struct FakeModule {
  PtxProgram program;
  std::deque<FakeFunction> functions = {};  // that somebody asked for
};
int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names,
                       void** values) {
  try {
    *module = new FakeModule{PtxProgram(static_cast<const char*>(image))};
  } catch (const warpfuzz::ptx::PtxError& error) {
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == 5) std::strncpy(static_cast<char*>(values[i]), error.what(), 100);
    }
    return 218;  // CUDA_ERROR_INVALID_PTX
  }
  return 0;
}
int cuModuleUnload(void* module) {
  delete static_cast<FakeModule*>(module);
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto* const fake = static_cast<FakeModule*>(module);
  for (const PtxEntry& entry : fake->program.entries()) {
    if (entry.name != name) continue;
    *function = &fake->functions.emplace_back(fake, &entry);
    return 0;
  }
  return 500;  // CUDA_ERROR_NOT_FOUND
}
int cuModuleGetFunctionCount(unsigned* count, void* module) {
  *count = static_cast<unsigned>(static_cast<FakeModule*>(module)->program.entries().size());
  return 0;
}
int cuModuleEnumerateFunctions(void** functions, unsigned count, void* module) {
  const auto& entries = static_cast<FakeModule*>(module)->program.entries();
  for (unsigned i = 0; i < count; ++i) {
    cuModuleGetFunction(&functions[i], module, entries[i].name.c_str());
  }
  return 0;
}
int cuFuncGetName(const char** name, void* function) {
  *name = static_cast<FakeFunction*>(function)->entry->name.c_str();
  return 0;
}
int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) {
  const auto& parameters = static_cast<FakeFunction*>(function)->entry->parameters;
  if (index >= parameters.size()) return 1;
  *offset = parameters[index].offset;
  *bytes = parameters[index].bytes;
  return 0;
}
int cuModuleGetGlobal_v2(uint64_t* pointer, size_t* bytes, void* module, const char* name) {
  auto* const variable = static_cast<FakeModule*>(module)->program.variable(name);
  if (variable == nullptr) return 500;
  *pointer = reinterpret_cast<uint64_t>(variable->data());
  *bytes = variable->size();
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? 1024 : attribute == 4 ? 24 : 0;  // threads, registers
  return 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void*, void** arguments, void**) {
  const uint64_t threads = uint64_t{block_x} * block_y * block_z;
  if (threads == 0 || threads > 1024 || shared_bytes > 1 << 16) return 1;
  const auto* const fake = static_cast<FakeFunction*>(function);
  // A test may have the so manieth call of a process lose it the device, or calls of so many
  // blocks.
  static int launches = 0;
  const char* const fault_at = std::getenv("FAKE_FAULT_AT");
  const char* const fault_from = std::getenv("FAKE_FAULT_FROM_BLOCKS");
  if (fake->entry->name != "collect") {
    if (fault_at != nullptr && ++launches == std::atoi(fault_at)) fake_stream_status = 700;
    if (fault_from != nullptr && std::cmp_greater_equal(grid_x, std::atoi(fault_from))) {
      fake_stream_status = 700;
    }
  }
  fake->module->program.run(
      *fake->entry,
      {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, arguments});
  return 0;
}
int cuGetErrorName(int, const char** text) {
  *text = "CUDA_ERROR_FAKE";
  return 0;
}
int cuGetErrorString(int status, const char** text) {
  *text = status == 1 ? "invalid argument" : "a fake error";
  return 0;
}
}
