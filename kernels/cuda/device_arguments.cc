#include "kernels/cuda/device_arguments.h"

namespace warpfuzz::cuda {

void DeviceArguments::take(const WfCall& host, int device_index) {
  call_ = host;
  inputs_.assign(host.inputs, host.inputs + host.num_inputs);
  outputs_.assign(host.outputs, host.outputs + host.num_outputs);
  call_.inputs = inputs_.data();
  call_.outputs = outputs_.data();
  for (std::vector<DLTensor>* tensors : {&inputs_, &outputs_}) {
    for (DLTensor& tensor : *tensors) tensor.device = {kDLCUDA, device_index};
  }
}

const WfCall& DeviceArguments::build(const Case& c, MemoryImage& image, DevicePointer base,
                                     const Session& session) {
  return build(c, image, [base](size_t offset) { return base + offset; }, session);
}

const WfCall& DeviceArguments::build(const Case& c, MemoryImage& image,
                                     const std::function<DevicePointer(size_t offset)>& place,
                                     const Session& session) {
  take(host_arguments_.build(c, image), session.index());
  const auto on_device = [&](void* pointer) -> void* {
    if (pointer == nullptr) return nullptr;
    const auto offset =
        static_cast<size_t>(static_cast<std::byte*>(pointer) - image.bytes().data());
    return reinterpret_cast<void*>(place(offset));
  };
  for (std::vector<DLTensor>* tensors : {&inputs_, &outputs_}) {
    for (DLTensor& tensor : *tensors) tensor.data = on_device(tensor.data);
  }
  call_.workspace = on_device(call_.workspace);
  call_.stream = session.stream();
  return call_;
}

const WfCall& DeviceArguments::build(const Case& c, std::span<const DevicePointer> inputs,
                                     std::span<const DevicePointer> outputs,
                                     const Stretch& workspace, const Session& session) {
  take(host_arguments_.build(c), session.index());
  const auto place = [](std::vector<DLTensor>& tensors, std::span<const DevicePointer> at) {
    for (size_t i = 0; i < tensors.size(); ++i) tensors[i].data = reinterpret_cast<void*>(at[i]);
  };
  place(inputs_, inputs);
  place(outputs_, outputs);
  call_.workspace = reinterpret_cast<void*>(workspace.begin);
  call_.workspace_bytes = workspace.bytes;
  call_.stream = session.stream();
  return call_;
}

const WfCall& DeviceArguments::query(const Case& c) {
  take(host_arguments_.build(c), 0);
  return call_;
}

}  // namespace warpfuzz::cuda
