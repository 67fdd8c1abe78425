// What a CUDA thread sees of the others: its indices, barriers, fences, warp functions. Positions
// of calls reach the runtime as default arguments, so diagnoses name the user's line.
#pragma once

#include "host_defines.h"
#include "wf_simt.h"

inline constexpr const uint3& threadIdx = ::wf_simt::context.thread;
inline constexpr const uint3& blockIdx = ::wf_simt::context.block;
inline constexpr const dim3& blockDim = ::wf_simt::context.block_dim;
inline constexpr const dim3& gridDim = ::wf_simt::context.grid_dim;
inline constexpr int warpSize = 32;

WF_INTRINSIC WF_CONVERGENT void __syncthreads(WF_HERE) {
  wf_block_barrier(::wf_simt::BarrierOp::plain, 0, wf_file, wf_line);
}
WF_INTRINSIC WF_CONVERGENT int __syncthreads_count(int predicate, WF_HERE) {
  return wf_block_barrier(::wf_simt::BarrierOp::count, predicate, wf_file, wf_line);
}
WF_INTRINSIC WF_CONVERGENT int __syncthreads_and(int predicate, WF_HERE) {
  return wf_block_barrier(::wf_simt::BarrierOp::all, predicate, wf_file, wf_line);
}
WF_INTRINSIC WF_CONVERGENT int __syncthreads_or(int predicate, WF_HERE) {
  return wf_block_barrier(::wf_simt::BarrierOp::any, predicate, wf_file, wf_line);
}

namespace wf_simt {
// Threads switch only inside runtime calls, so memory is always consistent. The signal fences are
// no instructions; in the race mode they are calls, which tell the scope of the fence by its order.
WF_INTRINSIC void fence_device() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
WF_INTRINSIC void fence_block() { __atomic_signal_fence(__ATOMIC_ACQ_REL); }
}  // namespace wf_simt

// Fences stand in loops that wait for another thread, which must get its turn.
WF_INTRINSIC void __threadfence() {
  ::wf_simt::fence_device();
  ::wf_simt::poll();
}
WF_INTRINSIC void __threadfence_block() {
  ::wf_simt::fence_block();
  ::wf_simt::poll();
}
WF_INTRINSIC void __threadfence_system() { __threadfence(); }
WF_INTRINSIC void __nanosleep(unsigned) { wf_yield(); }

[[noreturn]] WF_INTRINSIC void __trap(WF_HERE) { wf_trap("__trap()", wf_file, wf_line); }
WF_INTRINSIC void __brkpt() {}
WF_INTRINSIC void __prof_trigger(int) {}
// Time on the device is the number of readings.
WF_INTRINSIC long long clock64() {
  static WF_UNWATCHED long long readings = 0;
  ::wf_simt::poll();
  return readings += 100;
}
WF_INTRINSIC unsigned long long __globaltimer() {
  return static_cast<unsigned long long>(clock64());
}

// There is one address space: what is only of use to PTX keeps its value.
WF_INTRINSIC size_t __cvta_generic_to_shared(const void* address) {
  return reinterpret_cast<size_t>(address);
}
WF_INTRINSIC size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<size_t>(address);
}
WF_INTRINSIC void* __cvta_shared_to_generic(size_t address) {
  return reinterpret_cast<void*>(address);
}
WF_INTRINSIC void* __cvta_global_to_generic(size_t address) {
  return reinterpret_cast<void*>(address);
}

namespace wf_simt {

template <class T>
WF_INTRINSIC uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8, "at most 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
WF_INTRINSIC T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Reports an address, or the bytes between rows, that an operation on matrices cannot have.
WF_INTRINSIC void check_alignment(const void* address, size_t alignment, size_t row_bytes,
                                  size_t row_alignment, const char* file, int line) {
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0) {
    wf_report_misaligned(address, alignment, file, line);
  }
  if (row_bytes % row_alignment != 0) {
    wf_report_misaligned(static_cast<const char*>(address) + row_bytes, row_alignment, file, line);
  }
}

