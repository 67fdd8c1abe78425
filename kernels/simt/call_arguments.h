// The WfCall of a run: tensors that point into the memory image, attributes from the case. Buffers
// are reused from run to run.
#pragma once

#include <vector>

#include "kernels/memory_image.h"
#include "kernels/warpfuzz_kernel.h"
#include "schemas/case.h"

namespace warpfuzz::simt {

class CallArguments {
 public:
  // For a run on the image, which must live as long as the call is used.
  const WfCall& build(const Case& c, MemoryImage& image);
  // For the workspace query: no data, strides of contiguous tensors.
  const WfCall& build(const Case& c);

 private:
  void add_attributes(const Case& c);
  const WfCall& finish();

  std::vector<DLTensor> inputs_;
  std::vector<DLTensor> outputs_;
  std::vector<WfAttribute> attributes_;
  std::vector<std::vector<int64_t>> extents_;  // shapes and strides of a workspace query
  WfCall call_{};
};

}  // namespace warpfuzz::simt
