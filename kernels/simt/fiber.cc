#include "kernels/simt/fiber.h"

#include <sys/mman.h>

#include <new>

#include "kernels/simt/asan.h"

namespace warpfuzz::simt {

namespace {

constexpr size_t stacks_per_growth = 32;
// Tops differ by a multiple of the cache line, over two pages.
constexpr size_t color_bytes = 5 * 64;
constexpr size_t colors = 25;

FiberPool::Body entry_body = nullptr;

}  // namespace

FiberState fibers;

void FiberPool::enter() { entry_body(*fibers.current); }

void FiberPool::prepare(Fiber& fiber) {
  entry_body = body_;
  const size_t color = reinterpret_cast<uintptr_t>(fiber.bottom) / fiber_stack_bytes % colors;
  // As a call would leave it: the address of the function on top is taken by the switch, the return
  // address below it is null, where unwinders stop.
  auto** top = reinterpret_cast<void**>(fiber.bottom + usable_stack_bytes - color * color_bytes);
  top[-1] = nullptr;
  top[-2] = nullptr;
  top[-4] = reinterpret_cast<void*>(&enter);
  top[-3] = nullptr;
  fiber.stack_pointer = top - 4;
  fiber.bound = false;
}

void FiberPool::grow() {
  const size_t bytes = stacks_per_growth * fiber_stack_bytes;
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  all_.push_back(std::make_unique<Fiber[]>(stacks_per_growth));
  for (size_t i = stacks_per_growth; i-- > 0;) {
    char* stack = static_cast<char*>(mapping) + i * fiber_stack_bytes;
    mprotect(stack, page_bytes, PROT_NONE);
    Fiber& fiber = all_.back()[i];
    fiber.bottom = stack + page_bytes;
    prepare(fiber);
    free_.push_back(&fiber);
  }
}

Fiber& FiberPool::take() {
  if (free_.empty()) grow();
  Fiber& fiber = *free_.back();
  free_.pop_back();
  return fiber;
}

void FiberPool::abandon() {
  free_.clear();
  for (auto& group : all_) {
    for (size_t i = 0; i < stacks_per_growth; ++i) {
      Fiber& fiber = group[i];
      // Frames of suspended threads lie above the saved stack pointer; of the running one we do not
      // know it.
      const char* low =
          &fiber == fibers.current ? fiber.bottom : static_cast<char*>(fiber.stack_pointer);
      unpoison(low, static_cast<size_t>(fiber.bottom + usable_stack_bytes - low));
      prepare(fiber);
      free_.push_back(&fiber);
    }
  }
}

bool FiberPool::in_guard_page(uintptr_t address) const {
  for (const auto& group : all_) {
    for (size_t i = 0; i < stacks_per_growth; ++i) {
      const uintptr_t bottom = reinterpret_cast<uintptr_t>(group[i].bottom);
      if (address >= bottom - page_bytes && address < bottom) return true;
    }
  }
  return false;
}

}  // namespace warpfuzz::simt
