// What the CUDA device calls when it runs a kernel: a shared object with an entry point in C
// (kernel_object.h), or a PTX or cubin module with a manifest that says how to launch it
// (module_kernel.h). Everything a call does is queued on the call's stream.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "kernels/cuda/runtime_report.h"
#include "kernels/cuda/session.h"
#include "kernels/warpfuzz_kernel.h"
#include "schemas/case.h"

namespace warpfuzz::cuda {

// Where the device's counters lie, a bit each in words of 32 (ptx/instrument.h).
struct CounterArray {
  DevicePointer address = 0;
  size_t count = 0;
};

class KernelCode {
 public:
  virtual ~KernelCode() = default;
  virtual std::string preconditions() const = 0;
  // `query` is the call without data.
  virtual uint64_t workspace_bytes(const Case& c, const WfCall& query) = 0;
  // May throw what the kernel's own host code throws.
  virtual WfStatus call(const Case& c, const WfCall& call) = 0;
  // Before and after call(): what it asked of the runtime, where that is known.
  virtual void begin(void* stream) = 0;
  virtual std::optional<WfCudaReport> end() = 0;
  // Throws KernelError if the device code cannot be loaded.
  virtual CounterArray counters() const = 0;
  // What the counters mean (ptx/coverage_map.h), as JSON; "" if there are none.
  virtual std::string coverage_map() const = 0;
  // Nothing that one call leaves on the device is seen by the next.
  virtual bool stateless() const = 0;
  // The same code with variables of its own; none where it cannot have them. Throws KernelError.
  virtual std::unique_ptr<KernelCode> load_again() const { return nullptr; }
};

// `path` is a shared object, or the manifest of a module (.json), which speaks of `schema`'s axes
// and tensors; `instrument` adds counters to PTX. Throws KernelError.
std::unique_ptr<KernelCode> load_kernel_code(const Session& session,
                                             const std::filesystem::path& path,
                                             const Schema* schema, bool instrument);

}  // namespace warpfuzz::cuda
