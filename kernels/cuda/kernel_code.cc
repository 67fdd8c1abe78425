#include "kernels/cuda/kernel_code.h"

#include <fmt/format.h>

#include "kernels/cuda/kernel_object.h"
#include "kernels/cuda/module_kernel.h"
#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

class ObjectCode final : public KernelCode {
 public:
  explicit ObjectCode(KernelObject object) : object_(std::move(object)) {}

  std::string preconditions() const override {
    const char* text = object_.preconditions != nullptr ? object_.preconditions() : nullptr;
    return text != nullptr ? text : "";
  }
  uint64_t workspace_bytes(const Case&, const WfCall& query) override {
    return object_.workspace != nullptr ? object_.workspace(&query) : 0;
  }
  WfStatus call(const Case&, const WfCall& call) override { return object_.entry(&call); }

  void begin(void* stream) override {
    if (object_.begin != nullptr) object_.begin(stream);
  }
  std::optional<WfCudaReport> end() override {
    if (object_.end == nullptr) return std::nullopt;
    WfCudaReport report{};
    object_.end(&report);
    return report;
  }

  CounterArray counters() const override {
    if (object_.coverage == nullptr) return {};
    uint64_t address = 0, count = 0;
    if (const int error = object_.coverage(&address, &count); error != 0) {
      throw KernelError(fmt::format(
          "{}: its device code does not load (CUDA error {}); is it built for this GPU's "
          "architecture?",
          object_.path.string(), error));
    }
    return {address, count};
  }
  std::string coverage_map() const override {
    return object_.coverage_map != nullptr ? object_.coverage_map : "";
  }
  // The runtime's own state lies among the kernel's.
  bool stateless() const override { return false; }
  std::unique_ptr<KernelCode> load_again() const override {
    return std::make_unique<ObjectCode>(load_copy(object_));
  }

 private:
  KernelObject object_;
};

}  // namespace

std::unique_ptr<KernelCode> load_kernel_code(const Session& session,
                                             const std::filesystem::path& path,
                                             const Schema* schema, bool instrument) {
  if (path.extension() != ".json") {
    return std::make_unique<ObjectCode>(load_kernel_object(path));
  }
  if (schema == nullptr) {
    throw KernelError(
        fmt::format("{}: speaks of an operator's axes, but none is given here", path.string()));
  }
  return load_module_kernel(session, path, *schema, instrument);
}

}  // namespace warpfuzz::cuda
