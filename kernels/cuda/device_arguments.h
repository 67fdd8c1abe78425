// The WfCall of a run on the GPU: that of simt/call_arguments.h with every pointer moved from the
// image to where the device finds its bytes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/cuda/session.h"
#include "kernels/simt/call_arguments.h"

namespace warpfuzz::cuda {

class DeviceArguments {
 public:
  const WfCall& build(const Case& c, MemoryImage& image, DevicePointer base,
                      const Session& session);
  // `place` gives the device's address of a byte of the image, by its offset.
  const WfCall& build(const Case& c, MemoryImage& image,
                      const std::function<DevicePointer(size_t offset)>& place,
                      const Session& session);
  // Contiguous tensors at these addresses.
  struct Stretch {
    DevicePointer begin = 0;  // 0: none
    size_t bytes = 0;
  };
  const WfCall& build(const Case& c, std::span<const DevicePointer> inputs,
                      std::span<const DevicePointer> outputs, const Stretch& workspace,
                      const Session& session);
  // For the workspace query: no data.
  const WfCall& query(const Case& c);

 private:
  void take(const WfCall& host, int device_index);

  simt::CallArguments host_arguments_;
  std::vector<DLTensor> inputs_;
  std::vector<DLTensor> outputs_;
  WfCall call_{};
};

}  // namespace warpfuzz::cuda
