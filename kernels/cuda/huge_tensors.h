// Tensors on the GPU that are too large to travel to the host: filled by a value law, bit for bit
// as make_input() would, and searched for elements that are not what they should be. The device
// code is huge_tensors.cu (compile_huge()).
#pragma once

#include <filesystem>

#include "kernels/compile.h"
#include "kernels/cuda/compile_cuda.h"
#include "kernels/cuda/huge_elements.h"
#include "kernels/cuda/kernel_object.h"
#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

// Device code that is no kernel under test, of kernels/cuda: the object for a GPU, or for the CPU
// device in tests. Of the request, source and flags are set here. Throws as compile_for_cuda().
std::filesystem::path compile_huge(CompileRequest request, const char* source);
std::filesystem::path compile_huge(warpfuzz::CompileRequest request, const char* source);

// A contiguous tensor on the device.
struct DeviceTensor {
  DevicePointer data = 0;
  DType dtype = DType::float32;
  int64_t elements = 0;
};

struct ElementCount {
  uint64_t elements = 0;
  uint64_t first = 0;  // lowest index, where there are any
  uint64_t sum = 0;    // of huge::index_hash() over the indices
};

class HugeTensors {
 public:
  // Throws KernelError and DeviceUnavailable.
  HugeTensors(const Session& session, const std::filesystem::path& object);
  ~HugeTensors();
  HugeTensors(const HugeTensors&) = delete;
  HugeTensors& operator=(const HugeTensors&) = delete;

  // Each queues its work and waits for it. They throw DeviceUnavailable where the device fails.
  void fill(const DeviceTensor& tensor, const RandomLaw& law) const;
  ElementCount count_other(const DeviceTensor& tensor, const RandomLaw& law) const;
  ElementCount count_all_ones(const DeviceTensor& tensor) const;
  ElementCount count_marks(const DeviceTensor& tensor) const;
  void mark_all_ones(const DeviceTensor& tensor) const;

 private:
  void call(huge::Task task, const DeviceTensor& tensor, const RandomLaw& law) const;
  ElementCount counted() const;

  const Session& session_;
  KernelObject object_;
  DevicePointer result_ = 0;
};

}  // namespace warpfuzz::cuda
