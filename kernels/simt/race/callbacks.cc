// The functions that code compiled with -fsanitize=thread calls: before every access, instead of
// atomic operations, fences and block copies. Kernel objects of the race mode import them from the
// executable; no ThreadSanitizer runtime is linked.
//
// A program counter is that of the call, one byte before the return address.
#include <cstddef>
#include <cstdint>

#include "kernels/simt/asan.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

using namespace warpfuzz::simt;
using race::detector;

namespace {

__attribute__((always_inline)) inline race::Access access(const void* address, size_t bytes,
                                                          uint32_t kind, void* return_address) {
  return {reinterpret_cast<uintptr_t>(address), bytes, kind,
          reinterpret_cast<uintptr_t>(return_address) - 1};
}

// The compiler calls these only where it may assume that the address is aligned.
__attribute__((always_inline)) inline void check_alignment(const race::Access& a) {
  if (a.address % a.bytes != 0) [[unlikely]]
    report_misaligned(a.address, a.bytes, a.pc);
}

constexpr int device_fence = __ATOMIC_SEQ_CST;  // see wf_threads.h

template <class T>
T atomic_load(const volatile T* address, void* caller) {
  const race::Access a =
      access(const_cast<const T*>(address), sizeof(T), race::atomic_access, caller);
  check_alignment(a);
  detector.strong_read(a);
  return *address;
}

template <class T>
void atomic_write(volatile T* address, T value, void* caller) {
  detector.strong_write(access(const_cast<const T*>(address), sizeof(T),
                               race::atomic_access | race::write_access, caller));
  *address = value;
}

// One that changes nothing is no write, except of what has no value yet.
template <class T>
void atomic_store(volatile T* address, T value, void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (*address != value || !detector.is_written(at)) atomic_write(address, value, caller);
}

template <class T, class Operation>
T atomic_update(volatile T* address, void* caller, Operation operation) {
  const T old = atomic_load(address, caller);
  if (const T value = static_cast<T>(operation(old)); value != old) {
    atomic_write(address, value, caller);
  }
  return old;
}

template <class T>
int atomic_compare_exchange(volatile T* address, T* expected, T desired, void* caller) {
  const T old = atomic_load(address, caller);
  const bool equal = old == *expected;
  if (equal && desired != old) atomic_write(address, desired, caller);
  *expected = old;
  return equal;
}

}  // namespace

#pragma clang diagnostic ignored "-Wreserved-identifier"
#define WARPFUZZ_CALLER __builtin_return_address(0)

extern "C" {

void __tsan_init(void) {}

#define WARPFUZZ_DEFINE_ACCESSES(size)                                                 \
  void __tsan_read##size(void* p) {                                                    \
    const race::Access a = access(p, size, 0, WARPFUZZ_CALLER);                        \
    check_alignment(a);                                                                \
    detector.read(a);                                                                  \
  }                                                                                    \
  void __tsan_write##size(void* p) {                                                   \
    const race::Access a = access(p, size, race::write_access, WARPFUZZ_CALLER);       \
    check_alignment(a);                                                                \
    detector.write(a);                                                                 \
  }                                                                                    \
  void __tsan_unaligned_read##size(void* p) {                                          \
    detector.read(access(p, size, 0, WARPFUZZ_CALLER));                                \
  }                                                                                    \
  void __tsan_unaligned_write##size(void* p) {                                         \
    detector.write(access(p, size, race::write_access, WARPFUZZ_CALLER));              \
  }                                                                                    \
  void __tsan_volatile_read##size(void* p) {                                           \
    const race::Access a = access(p, size, race::volatile_access, WARPFUZZ_CALLER);    \
    check_alignment(a);                                                                \
    detector.strong_read(a);                                                           \
  }                                                                                    \
  void __tsan_volatile_write##size(void* p) {                                          \
    const race::Access a =                                                             \
        access(p, size, race::volatile_access | race::write_access, WARPFUZZ_CALLER);  \
    check_alignment(a);                                                                \
    detector.strong_write(a);                                                          \
  }                                                                                    \
  void __tsan_unaligned_volatile_read##size(void* p) {                                 \
    detector.strong_read(access(p, size, race::volatile_access, WARPFUZZ_CALLER));     \
  }                                                                                    \
  void __tsan_unaligned_volatile_write##size(void* p) {                                \
    detector.strong_write(                                                             \
        access(p, size, race::volatile_access | race::write_access, WARPFUZZ_CALLER)); \
  }
