#include "kernels/simt/kernel_state.h"

#include <cstring>

#include "kernels/simt/asan.h"

namespace warpfuzz::simt {

KernelState::KernelState(std::vector<AddressRange> variables) {
  for (const AddressRange& range : variables) {
    Saved saved{range, std::vector<std::byte>(range.end - range.begin)};
    raw_copy(saved.bytes.data(), reinterpret_cast<const void*>(range.begin), saved.bytes.size());
    saved_.push_back(std::move(saved));
  }
}

void KernelState::restore() const {
  for (const Saved& saved : saved_) {
    raw_copy(reinterpret_cast<void*>(saved.range.begin), saved.bytes.data(), saved.bytes.size());
  }
}

}  // namespace warpfuzz::simt