WF_INTRINSIC WF_CONVERGENT uint64_t collective(WarpOp op, unsigned mask, uint64_t value,
                                               const char* file, int line) {
  return wf_warp(op, mask, value, 0, nullptr, file, line);
}

// The shuffles for any trivially copyable type of up to 8 bytes; other headers add overloads of the
// CUDA names for their types with these.
template <class T>
WF_INTRINSIC WF_CONVERGENT T shuffle_from(unsigned mask, T value, unsigned source, const char* file,
                                          int line) {
  return from_bits<T>(wf_warp(WarpOp::shuffle, mask, to_bits(value), source, nullptr, file, line));
}
template <class T>
WF_INTRINSIC WF_CONVERGENT T shuffle(unsigned mask, T value, int source_lane, int width,
                                     const char* file, int line) {
  const unsigned w = static_cast<unsigned>(width) - 1;
  return shuffle_from(mask, value, (lane() & ~w & 31) | (static_cast<unsigned>(source_lane) & w),
                      file, line);
}
template <class T>
WF_INTRINSIC WF_CONVERGENT T shuffle_up(unsigned mask, T value, unsigned delta, int width,
                                        const char* file, int line) {
  const unsigned w = static_cast<unsigned>(width) - 1;
  const unsigned self = lane();
  return shuffle_from(mask, value, delta <= (self & w) ? self - delta : self, file, line);
}
template <class T>
WF_INTRINSIC WF_CONVERGENT T shuffle_down(unsigned mask, T value, unsigned delta, int width,
                                          const char* file, int line) {
  const unsigned w = static_cast<unsigned>(width) - 1;
  const unsigned self = lane();
  return shuffle_from(mask, value, delta <= w - (self & w) ? self + delta : self, file, line);
}
template <class T>
WF_INTRINSIC WF_CONVERGENT T shuffle_xor(unsigned mask, T value, int lane_mask, int width,
                                         const char* file, int line) {
  const unsigned w = static_cast<unsigned>(width) - 1;
  const unsigned self = lane();
  const unsigned source = self ^ (static_cast<unsigned>(lane_mask) & 31);
  return shuffle_from(mask, value, source <= (self | w) ? source : self, file, line);
}

}  // namespace wf_simt

// The four shuffles of a type, under CUDA's names.
#define WF_DEFINE_SHUFFLES(type)                                                              \
  WF_INTRINSIC WF_CONVERGENT type __shfl_sync(unsigned mask, type value, int source_lane,     \
                                              int width = 32, WF_HERE) {                      \
    return ::wf_simt::shuffle(mask, value, source_lane, width, wf_file, wf_line);             \
  }                                                                                           \
  WF_INTRINSIC WF_CONVERGENT type __shfl_up_sync(unsigned mask, type value, unsigned delta,   \
                                                 int width = 32, WF_HERE) {                   \
    return ::wf_simt::shuffle_up(mask, value, delta, width, wf_file, wf_line);                \
  }                                                                                           \
  WF_INTRINSIC WF_CONVERGENT type __shfl_down_sync(unsigned mask, type value, unsigned delta, \
                                                   int width = 32, WF_HERE) {                 \
    return ::wf_simt::shuffle_down(mask, value, delta, width, wf_file, wf_line);              \
  }                                                                                           \
  WF_INTRINSIC WF_CONVERGENT type __shfl_xor_sync(unsigned mask, type value, int lane_mask,   \
                                                  int width = 32, WF_HERE) {                  \
    return ::wf_simt::shuffle_xor(mask, value, lane_mask, width, wf_file, wf_line);           \
  }