WARPFUZZ_DEFINE_ACCESSES(1)
WARPFUZZ_DEFINE_ACCESSES(2)
WARPFUZZ_DEFINE_ACCESSES(4)
WARPFUZZ_DEFINE_ACCESSES(8)
WARPFUZZ_DEFINE_ACCESSES(16)

#define WARPFUZZ_DEFINE_ATOMICS(bits, type)                                                        \
  type __tsan_atomic##bits##_load(const volatile type* p, int) {                                   \
    return atomic_load(p, WARPFUZZ_CALLER);                                                        \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile type* p, type v, int) {                                \
    atomic_store(p, v, WARPFUZZ_CALLER);                                                           \
  }                                                                                                \
  type __tsan_atomic##bits##_exchange(volatile type* p, type v, int) {                             \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type) { return v; });                             \
  }                                                                                                \
  type __tsan_atomic##bits##_fetch_add(volatile type* p, type v, int) {                            \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type old) { return old + v; });                   \
  }                                                                                                \
  type __tsan_atomic##bits##_fetch_sub(volatile type* p, type v, int) {                            \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type old) { return old - v; });                   \
  }                                                                                                \
  type __tsan_atomic##bits##_fetch_and(volatile type* p, type v, int) {                            \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type old) { return old & v; });                   \
  }                                                                                                \
  type __tsan_atomic##bits##_fetch_or(volatile type* p, type v, int) {                             \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type old) { return old | v; });                   \
  }                                                                                                \
  type __tsan_atomic##bits##_fetch_xor(volatile type* p, type v, int) {                            \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type old) { return old ^ v; });                   \
  }                                                                                                \
  type __tsan_atomic##bits##_fetch_nand(volatile type* p, type v, int) {                           \
    return atomic_update(p, WARPFUZZ_CALLER, [&](type old) { return ~(old & v); });                \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, type v, int, \
                                                    int) {                                         \
    return atomic_compare_exchange(p, expected, v, WARPFUZZ_CALLER);                               \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected, type v, int,   \
                                                  int) {                                           \
    return atomic_compare_exchange(p, expected, v, WARPFUZZ_CALLER);                               \
  }                                                                                                \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type v, int,    \
                                                  int) {                                           \
    atomic_compare_exchange(p, &expected, v, WARPFUZZ_CALLER);                                     \
    return expected;                                                                               \
  }
WARPFUZZ_DEFINE_ATOMICS(8, uint8_t)
WARPFUZZ_DEFINE_ATOMICS(16, uint16_t)
WARPFUZZ_DEFINE_ATOMICS(32, uint32_t)
WARPFUZZ_DEFINE_ATOMICS(64, uint64_t)

// Fences of the host's code order nothing that matters; those of device code are signal fences.
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int order) { detector.fence(order == device_fence); }

void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  detector.copied_from(access(from, bytes, 0, WARPFUZZ_CALLER));
  detector.write(access(to, bytes, race::write_access, WARPFUZZ_CALLER));
  raw_copy(to, from, bytes);
  return to;
}
void* __tsan_memmove(void* to, const void* from, size_t bytes) {
  detector.copied_from(access(from, bytes, 0, WARPFUZZ_CALLER));
  detector.write(access(to, bytes, race::write_access, WARPFUZZ_CALLER));
  raw_move(to, from, bytes);
  return to;
}
void* __tsan_memset(void* to, int value, size_t bytes) {
  detector.write(access(to, bytes, race::write_access, WARPFUZZ_CALLER));
  raw_fill(to, static_cast<uint8_t>(value), bytes);
  return to;
}

void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void) {}
}
