// Atomic functions. Only one CUDA thread runs at a time and switches happen inside runtime calls,
// so a relaxed read and a relaxed write are one atomic operation; they stay in the kernel's code,
// where ASan sees them and the race mode knows them from plain accesses.
// Exactly the types that CUDA has: a call with another type must not compile, as with nvcc. The
// headers of half and bfloat16 add theirs with wf_simt::atomic_update.
#pragma once

#include "host_defines.h"
#include "vector_types.h"
#include "wf_threads.h"

namespace wf_simt {

// Replaces *address by operation(*address) and returns the old value. An operation that changes
// nothing may be part of a loop that waits.
template <class T, class Operation>
WF_INTRINSIC T atomic_update(T* address, Operation operation) {
  if (__builtin_expect(context.preempt != 0, 0)) wf_preempt();
  T& cell = *address;
  T old;
  __atomic_load(&cell, &old, __ATOMIC_RELAXED);
  T value = operation(old);
  __atomic_store(&cell, &value, __ATOMIC_RELAXED);
  if (to_bits(old) == to_bits(value)) poll();
  return old;
}

template <class T>
WF_INTRINSIC void atomic_store(T* address, T value) {
  if (__builtin_expect(context.preempt != 0, 0)) wf_preempt();
  __atomic_store(address, &value, __ATOMIC_RELAXED);
}

}  // namespace wf_simt

// The _block and _system variants have the same effect.
#define WF_DEFINE_ATOMIC(name, type, expression)                                               \
  WF_INTRINSIC type name(type* address, type value) {                                          \
    return ::wf_simt::atomic_update(                                                           \
        address, [&](type old) WF_INTRINSIC_LAMBDA { return static_cast<type>(expression); }); \
  }                                                                                            \
  WF_INTRINSIC type name##_block(type* address, type value) { return name(address, value); }   \
  WF_INTRINSIC type name##_system(type* address, type value) { return name(address, value); }

using wf_ull = unsigned long long;

// Integer atomics wrap around.
WF_DEFINE_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
WF_DEFINE_ATOMIC(atomicAdd, unsigned, old + value)
WF_DEFINE_ATOMIC(atomicAdd, wf_ull, old + value)
WF_DEFINE_ATOMIC(atomicAdd, float, old + value)
WF_DEFINE_ATOMIC(atomicAdd, double, old + value)
WF_DEFINE_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
WF_DEFINE_ATOMIC(atomicSub, unsigned, old - value)
WF_DEFINE_ATOMIC(atomicExch, int, (static_cast<void>(old), value))
WF_DEFINE_ATOMIC(atomicExch, unsigned, (static_cast<void>(old), value))
WF_DEFINE_ATOMIC(atomicExch, wf_ull, (static_cast<void>(old), value))
WF_DEFINE_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
#define WF_DEFINE_ORDERED_ATOMICS(type)                        \
  WF_DEFINE_ATOMIC(atomicMin, type, old < value ? old : value) \
  WF_DEFINE_ATOMIC(atomicMax, type, old > value ? old : value)
#define WF_DEFINE_BIT_ATOMICS(type)             \
  WF_DEFINE_ATOMIC(atomicAnd, type, old& value) \
  WF_DEFINE_ATOMIC(atomicOr, type, old | value) \
  WF_DEFINE_ATOMIC(atomicXor, type, old ^ value)
WF_DEFINE_ORDERED_ATOMICS(int)
WF_DEFINE_ORDERED_ATOMICS(unsigned)
WF_DEFINE_ORDERED_ATOMICS(long long)
WF_DEFINE_ORDERED_ATOMICS(wf_ull)
WF_DEFINE_BIT_ATOMICS(int)
WF_DEFINE_BIT_ATOMICS(unsigned)
WF_DEFINE_BIT_ATOMICS(wf_ull)
WF_DEFINE_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
WF_DEFINE_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#undef WF_DEFINE_BIT_ATOMICS
#undef WF_DEFINE_ORDERED_ATOMICS
#undef WF_DEFINE_ATOMIC

#define WF_DEFINE_COMPARE_AND_SWAP(type)                                                      \
  WF_INTRINSIC type atomicCAS(type* address, type compare, type value) {                      \
    return ::wf_simt::atomic_update(                                                          \
        address, [&](type old) WF_INTRINSIC_LAMBDA { return old == compare ? value : old; }); \
  }                                                                                           \
  WF_INTRINSIC type atomicCAS_block(type* address, type compare, type value) {                \
    return atomicCAS(address, compare, value);                                                \
  }                                                                                           \
  WF_INTRINSIC type atomicCAS_system(type* address, type compare, type value) {               \
    return atomicCAS(address, compare, value);                                                \
  }
WF_DEFINE_COMPARE_AND_SWAP(int)
WF_DEFINE_COMPARE_AND_SWAP(unsigned)
WF_DEFINE_COMPARE_AND_SWAP(unsigned short)
WF_DEFINE_COMPARE_AND_SWAP(wf_ull)
#undef WF_DEFINE_COMPARE_AND_SWAP

// Of vectors: each component by itself, as on a GPU.
#define WF_DEFINE_VECTOR_ADD(name, suffix)                     \
  WF_INTRINSIC float2 name(float2* address, float2 value) {    \
    const float x = atomicAdd##suffix(&address->x, value.x);   \
    return {x, atomicAdd##suffix(&address->y, value.y)};       \
  }                                                            \
  WF_INTRINSIC float4 name(float4* address, float4 value) {    \
    const float x = atomicAdd##suffix(&address->x, value.x);   \
    const float y = atomicAdd##suffix(&address->y, value.y);   \
    const float z = atomicAdd##suffix(&address->z, value.z);   \
    return {x, y, z, atomicAdd##suffix(&address->w, value.w)}; \
  }
WF_DEFINE_VECTOR_ADD(atomicAdd, )
WF_DEFINE_VECTOR_ADD(atomicAdd_block, _block)
WF_DEFINE_VECTOR_ADD(atomicAdd_system, _system)
#undef WF_DEFINE_VECTOR_ADD
