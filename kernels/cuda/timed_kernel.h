// A kernel on the GPU without what a trial needs around a call: rotating sets of buffers, each a
// memory image of its own, and calls that are only queued. Inputs and outputs stay on the device
// until somebody asks for them. Set `i` serves the calls i, i + sets, i + 2 sets, ...
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device_arguments.h"
#include "kernels/cuda/kernel_code.h"
#include "kernels/cuda/timing.h"

namespace warpfuzz::cuda {

// A set of buffers: the bytes of one image on the device, and the call on them.
class BufferSet {
 public:
  explicit BufferSet(const Session& session) : session_(session) {}
  ~BufferSet();
  BufferSet(const BufferSet&) = delete;
  BufferSet& operator=(const BufferSet&) = delete;

  // Composes the image of a call with contiguous outputs and brings it to the device. Throws
  // DeviceUnavailable, also where memory is short.
  void upload(const Case& c, std::span<const Tensor> inputs, size_t workspace_bytes);
  // Brings the bytes back to the image.
  const MemoryImage& fetch();
  // Queues filling the outputs with what compose() put there.
  void poison();
  const Case& called_case() const { return case_; }
  const WfCall& call() const { return *call_; }

 private:
  const Session& session_;
  Case case_;
  MemoryImage image_;  // the call's shapes lie in it
  DevicePointer base_ = 0;
  size_t size_ = 0;
  DeviceArguments arguments_;
  const WfCall* call_ = nullptr;
  struct Stretch {
    size_t begin, bytes;
  };
  std::vector<Stretch> outputs_;
};

// What the hooks of the kernel's object counted; nothing is known of objects without hooks.
struct TimedUse {
  bool known = false;
  uint32_t launches = 0;
  uint32_t foreign_launches = 0;  // on another stream than the call's: no event sees them
};

class TimedKernel final : public Contestant {
 public:
  // The file as for Device::load(). Throws KernelError.
  TimedKernel(const Session& session, const std::filesystem::path& file, const Schema& schema);

  // Counters in the device code cost time.
  bool has_counters() const;

  void make_sets(size_t count);
  size_t sets() const override { return sets_.size(); }
  BufferSet& set(size_t index) { return *sets_[index].buffers; }
  // Whether the set was called since it was poisoned or uploaded.
  bool called(size_t index) const { return sets_[index].called; }
  void upload(size_t index, const Case& c, std::span<const Tensor> inputs);

  // Throws TimedFailure.
  void queue(size_t call) override;
  void refresh(size_t first, size_t count) override;

  // Counts of the calls between the two.
  void begin_counting();
  TimedUse end_counting();

 private:
  struct Set {
    std::unique_ptr<BufferSet> buffers;
    bool called = false;
  };
  const Session& session_;
  std::unique_ptr<KernelCode> code_;
  DeviceArguments query_;
  std::vector<Set> sets_;
};

}  // namespace warpfuzz::cuda
