// The interface between kernel code compiled for the CPU device and the SIMT runtime. Kernel
// objects import the extern "C" functions below from the executable that loads them. Nothing here
// depends on a front end: rewritten CUDA C++ uses it today, translated PTX can use it tomorrow.
//
// What a front end emits for CUDA C++:
//
//   k<T><<<grid, block, smem, stream>>>(args...)    becomes
//     ::wf_simt::Config(grid, block, smem, stream)
//         .kernel("k<T>", [&](auto&... wf_args) WF_KERNEL_CALL {
//           [[clang::noinline]] k<T>(wf_args...); })(args...)
//   i.e. <configuration> and (args...) are copied verbatim; only the kernel expression is wrapped.
//   Overloads, deduced template arguments, default arguments and conversions to parameter types
//   work as in a call; each argument is evaluated once. The string is only for messages and for
//   cudaFuncSetAttribute: the text of the kernel expression.
//
//   __shared__ T s[N];        becomes
//     static __attribute__((section(".wfshared"), aligned(32))) T s[N];
//     static WF_SHARED_RECORD ::wf_simt::SharedRecord wf_shared_s{&s, sizeof(s), "s",
//                                                                 &wf_kernel_record};
//
//   (functions with __global__ or __device__ get internal linkage, and with them their variables)
//
//   extern __shared__ T s[];  becomes
//     T (&s)[] = *reinterpret_cast<T (*)[]>(::wf_simt::dynamic_shared());
//   (alignment attributes dropped: the arena is 1024-byte aligned)
//
//   __global__ void __launch_bounds__(N) k(...) {     becomes, where the text has launch bounds or
//   shared memory,
//     void k(...) {
//       static WF_KERNEL_RECORD const ::wf_simt::KernelRecord
//           wf_kernel_record{__PRETTY_FUNCTION__, N};   (0 without launch bounds)
//       ::wf_simt::enter(wf_kernel_record);
//   and the text ends with  extern "C" { extern const char wf_kernels_enter = 1; }
//
// Needs C++17. Must not include any other header of ours.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The two index types of CUDA; <vector_types.h> must not define them again.
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#define WF_CONVERGENT __attribute__((convergent))
#define WF_HIDDEN __attribute__((visibility("hidden")))
// Runtime glue inside a kernel object is not instrumented: it is not the code under test.
#define WF_NO_INSTRUMENT __attribute__((no_sanitize("address", "undefined", "thread", "coverage")))
// Of the function into which a kernel could be inlined, which would lose its coverage.
#define WF_KERNEL_CALL WF_NO_INSTRUMENT
#define WF_KERNEL_RECORD __attribute__((used, no_sanitize("address")))
#define WF_SHARED_RECORD __attribute__((used, section(".wfsizes"), no_sanitize("address")))
// A variable of the runtime whose accesses the race mode does not hear of: clang's thread sanitizer
// passes over sections with such a name, which it takes for profile counters.
#define WF_UNWATCHED __attribute__((section("wf__llvm_prf_cnts")))
// For functions into which a kernel may be inlined, which would lose its coverage.
// Default arguments that name the caller's position.
#define WF_HERE const char *wf_file = __builtin_FILE(), int wf_line = __builtin_LINE()

