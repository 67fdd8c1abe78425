// The variables of a kernel, on host and device: what it remembers from one call to the next.
// Restored between trials, so that each begins where a fresh process would.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/simt/address_range.h"

namespace warpfuzz::simt {

class KernelState {
 public:
  KernelState() = default;
  // As the variables are now.
  explicit KernelState(std::vector<AddressRange> variables);
  // Host memory that a kernel took from the heap and only its variables know is lost.
  void restore() const;

 private:
  struct Saved {
    AddressRange range;
    std::vector<std::byte> bytes;
  };
  std::vector<Saved> saved_;
};

}  // namespace warpfuzz::simt
