// One call for tools that watch a process's accesses (compute-sanitizer): every tensor in an
// allocation of its own that ends with its last element, far from the others, so that the tool
// knows what lies outside; outputs and workspace are never written before the call, so that it
// knows what is not initialised. Nothing is judged and no output is read. (An input that starts off
// the 256-byte grid has up to 255 bytes of its allocation before it.)
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/session.h"
#include "schemas/case.h"
#include "schemas/tensor.h"

namespace warpfuzz::cuda {

struct PlacedTensor {
  std::string name;  // of the schema, or "workspace"
  DevicePointer allocation = 0;
  size_t bytes = 0;
};

struct SeparateCall {
  std::vector<PlacedTensor> tensors;
  std::string outcome;   // "WF_OK", or what failed; empty before the call
  bool running = false;  // the kernel has not ended: nothing on the device can be given back
};

// `report` is called before the kernel is, in case that does not come back, and after it. `file` as
// for Device::load(). Throws KernelError and DeviceUnavailable.
void call_separately(int device, const std::filesystem::path& file, const Case& c,
                     std::span<const Tensor> inputs, std::chrono::milliseconds time_limit,
                     const std::function<void(const SeparateCall&)>& report);

}  // namespace warpfuzz::cuda
