// The CUDA device: kernel objects run in this process, on the GPU. A kernel that does not end
// within its time, or faults, costs the process its device: RunResult::device_lost. Schedules of
// RunOptions have no meaning here: the GPU's own order varies.
#include "kernels/cuda/cuda_device.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/cuda/collector.h"
#include "kernels/cuda/coverage_counters.h"
#include "kernels/cuda/device_arguments.h"
#include "kernels/cuda/device_faults.h"
#include "kernels/cuda/kernel_code.h"
#include "kernels/cuda/ptx/coverage_map.h"
#include "kernels/cuda/session.h"
#include "kernels/cuda/transfer.h"
#include "kernels/source_constants.h"

namespace warpfuzz::cuda {
namespace {

constexpr int most_copies = 32;  // of some MiB each

class CudaKernel final : public Kernel {
 public:
  CudaKernel(std::shared_ptr<const Session> session, std::unique_ptr<KernelCode> code,
             const DeviceOptions& options)
      : session_(std::move(session)),
        code_(std::move(code)),
        options_(options),
        collector_(*session_),
        transfer_(*session_),
        counters_(*session_, options.coverage ? code_->counters() : CounterArray()) {}

  std::string preconditions() const override { return code_->preconditions(); }

  bool serves_any_thread() const override { return true; }

  size_t workspace_bytes(const Case& c) override {
    const std::lock_guard lock(mutex_);
    return code_->workspace_bytes(c, arguments_.query(c));
  }

  bool reset() override { return code_->stateless(); }

  std::unique_ptr<Kernel> load_again() override {
    if (copies_ == most_copies) return nullptr;
    ++copies_;
    DeviceOptions plain = options_;
    plain.coverage = false;
    try {
      auto code = code_->load_again();
      if (code == nullptr) return nullptr;
      return std::make_unique<CudaKernel>(session_, std::move(code), plain);
    } catch (const KernelError&) {  // as of an object that needs files beside it
      return nullptr;
    }
  }

  BlockSource& image_memory() override { return transfer_.memory(); }

  RunResult run(const Case& c, MemoryImage& image, const RunOptions& options) override {
    const std::lock_guard lock(mutex_);
    RunResult result;
    if (lost_) {
      result.status = RunStatus::error;
      result.message = "an earlier fault has ended this process's use of the device";
      result.device_lost = true;
      return result;
    }
    session_->use_here();
    Status status = transfer_.send(image, image.bytes().size() <= options_.mapped_limit);
    if (status == success) {
      const WfCall& call = arguments_.build(c, image, transfer_.base(), *session_);
      call_kernel(c, call, result);
      status = finish(image, options, result);
    }
    if (status != success) {
      fail(status, options, result);
    } else {
      result.coverage = counters_.values();
    }
    return result;
  }

  void resolve_positions(std::vector<Fault>&) const override {}  // the driver tells no position

  size_t counters() const override { return counters_.size(); }

  std::string map() const { return code_->coverage_map(); }

 private:
  void call_kernel(const Case& c, const WfCall& call, RunResult& result) {
    code_->begin(call.stream);
    WfStatus returned = WF_ERROR;
    try {
      returned = code_->call(c, call);
    } catch (const std::exception& error) {
      result.message = fmt::format("the kernel threw: {}", error.what());
    } catch (...) {
      result.message = "the kernel threw an exception";
    }
    if (returned == WF_ERROR) result.status = RunStatus::error;
    if (returned == WF_UNSUPPORTED) result.status = RunStatus::unsupported;
    const std::optional<WfCudaReport> report = code_->end();
    result.launches_counted = report.has_value();
    if (!report) return;
    result.launches = report->launches;
    result.failed_launches = report->failed_launches;
    if (result.message.empty()) result.message = report->message;
    result.device_use = DeviceUse{.foreign_launches = report->foreign_launches,
                                  .host_copies = report->host_copies,
                                  .synchronizations = report->synchronizations,
                                  .registers = report->registers,
                                  .shared_bytes = report->shared_bytes,
                                  .local_bytes = report->local_bytes,
                                  .block_threads = report->block_threads};
  }

  // Everything back on the host, or the first error on the way.
  Status finish(MemoryImage& image, const RunOptions& options, RunResult& result) {
    if (result.device_use && result.device_use->foreign_launches > 0) {
      // Work that our stream does not order: wait for it, so that only the gate of residency
      // speaks.
      if (const Status s = session_->wait(options.time_limit); s != success) return s;
      const Status rest = session_->driver().stream_query(nullptr);
      result.device_use->left_running = rest == not_ready;
      if (rest != success && rest != not_ready) return rest;
      if (const Status s = session_->driver().context_synchronize(); s != success) return s;
    }
    WayHome rest;
    if (const Status s = transfer_.fetch(image, rest); s != success) return s;
    if (const Status s = collector_.collect(rest, counters_.way_home()); s != success) return s;
    if (options.meanwhile) options.meanwhile();
    return session_->wait(options.time_limit);
  }

  void fail(Status status, const RunOptions& options, RunResult& result) {
    lost_ = result.device_lost = true;
    std::optional<Fault> fault = device_fault(status);
    if (status == not_ready) {
      fault.emplace();
      fault->kind = FaultKind::time_limit;
      fault->message =
          fmt::format("the kernel does not end within {} ms", options.time_limit.count());
    }
    if (fault) {
      result.status = RunStatus::fault;
      result.faults.push_back(std::move(*fault));
    } else {
      result.status = RunStatus::error;
      result.message = session_->driver().describe(status);
    }
  }

  std::shared_ptr<const Session> session_;
  std::unique_ptr<KernelCode> code_;
  DeviceOptions options_;
  std::mutex mutex_;  // one thread at a time uses what follows
  Collector collector_;
  Transfer transfer_;
  CoverageCounters counters_;
  DeviceArguments arguments_;
  bool lost_ = false;
  int copies_ = 0;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const DeviceOptions& options)
      : options_(options), session_(std::make_shared<const Session>(options.index)) {}

  std::unique_ptr<Kernel> load(const std::filesystem::path& file, const Schema* schema) override {
    return std::make_unique<CudaKernel>(
        session_, load_kernel_code(*session_, file, schema, options_.coverage), options_);
  }

 private:
  DeviceOptions options_;
  std::shared_ptr<const Session> session_;
};

}  // namespace

std::unique_ptr<Device> make_device(const DeviceOptions& options) {
  return std::make_unique<CudaDevice>(options);
}

std::string coverage_map(const Kernel& kernel) {
  return dynamic_cast<const CudaKernel&>(kernel).map();
}

std::vector<int64_t> compared_constants(const Kernel& kernel) {
  const std::string map = coverage_map(kernel);
  std::vector<int64_t> integers;
  if (map.empty()) return integers;
  for (const ptx::Constant& constant : ptx::CoverageMap::from_json(map).constants) {
    const auto value = static_cast<int64_t>(constant.bits);
    if (!constant.floating && is_telling_constant(value) &&
        integers.size() < max_integer_constants) {
      integers.push_back(value);
    }
  }
  return integers;
}

}  // namespace warpfuzz::cuda

namespace warpfuzz {

std::unique_ptr<Device> make_cuda_device(int index) { return cuda::make_device({.index = index}); }

}  // namespace warpfuzz
