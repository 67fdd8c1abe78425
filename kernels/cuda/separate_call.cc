#include "kernels/cuda/separate_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "kernels/cuda/device_arguments.h"
#include "kernels/cuda/kernel_code.h"
#include "kernels/memory_image.h"
#include "schemas/check.h"

namespace warpfuzz::cuda {
namespace {

constexpr size_t grid_bytes = 256;
// Nothing is allocated there while the kernel runs.
constexpr size_t distance = size_t{1} << 20;

class Allocations {
 public:
  explicit Allocations(const Session& session) : session_(session) {}
  ~Allocations() {
    for (DevicePointer pointer : pointers_) session_.driver().free(pointer);
  }
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  DevicePointer add(size_t bytes) {
    pointers_.push_back(allocate(bytes));
    spacers_.push_back(allocate(distance));
    return pointers_.back();
  }
  void free_spacers() {
    for (DevicePointer spacer : spacers_) session_.driver().free(spacer);
    spacers_.clear();
  }

 private:
  DevicePointer allocate(size_t bytes) {
    DevicePointer pointer = 0;
    session_.driver().check(session_.driver().allocate(&pointer, std::max<size_t>(bytes, 1)),
                            fmt::format("{} bytes on the device for a tensor", bytes));
    return pointer;
  }

  const Session& session_;
  std::vector<DevicePointer> pointers_;
  std::vector<DevicePointer> spacers_;
};

std::string name_of(const Schema& schema, const Region& region) {
  switch (region.kind) {
    case RegionKind::input:
      return schema.inputs[region.tensor].name;
    case RegionKind::output:
      return schema.outputs[region.tensor].name;
    default:
      return "workspace";
  }
}

std::string outcome_of(const Session& session, WfStatus returned, const std::string& thrown,
                       Status status, std::chrono::milliseconds time_limit) {
  if (!thrown.empty()) return "the kernel threw: " + thrown;
  if (status == not_ready) {
    return fmt::format("the kernel does not end within {} ms", time_limit.count());
  }
  if (status != success) return session.driver().describe(status);
  return returned == WF_OK ? "WF_OK" : returned == WF_UNSUPPORTED ? "WF_UNSUPPORTED" : "WF_ERROR";
}

}  // namespace

void call_separately(int device, const std::filesystem::path& file, const Case& c,
                     std::span<const Tensor> inputs, std::chrono::milliseconds time_limit,
                     const std::function<void(const SeparateCall&)>& report) {
  const Session session(device);
  const Driver& driver = session.driver();
  const std::unique_ptr<KernelCode> code =
      load_kernel_code(session, file, c.schema.get(), /*instrument=*/false);
  DeviceArguments arguments;
  MemoryImage image;
  image.compose(c, inputs, code->workspace_bytes(c, arguments.query(c)), nan_fill, 0);

  SeparateCall result;
  Allocations allocations(session);
  std::vector<std::pair<size_t, DevicePointer>> moved;  // first byte in the image, on the device
  for (const Region& region : image.regions()) {
    if (region.kind == RegionKind::guard) continue;
    const size_t before = region.begin % grid_bytes;  // keeps the alignment
    const size_t bytes = region.end - region.begin;
    const DevicePointer allocation = allocations.add(before + bytes);
    moved.emplace_back(region.begin, allocation + before);
    result.tensors.push_back({name_of(*c.schema, region), allocation, before + bytes});
    if (region.kind != RegionKind::input || bytes == 0) continue;
    driver.check(driver.copy_to_device(allocation + before, image.bytes().data() + region.begin,
                                       bytes, session.stream()),
                 "a copy to the device");
  }
  driver.check(driver.stream_synchronize(session.stream()), "a copy to the device");
  allocations.free_spacers();
  const WfCall& call = arguments.build(
      c, image,
      [&](size_t offset) {
        const auto found = std::find_if(moved.begin(), moved.end(),
                                        [&](const auto& entry) { return entry.first == offset; });
        WARPFUZZ_CHECK(found != moved.end(), "no tensor begins at byte {} of the image", offset);
        return found->second;
      },
      session);
  report(result);

  WfStatus returned = WF_ERROR;
  std::string thrown;
  try {
    returned = code->call(c, call);
  } catch (const std::exception& error) {
    thrown = error.what();
  }
  Status status = session.wait(time_limit);
  if (status == success) status = driver.context_synchronize();
  result.outcome = outcome_of(session, returned, thrown, status, time_limit);
  result.running = status == not_ready;
  report(result);
}

}  // namespace warpfuzz::cuda
