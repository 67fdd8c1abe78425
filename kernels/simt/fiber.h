// Fibers: stacks on which suspended CUDA threads wait, and the switch between them. Stacks are
// mapped once, with a guard page below, and never freed; their tops are coloured so that 256 of
// them do not fight for one cache set. One OS thread only.
//
// ASan is not told of the switches (__sanitizer_start_switch_fiber costs as much as the switch): it
// would use the stack's bounds for fake stacks, which kernels are compiled without, and before
// functions that do not return, where __asan_handle_no_return is wrapped (wrapped_symbols.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/simt/include/wf_simt.h"

namespace warpfuzz::simt {

struct alignas(64) Fiber {
  void* stack_pointer = nullptr;  // where it waits; on top lies the address to go on at
  char* bottom = nullptr;         // lowest usable byte of the stack
  // The CUDA thread that owns the fiber while `bound`.
  bool bound = false;
  unsigned linear = 0;
  uint3 thread{};
};

// The fiber that runs now, and the stack of the OS thread as a fiber.
struct FiberState {
  Fiber main;
  Fiber* current = &main;
};
extern FiberState fibers;

// Inline and without call and return, so that the processor's return predictor stays right: all
// fibers wait in the same few functions. The compiler saves what is live; the frame pointer we
// save. Below the stack pointer lies the red zone.
__attribute__((always_inline)) inline void switch_to(Fiber& to) {
  Fiber& self = *fibers.current;
  fibers.current = &to;
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%[self])\n\t"
      "movq %[to], %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      :
      : [self] "D"(&self.stack_pointer), [to] "S"(to.stack_pointer)
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
        "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// The frames that a switch to the fiber will touch first.
inline void prefetch_stack(const Fiber& fiber) {
  const char* top = static_cast<const char*>(fiber.stack_pointer);
  for (int line = 0; line < 4; ++line) __builtin_prefetch(top + 64 * line);
}

class FiberPool {
 public:
  using Body = void (*)(Fiber& self);  // must not return

  explicit FiberPool(Body body) : body_(body) {}
  // A fiber that runs the body from its start, or goes on where it gave itself back.
  Fiber& take();
  void give(Fiber& fiber) { free_.push_back(&fiber); }
  // All fibers are free and start afresh: their suspended frames are forgotten.
  void abandon();
  // True if the address lies in the guard page of one of the stacks.
  bool in_guard_page(uintptr_t address) const;

 private:
  void grow();
  void prepare(Fiber& fiber);
  static void enter();

  Body body_;
  std::vector<std::unique_ptr<Fiber[]>> all_;  // stacks_per_growth each
  std::vector<Fiber*> free_;
};

inline constexpr size_t page_bytes = 4096;
inline constexpr size_t fiber_stack_bytes = 256 << 10;  // with the guard page
inline constexpr size_t usable_stack_bytes = fiber_stack_bytes - page_bytes;

}  // namespace warpfuzz::simt
