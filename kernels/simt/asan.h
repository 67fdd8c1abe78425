// The ASan runtime's interface as weak symbols: in an executable without ASan they are null and the
// inline functions below do nothing. The SIMT runtime itself is never instrumented.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* begin, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* begin, size_t bytes);
__attribute__((weak)) void* __asan_region_is_poisoned(void* begin, size_t bytes);
}

namespace warpfuzz::simt {

inline bool asan_present() { return __asan_poison_memory_region != nullptr; }

inline void poison(const volatile void* begin, size_t bytes) {
  if (asan_present() && bytes != 0) __asan_poison_memory_region(begin, bytes);
}
inline void unpoison(const volatile void* begin, size_t bytes) {
  if (asan_present() && bytes != 0) __asan_unpoison_memory_region(begin, bytes);
}
// First poisoned byte of the range, nullptr if there is none.
inline void* first_poisoned(const void* begin, size_t bytes) {
  if (!asan_present() || bytes == 0) return nullptr;
  return __asan_region_is_poisoned(const_cast<void*>(begin), bytes);
}

// Plain memory operations that ASan does not intercept: the shared memory that they touch contains
// redzones.
inline void raw_fill(void* begin, uint8_t value, size_t bytes) {
  __asm__ volatile("rep stosb" : "+D"(begin), "+c"(bytes) : "a"(value) : "memory");
}
inline void raw_copy(void* to, const void* from, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
// The ranges may overlap.
inline void raw_move(void* to, const void* from, size_t bytes) {
  if (to <= from || static_cast<const char*>(from) + bytes <= to) return raw_copy(to, from, bytes);
  for (size_t i = bytes; i-- > 0;) {
    static_cast<volatile char*>(to)[i] = static_cast<const char*>(from)[i];
  }
}

}  // namespace warpfuzz::simt
