// The CPU device: kernel objects run in this process on the SIMT runtime.
#include <memory>
#include <utility>

#include "kernels/device.h"
#include "kernels/simt/call_arguments.h"
#include "kernels/simt/device_memory.h"
#include "kernels/simt/image_shadow.h"
#include "kernels/simt/kernel_object.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

namespace warpfuzz {

namespace {

class CpuKernel final : public Kernel {
 public:
  explicit CpuKernel(simt::KernelObject object) : object_(std::move(object)) {}

  std::string preconditions() const override {
    const char* text = object_.preconditions != nullptr ? object_.preconditions() : nullptr;
    return text != nullptr ? text : "";
  }

  size_t workspace_bytes(const Case& c) override {
    if (object_.workspace == nullptr) return 0;
    size_t bytes = 0;
    const WfCall& call = arguments_.build(c);
    execute(
        [&] {
          bytes = object_.workspace(&call);
          return WF_OK;
        },
        nullptr, {});
    return bytes;
  }

  RunResult run(const Case& c, MemoryImage& image, const RunOptions& options) override {
    const WfCall& call = arguments_.build(c, image);
    const simt::ImageShadow shadow(image);
    RunResult result = execute([&] { return object_.entry(&call); }, &image, options);
    const auto& [begin, end] = object_.counters;
    result.coverage.assign(reinterpret_cast<const uint8_t*>(begin),
                           reinterpret_cast<const uint8_t*>(end));
    return result;
  }

  bool reset() override {
    object_.state.restore();
    simt::free_allocations_of(object_.code);
    return true;
  }

  void resolve_positions(std::vector<Fault>& faults) const override {
    simt::resolve_positions(faults, object_);
  }

 private:
  template <class Body>
  RunResult execute(const Body& body, MemoryImage* image, const RunOptions& options) {
    simt::shared_memory.select(object_.shared);
    simt::race::detector.begin_run(object_, image);
    const auto call_body = [](const void* data) -> int {
      return (*static_cast<const Body*>(data))();
    };
    RunResult result = simt::execute(call_body, &body, options, object_.code);
    simt::race::detector.end_run();
    return result;
  }

  simt::KernelObject object_;
  simt::CallArguments arguments_;
};

class CpuDevice final : public Device {
 public:
  std::unique_ptr<Kernel> load(const std::filesystem::path& file, const Schema*) override {
    return std::make_unique<CpuKernel>(simt::load_kernel_object(file));
  }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace warpfuzz
