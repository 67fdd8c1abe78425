#include "kernels/cuda/counter_registration.h"

#include <algorithm>

extern "C" {
__attribute__((weak)) void __sanitizer_cov_8bit_counters_init(uint8_t* begin, uint8_t* end);
__attribute__((weak)) void __sanitizer_cov_pcs_init(const uintptr_t* begin, const uintptr_t* end);
}

namespace warpfuzz::cuda {
namespace {

constexpr uintptr_t made_up_base = 0x10000;  // below every module
constexpr uintptr_t not_a_function = 0;

}  // namespace

RegisteredCounters::RegisteredCounters(size_t count) : counters_(count) {
  if (count == 0 || &__sanitizer_cov_8bit_counters_init == nullptr) return;
  for (size_t i = 0; i < count; ++i) {
    places_.push_back(made_up_base + 16 * i);
    places_.push_back(not_a_function);
  }
  __sanitizer_cov_8bit_counters_init(counters_.data(), counters_.data() + count);
  __sanitizer_cov_pcs_init(places_.data(), places_.data() + places_.size());
}

void RegisteredCounters::add(std::span<const uint8_t> values) {
  const size_t count = std::min(values.size(), counters_.size());
  for (size_t i = 0; i < count; ++i) counters_[i] |= values[i];
}

}  // namespace warpfuzz::cuda