// Matches compare bits, so -0 and 0 differ, as on a GPU.
#define WF_DEFINE_MATCHES(type)                                                                   \
  WF_INTRINSIC WF_CONVERGENT unsigned __match_any_sync(unsigned mask, type value, WF_HERE) {      \
    return static_cast<unsigned>(::wf_simt::collective(                                           \
        ::wf_simt::WarpOp::match_any, mask, ::wf_simt::to_bits(value), wf_file, wf_line));        \
  }                                                                                               \
  WF_INTRINSIC WF_CONVERGENT unsigned __match_all_sync(unsigned mask, type value, int* predicate, \
                                                       WF_HERE) {                                 \
    int all = 0;                                                                                  \
    const uint64_t lanes = wf_warp(::wf_simt::WarpOp::match_all, mask, ::wf_simt::to_bits(value), \
                                   0, &all, wf_file, wf_line);                                    \
    *predicate = all;                                                                             \
    return static_cast<unsigned>(lanes);                                                          \
  }

#define WF_FOR_EACH_WORD_TYPE(X) \
  X(int)                         \
  X(unsigned)                    \
  X(long)                        \
  X(unsigned long)               \
  X(long long)                   \
  X(unsigned long long)          \
  X(float)                       \
  X(double)
WF_FOR_EACH_WORD_TYPE(WF_DEFINE_SHUFFLES)
WF_FOR_EACH_WORD_TYPE(WF_DEFINE_MATCHES)
#undef WF_FOR_EACH_WORD_TYPE
#undef WF_DEFINE_MATCHES

WF_INTRINSIC WF_CONVERGENT void __syncwarp(unsigned mask = 0xffffffffu, WF_HERE) {
  ::wf_simt::collective(::wf_simt::WarpOp::sync, mask, 0, wf_file, wf_line);
}
WF_INTRINSIC WF_CONVERGENT unsigned __ballot_sync(unsigned mask, int predicate, WF_HERE) {
  return static_cast<unsigned>(
      ::wf_simt::collective(::wf_simt::WarpOp::ballot, mask, predicate != 0, wf_file, wf_line));
}
WF_INTRINSIC WF_CONVERGENT int __any_sync(unsigned mask, int predicate, WF_HERE) {
  return static_cast<int>(
      ::wf_simt::collective(::wf_simt::WarpOp::any, mask, predicate != 0, wf_file, wf_line));
}
WF_INTRINSIC WF_CONVERGENT int __all_sync(unsigned mask, int predicate, WF_HERE) {
  return static_cast<int>(
      ::wf_simt::collective(::wf_simt::WarpOp::all, mask, predicate != 0, wf_file, wf_line));
}
// The lanes that arrive before the warp can do nothing else: a converged warp, as on a GPU.
WF_INTRINSIC WF_CONVERGENT unsigned __activemask(WF_HERE) {
  return static_cast<unsigned>(
      ::wf_simt::collective(::wf_simt::WarpOp::active_mask, 0xffffffffu, 0, wf_file, wf_line));
}

#define WF_DEFINE_REDUCTION(name, op, type)                                             \
  WF_INTRINSIC WF_CONVERGENT type name(unsigned mask, type value, WF_HERE) {            \
    return static_cast<type>(static_cast<unsigned>(::wf_simt::collective(               \
        ::wf_simt::WarpOp::op, mask, static_cast<unsigned>(value), wf_file, wf_line))); \
  }
WF_DEFINE_REDUCTION(__reduce_add_sync, add_u32, unsigned)
WF_DEFINE_REDUCTION(__reduce_add_sync, add_s32, int)
WF_DEFINE_REDUCTION(__reduce_min_sync, min_u32, unsigned)
WF_DEFINE_REDUCTION(__reduce_min_sync, min_s32, int)
WF_DEFINE_REDUCTION(__reduce_max_sync, max_u32, unsigned)
WF_DEFINE_REDUCTION(__reduce_max_sync, max_s32, int)
WF_DEFINE_REDUCTION(__reduce_and_sync, and_b32, unsigned)
WF_DEFINE_REDUCTION(__reduce_or_sync, or_b32, unsigned)
WF_DEFINE_REDUCTION(__reduce_xor_sync, xor_b32, unsigned)
#undef WF_DEFINE_REDUCTION