namespace wf_simt {

// What is known of a kernel before it runs.
struct KernelRecord {
  const char* name;       // with parameters and template arguments
  unsigned most_threads;  // its launch bound, 0 if it has none
};
// A static shared variable. `owner` is the kernel that declares it, ::wf_kernel_record where a
// device function does.
struct SharedRecord {
  const volatile void* begin;
  size_t bytes;
  const char* name;
  const KernelRecord* owner;
};

// What a launch of a kernel may ask for.
struct KernelLimits {
  unsigned most_threads;
  size_t static_shared_bytes;
  size_t dynamic_shared_bytes;
};

// State of the running CUDA thread. One copy per kernel object, in the object, so that reads are
// direct and ASan proves them safe; the runtime keeps it up to date.
struct Context {
  uint3 thread;        // threadIdx
  uint3 block;         // blockIdx
  dim3 block_dim;      // blockDim
  dim3 grid_dim;       // gridDim
  unsigned linear;     // thread.x + block_dim.x * (thread.y + block_dim.y * thread.z)
  unsigned slow;       // not 0: the next thread is the runtime's choice (see next_thread)
  unsigned threads;    // of the block
  unsigned polls;      // consecutive operations that changed nothing, see poll()
  unsigned preempt;    // not 0: atomics may switch threads (random schedule)
  const void* polled;  // what poll(place) was called with last
  size_t dynamic_shared_bytes;
  const KernelRecord* kernel;  // nullptr until the first thread enters it
};
inline WF_HIDDEN WF_UNWATCHED Context context{};

enum class WarpOp : unsigned {
  sync,
  shuffle,
  ballot,
  any,
  all,
  match_any,
  match_all,
  add_u32,
  add_s32,
  min_u32,
  min_s32,
  max_u32,
  max_s32,
  and_b32,
  or_b32,
  xor_b32,
  active_mask,
};
enum class BarrierOp : unsigned { plain, count, all, any };

// What a cuda::barrier is made of. Plain memory of the kernel, which only the runtime changes once
// it has a value.
struct BarrierState {
  unsigned phase;
  int pending;   // arrivals that this phase lacks
  int expected;  // arrivals of each phase
};

struct LaunchRequest {
  const char* name;      // text of the kernel expression; "" if only the function is known
  const void* function;  // nullptr if only the name is known
  Context* context;
  dim3 grid, block;
  size_t dynamic_shared_bytes;
  void* stream;
  bool cooperative;
  bool enters;                         // the kernel calls enter()
  void (*run_threads)(void* closure);  // runs CUDA threads until next_thread() says stop
  void* closure;
};

}  // namespace wf_simt

// Hidden by that of a kernel inside the kernel's body.
inline WF_HIDDEN const wf_simt::KernelRecord wf_kernel_record{"", 0};

extern "C" {
// Runs the grid before it returns. Returns a cudaError_t, which the runtime also records.
int wf_launch(const wf_simt::LaunchRequest* request);
// The first thread of a launch: does not return if the launch breaks a limit of the kernel.
void wf_enter_kernel(const wf_simt::KernelRecord* record);
// Not nullptr: the kernels of this object call enter().
extern __attribute__((weak)) WF_HIDDEN const char wf_kernels_enter;
// The running thread has returned from the kernel: true if the caller shall run another one.
bool wf_next_thread(void);
// __syncthreads and its variants; `value` is the predicate.
WF_CONVERGENT int wf_block_barrier(wf_simt::BarrierOp op, int value, const char* file, int line);
// All lanes of `mask` meet. shuffle: `value` holds the bits, `operand` the source lane; match_*,
// ballot, reductions: `value` is the lane's contribution. *predicate only for match_all.
WF_CONVERGENT uint64_t wf_warp(wf_simt::WarpOp op, unsigned mask, uint64_t value, unsigned operand,
                               int* predicate, const char* file, int line);
// All threads of all blocks meet; only in a cooperative launch.
WF_CONVERGENT void wf_grid_barrier(const char* file, int line);
// cuda::barrier. `block_scope`: only threads of one block use it, whose memory it orders; for
// others the caller does. Arrives and returns true if the phase lacks nothing more: the caller then
// runs the barrier's `function`, if it has one, and completes the phase.
bool wf_barrier_arrive(wf_simt::BarrierState* state, int count, int drop, bool block_scope,
                       bool function, const char* file, int line);
void wf_barrier_complete(wf_simt::BarrierState* state, bool block_scope, bool function);
// Returns when the phase is another one.
WF_CONVERGENT void wf_barrier_wait(wf_simt::BarrierState* state, unsigned phase, bool block_scope,
                                   const char* file, int line);
// Whether it is, after other threads have had a chance to arrive.
bool wf_barrier_test(wf_simt::BarrierState* state, unsigned phase, bool block_scope);
// Copies that happen when they are waited for. Each belongs to the thread's open batch until that
// is committed or bound to a barrier, whose phase completes only with them. Of `to`, `zeros` bytes
// after the copied ones become 0.
void wf_async_copy(void* to, const void* from, size_t bytes, size_t zeros, size_t alignment);
void wf_async_commit(void);
void wf_async_wait(unsigned prior);  // for all batches but the last `prior` ones
void wf_async_bind(const wf_simt::BarrierState* state);
// Another thread may run.
void wf_yield(void);
// Follows every read of a volatile variable, on the host too: loops that wait are made of them.
void wf_volatile_read(void);
// With some probability another thread runs (random schedule only).
void wf_preempt(void);
// Ends the run with a fault.
[[noreturn]] void wf_trap(const char* message, const char* file, int line);
// The run goes on.
void wf_report_misaligned(const void* address, size_t alignment, const char* file, int line);
extern unsigned char wf_dynamic_shared[];  // 227 KiB, aligned to 1024
}

