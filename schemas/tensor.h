// A dense tensor on the host: element type, shape and the elements' bits in row-major order. The
// currency between seeds (which makes inputs), kernels (which places and gathers them), reference
// and gates. Never holds padding: layouts exist only inside a memory image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schemas/vocabulary.h"

namespace warpfuzz {

struct Tensor {
  DType dtype = DType::float32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  int64_t size() const {
    int64_t elements = 1;
    for (int64_t extent : shape) elements *= extent;
    return elements;
  }
  bool operator==(const Tensor&) const = default;
};

}  // namespace warpfuzz
