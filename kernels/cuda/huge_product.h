// Matrix products on the GPU that are too large to travel: every element is judged there, against
// sums taken there. The device code is huge_product.cu (compile_huge()).
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/huge_product_task.h"
#include "kernels/cuda/huge_tensors.h"

namespace warpfuzz::cuda {

struct DeviceProduct {
  DeviceTensor a, b;  // [rows, addends], [addends, columns]
  DeviceTensor c;     // [rows, columns], as a kernel has left it
  int64_t rows = 0, columns = 0, addends = 0;
};

class HugeProduct {
 public:
  // Throws KernelError.
  HugeProduct(const Session& session, const std::filesystem::path& object);

  // Each queues its work and waits for it. They throw DeviceUnavailable where the device fails.
  // Nothing if an element is not finite; {infinity, 0} if all are 0.
  std::optional<Magnitudes> magnitudes(const DeviceTensor& tensor) const;
  // One tally for each row.
  std::vector<huge::RowTally> judge(const DeviceProduct& product, const ProductRule& rule) const;
  // What the elements of these rows must be, row after row.
  std::vector<ProductExpectation> expect(const DeviceProduct& product, const ProductRule& rule,
                                         std::span<const int64_t> rows) const;

 private:
  struct Argument;
  void call(huge::ProductTask task, std::span<const Argument> inputs, const Argument& output) const;

  const Session& session_;
  KernelObject object_;
};

}  // namespace warpfuzz::cuda