namespace wf_simt {

inline constexpr unsigned warp_size = 32;
inline void* dynamic_shared() { return wf_dynamic_shared; }
inline unsigned lane() { return context.linear & (warp_size - 1); }
inline unsigned warp() { return context.linear / warp_size; }

// Called by operations that spin loops are made of when they changed nothing, so that a thread that
// waits for another lets it run.
__attribute__((always_inline, nodebug)) inline void poll() {
  if (__builtin_expect(++context.polls > 64, 0)) wf_yield();
}

// For plain loads that may wait: counts where it is the same place again.
__attribute__((always_inline, nodebug)) inline void poll(const void* place) {
  if (context.polled == place) poll();
  context.polled = place;
}

// Not inlined: a comparison in the kernel would count as one of the kernel's.
WF_NO_INSTRUMENT __attribute__((noinline)) inline void enter(const KernelRecord& record) {
  if (__builtin_expect(context.kernel == nullptr, 0)) wf_enter_kernel(&record);
}

WF_NO_INSTRUMENT inline bool next_thread() {
  Context& c = context;
  if (__builtin_expect(c.slow != 0, 0)) return wf_next_thread();
  if (++c.linear == c.threads) return wf_next_thread();
  if (++c.thread.x == c.block_dim.x) {
    c.thread.x = 0;
    if (++c.thread.y == c.block_dim.y) {
      c.thread.y = 0;
      ++c.thread.z;
    }
  }
  return true;
}

template <class Call>
class Kernel {
 public:
  Kernel(const LaunchRequest& request, const Call& call) : request_(request), call_(call) {}

  template <class... Args>
  int operator()(Args&&... args) const {
    auto one = [&]() WF_NO_INSTRUMENT { [[clang::always_inline]] call_(args...); };
    LaunchRequest request = request_;
    request.closure = &one;
    request.run_threads = &run_threads<decltype(one)>;
    return wf_launch(&request);
  }

 private:
  template <class One>
  WF_NO_INSTRUMENT static void run_threads(void* closure) {
    do {
      (*static_cast<One*>(closure))();
    } while (next_thread());
  }

  LaunchRequest request_;
  const Call& call_;
};

class Config {
 public:
  Config(dim3 grid, dim3 block, size_t dynamic_shared_bytes = 0, void* stream = nullptr,
         bool cooperative = false)
      : request_{"",      nullptr,     &context,
                 grid,    block,       dynamic_shared_bytes,
                 stream,  cooperative, &wf_kernels_enter != nullptr,
                 nullptr, nullptr} {}

  template <class Call>
  Kernel<Call> kernel(const char* name, const Call& call) const {
    LaunchRequest request = request_;
    request.name = name;
    return Kernel<Call>(request, call);
  }
  template <class... Parameters>
  Kernel<void (*)(Parameters...)> function(void (*const& pointer)(Parameters...)) const {
    LaunchRequest request = request_;
    request.function = reinterpret_cast<const void*>(pointer);
    return Kernel<void (*)(Parameters...)>(request, pointer);
  }

 private:
  LaunchRequest request_;
};

}  // namespace wf_simt
