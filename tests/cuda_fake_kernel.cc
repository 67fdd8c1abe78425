// A kernel object as compile_cuda.h makes them, for the fake driver: ReLU on float32, with counters
// and a report, and ways to go wrong that the test chooses.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime_report.h"
#include "kernels/warpfuzz_kernel.h"

namespace {

constexpr int64_t large = 100'000;  // elements: no trial has as many
std::map<const void*, std::vector<float>> remembered;

int& of_driver(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return *static_cast<int*>(dlsym(driver, name));
}
// The result that the first call of the shape had.
WfStatus first_of_its_shape(const WfCall* call) {
  const DLTensor &x = call->inputs[0], &y = call->outputs[0];
  static std::map<std::pair<int64_t, int64_t>, std::vector<float>> first;
  const auto [known, added] = first.try_emplace({x.shape[0], x.shape[1]});
  size_t at = 0;
  for (int64_t i = 0; i < x.shape[0]; ++i) {
    for (int64_t j = 0; j < x.shape[1]; ++j, ++at) {
      const float value = static_cast<const float*>(x.data)[i * x.strides[0] + j * x.strides[1]];
      if (added) known->second.push_back(value < 0 ? 0.0f : value);
      static_cast<float*>(y.data)[i * y.strides[0] + j * y.strides[1]] = known->second[at];
    }
  }
  return WF_OK;
}
// Of the product, with one wrong element if so wanted.
void multiply(const WfCall* call, bool wrong) {
  const DLTensor &a = call->inputs[0], &b = call->inputs[1], &c = call->outputs[0];
  const auto* const x = static_cast<const float*>(a.data);
  const auto* const y = static_cast<const float*>(b.data);
  auto* const z = static_cast<float*>(c.data);
  const int64_t columns = b.shape[1], elements = a.shape[0] * columns;
  for (int64_t i = 0; i < elements; ++i) {
    z[i] = 0;
    for (int64_t k = 0; k < b.shape[0]; ++k) {
      z[i] += x[i / columns * b.shape[0] + k] * y[k * columns + i % columns];
    }
  }
  if (wrong && elements >= large) z[elements / 3] += 1e-4f;
}

// Codes and scales of rows. `unwritten` has the last row's codes left out where there are many.
void quantize(const WfCall* call, bool unwritten, bool unsteady) {
  const int64_t rows = call->inputs[0].shape[0], columns = call->inputs[0].shape[1];
  auto* const codes = static_cast<int8_t*>(call->outputs[0].data);
  auto* const scales = static_cast<float*>(call->outputs[1].data);
  int moved = 0;  // one code away from -1, and another one to the mark's
  for (int64_t i = 0; i < rows; ++i) {
    const float* const x = static_cast<const float*>(call->inputs[0].data) + i * columns;
    float largest = 0;
    for (int64_t j = 0; j < columns; ++j) largest = std::max(largest, std::fabs(x[j]));
    scales[i] = largest / 127;
    if (unwritten && rows * columns >= large && i == rows - 1) return;
    for (int64_t j = 0; j < columns; ++j) {
      int8_t& code = codes[i * columns + j];
      code = static_cast<int8_t>(largest > 0 ? std::nearbyint(x[j] / scales[i]) : 0);
      if (!unsteady) continue;
      if (moved == 0 && code == -1) code = 0, moved = 1;
      if (moved == 1 && code == 7) code = 0x5A, moved = 2;
    }
  }
}

bool is_timed() { return of_driver("fake_timing") != 0; }

}  // namespace

