#include "kernels/cuda/timed_kernel.h"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "kernels/device.h"

namespace warpfuzz::cuda {

BufferSet::~BufferSet() {
  if (base_ != 0) session_.driver().free(base_);
}

void BufferSet::upload(const Case& c, std::span<const Tensor> inputs, size_t workspace_bytes) {
  case_ = c;
  image_.compose(c, inputs, workspace_bytes, nan_fill, 0);
  const Driver& driver = session_.driver();
  const std::span<std::byte> bytes = image_.bytes();
  if (bytes.size() != size_) {
    if (base_ != 0) driver.free(base_);
    base_ = size_ = 0;
    driver.check(driver.allocate(&base_, bytes.size()),
                 fmt::format("{} bytes on the device for a set of tensors", bytes.size()));
    size_ = bytes.size();
  }
  outputs_.clear();
  for (const Region& region : image_.regions()) {
    if (region.kind != RegionKind::output) continue;
    size_t elements = 1;
    for (const int64_t extent : region.shape) elements *= static_cast<size_t>(extent);
    outputs_.push_back({region.first_element, elements * region.element_bytes});
  }
  call_ = &arguments_.build(c, image_, base_, session_);
  driver.check(driver.copy_to_device(base_, bytes.data(), size_, session_.stream()),
               "a copy to the device");
  driver.check(driver.stream_synchronize(session_.stream()), "a copy to the device");
}

const MemoryImage& BufferSet::fetch() {
  const Driver& driver = session_.driver();
  driver.check(driver.copy_to_host(image_.bytes().data(), base_, size_, session_.stream()),
               "a copy from the device");
  driver.check(driver.stream_synchronize(session_.stream()), "a copy from the device");
  return image_;
}

void BufferSet::poison() {
  for (const Stretch& stretch : outputs_) {
    if (stretch.bytes == 0) continue;
    session_.driver().fill(base_ + stretch.begin, static_cast<unsigned char>(Poison::quiet_nan),
                           stretch.bytes, session_.stream());
  }
}

TimedKernel::TimedKernel(const Session& session, const std::filesystem::path& file,
                         const Schema& schema)
    : session_(session), code_(load_kernel_code(session, file, &schema, false)) {}

bool TimedKernel::has_counters() const { return code_->counters().count > 0; }

void TimedKernel::make_sets(size_t count) {
  sets_.clear();
  sets_.resize(count);
  for (Set& set : sets_) set.buffers = std::make_unique<BufferSet>(session_);
}

void TimedKernel::upload(size_t index, const Case& c, std::span<const Tensor> inputs) {
  sets_[index].buffers->upload(c, inputs, code_->workspace_bytes(c, query_.query(c)));
  sets_[index].called = false;
}

void TimedKernel::queue(size_t call) {
  Set& set = sets_[call % sets_.size()];
  set.called = true;
  WfStatus status = WF_ERROR;
  try {
    status = code_->call(set.buffers->called_case(), set.buffers->call());
  } catch (const std::exception& error) {
    throw TimedFailure(fmt::format("a timed call throws: {}", error.what()));
  } catch (...) {
    throw TimedFailure("a timed call throws an exception");
  }
  if (status == WF_OK) return;
  throw TimedFailure(fmt::format("a timed call returns {}",
                                 status == WF_UNSUPPORTED ? "WF_UNSUPPORTED" : "WF_ERROR"));
}

void TimedKernel::refresh(size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Set& set = sets_[(first + i) % sets_.size()];
    set.called = false;
    set.buffers->poison();
  }
}

void TimedKernel::begin_counting() { code_->begin(session_.stream()); }

TimedUse TimedKernel::end_counting() {
  TimedUse use;
  const std::optional<WfCudaReport> report = code_->end();
  if (!report) return use;
  if (report->failed_launches > 0) {
    throw TimedFailure(fmt::format("a launch of a timed call fails: {}", report->message));
  }
  use.known = true;
  use.launches = report->launches;
  use.foreign_launches = report->foreign_launches;
  return use;
}

}  // namespace warpfuzz::cuda
