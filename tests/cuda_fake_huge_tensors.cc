// huge_tensors.cu for the fake driver: the same elements, loops on the host.
#include <cstring>
#include <string_view>

#include "kernels/cuda/huge_elements.h"
#include "kernels/warpfuzz_kernel.h"

namespace {

using namespace warpfuzz;

const WfAttribute& attribute(const WfCall* call, std::string_view name) {
  for (int i = 0; i < call->num_attributes; ++i) {
    if (call->attributes[i].name == name) return call->attributes[i];
  }
  static const WfAttribute none{};
  return none;
}

huge::Elements elements_of(const WfCall* call) {
  return {RandomLaw(static_cast<ValueLaw>(attribute(call, "law").integer),
                    static_cast<uint64_t>(attribute(call, "seed").integer),
                    static_cast<int>(attribute(call, "lowest").integer),
                    attribute(call, "largest").real),
          encodings[attribute(call, "dtype").integer]};
}

template <class Counted>
void count(const DLTensor& x, Counted counted, uint64_t* result) {
  const size_t bytes = x.dtype.bits / 8u;
  result[0] = 0;
  result[1] = ~uint64_t{0};
  result[2] = 0;
  for (uint64_t i = 0; i < static_cast<uint64_t>(x.shape[0]); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(x.data) + i * bytes, bytes);
    if (!counted(i, bits)) continue;
    if (result[0]++ == 0) result[1] = i;
    result[2] += huge::index_hash(i);
  }
}

}  // namespace

extern "C" {

int fake_other_values = 0;  // set: the device does not make the host's values

WfStatus warpfuzz_kernel(const WfCall* call) {
  const auto task = static_cast<huge::Task>(attribute(call, "task").integer);
  const huge::Elements elements = elements_of(call);
  if (task == huge::Task::fill) {
    const DLTensor& y = call->outputs[0];
    const size_t bytes = y.dtype.bits / 8u;
    for (uint64_t i = 0; i < static_cast<uint64_t>(y.shape[0]); ++i) {
      const uint64_t bits = elements(i) ^ static_cast<uint64_t>(fake_other_values);
      std::memcpy(static_cast<char*>(y.data) + i * bytes, &bits, bytes);
    }
    return WF_OK;
  }
  if (task == huge::Task::mark_all_ones) {
    const DLTensor& y = call->outputs[0];
    const size_t bytes = y.dtype.bits / 8u;
    for (uint64_t i = 0; i < static_cast<uint64_t>(y.shape[0]); ++i) {
      char* const element = static_cast<char*>(y.data) + i * bytes;
      const uint64_t ones = ~uint64_t{0};
      if (std::memcmp(element, &ones, bytes) == 0) std::memcpy(element, &huge::mark, bytes);
    }
    return WF_OK;
  }
  const DLTensor& x = call->inputs[0];
  auto* const result = static_cast<uint64_t*>(call->outputs[0].data);
  if (task == huge::Task::count_other) {
    count(x, huge::Differs{elements}, result);
  } else {
    const uint64_t wanted = task == huge::Task::count_marks ? huge::mark : ~uint64_t{0};
    count(x, huge::Equals{wanted & ~uint64_t{0} >> (64u - x.dtype.bits)}, result);
  }
  return WF_OK;
}
}