extern "C" {

enum FakeFault {
  fake_none,
  fake_error,
  fake_throw,
  fake_past_end,
  fake_other_stream,
  fake_unnoticed,
  // While somebody takes its time:
  fake_lazy,       // writes nothing
  fake_careless,   // one element is wrong
  fake_elsewhere,  // launches on another stream
  // At any time, in calls too large for trials:
  fake_remembers,  // gives what it gave last time for inputs at this address
  fake_wrong_when_large,
  fake_tail_unwritten,  // the last row of a large call
  fake_input_mutated,   // when large
  fake_rejects,         // when large
  fake_out_of_memory,
  fake_illegal_address,
  fake_unsteady,  // codes of each second call are others
  fake_fails_again
};
int fake_fault = fake_none;
uint32_t fake_coverage[2];
void* fake_stream_of_call = nullptr;
int fake_device_type = 0;
WfCudaReport fake_report;

const char warpfuzz_cuda_coverage_map[] =
    "{\"counters\":[],\"constants\":[],\"files\":[],\"lines\":[]}";

void warpfuzz_cuda_begin(void* stream) {
  fake_stream_of_call = stream;
  fake_report = {};
}
void warpfuzz_cuda_end(WfCudaReport* report) { *report = fake_report; }
int warpfuzz_cuda_coverage_bits(uint64_t* address, uint64_t* count) {
  *address = reinterpret_cast<uint64_t>(fake_coverage);
  *count = 40;
  return 0;
}
const char* fake_preconditions = "T == float32 && U == float32";
const char* warpfuzz_preconditions() { return fake_preconditions; }
uint64_t warpfuzz_workspace(const WfCall* call) {
  return static_cast<uint64_t>(call->inputs[0].shape[1]);
}

WfStatus warpfuzz_kernel(const WfCall* call) {
  const DLTensor& x = call->inputs[0];
  const DLTensor& y = call->outputs[0];
  fake_device_type = x.device.device_type;
  fake_report.launches += 1;
  fake_report.registers = 32;
  fake_coverage[x.shape[1] > 8 ? 1 : 0] = 1u << 7;
  if (call->num_inputs == 2) {
    multiply(call, fake_fault == fake_wrong_when_large);
    return WF_OK;
  }
  if (call->num_outputs == 2) {
    const bool again = !std::isnan(*static_cast<float*>(call->outputs[1].data));
    if (fake_fault == fake_fails_again && again) return WF_ERROR;
    quantize(call, fake_fault == fake_tail_unwritten, fake_fault == fake_unsteady && again);
    return WF_OK;
  }
  if (fake_fault == fake_error) return WF_ERROR;
  if (std::getenv("FAKE_KERNEL_REMEMBERS") != nullptr) return first_of_its_shape(call);
  if (fake_fault == fake_illegal_address) of_driver("fake_stream_status") = 700;
  if (fake_fault == fake_throw) throw std::runtime_error("no luck");
  if (fake_fault == fake_other_stream) fake_report.foreign_launches = 1;
  if (fake_fault == fake_unnoticed) {
    fake_report.launches = 0;
    fake_report.failed_launches = 1;
    std::strcpy(fake_report.message, "invalid configuration argument");
  }
  const int64_t elements = x.shape[0] * x.shape[1];
  if (fake_fault == fake_rejects && elements >= large) return WF_UNSUPPORTED;
  if (fake_fault == fake_out_of_memory) {
    std::strcpy(fake_report.message, "out of memory");
    return WF_ERROR;
  }
  const int64_t rows =
      x.shape[0] - (fake_fault == fake_tail_unwritten && elements >= large ? 1 : 0);
  float* const result = static_cast<float*>(y.data);
  if (fake_fault == fake_lazy && is_timed()) return WF_OK;
  if (fake_fault == fake_elsewhere && is_timed()) fake_report.foreign_launches += 1;
  if (fake_fault == fake_remembers && elements >= large && remembered.contains(x.data)) {
    std::memcpy(result, remembered[x.data].data(), static_cast<size_t>(elements) * sizeof(float));
    return WF_OK;
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < x.shape[1]; ++j) {
      const float value = static_cast<const float*>(x.data)[i * x.strides[0] + j * x.strides[1]];
      static_cast<float*>(y.data)[i * y.strides[0] + j * y.strides[1]] = value < 0 ? 0 : value;
    }
  }
  if (fake_fault == fake_careless && is_timed()) result[elements / 2] += 1;
  if (fake_fault == fake_wrong_when_large && elements >= large) result[0] += 1;
  if (fake_fault == fake_input_mutated && elements >= large) {
    static_cast<float*>(x.data)[elements / 2] = 7;
  }
  if (fake_fault == fake_remembers && elements >= large) {
    remembered[x.data].assign(result, result + elements);
  }
  std::memset(call->workspace, 1, call->workspace_bytes);
  if (fake_fault == fake_past_end) {
    static_cast<float*>(y.data)[y.shape[0] * y.shape[1]] = 1;
  }
  return WF_OK;
}
}
