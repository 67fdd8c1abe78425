#include "kernels/simt/signals.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

#include "kernels/simt/fiber.h"
#include "kernels/simt/grid.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt {

namespace {

// CPU time, so that a busy machine does not make kernels look slow, and idle time costs nothing.
constexpr clockid_t timer_clock = CLOCK_THREAD_CPUTIME_ID;
constexpr uint64_t tick_ms = 50;
constexpr size_t alternate_stack_bytes = 64 << 10;
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

struct sigaction previous[NSIG];
bool installed = false;
uint64_t last_serial = 0;
uint64_t ticks = 0;  // of the run last_serial

int timer_signal() { return SIGRTMIN + 5; }

struct Position {
  uintptr_t pc;
  uintptr_t stack_pointer;
};

// The innermost frame of the kernel object: the fault may lie in a function that it calls.
Position find_position(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  Position position{static_cast<uintptr_t>(registers[REG_RIP]),
                    static_cast<uintptr_t>(registers[REG_RSP])};
  if (run.code.contains(position.pc)) return position;
  const uintptr_t low = position.stack_pointer;
  if (low % sizeof(uintptr_t) != 0) return position;
  const uintptr_t high =
      fibers.current == &fibers.main
          ? low + 4096
          : reinterpret_cast<uintptr_t>(fibers.current->bottom) + usable_stack_bytes;
  // A call through a wild pointer has just pushed its return address.
  if (low < high) {
    const uintptr_t top = *reinterpret_cast<const uintptr_t*>(low);
    if (run.code.contains(top)) return {top - 1, low};
  }
  uintptr_t frame = static_cast<uintptr_t>(registers[REG_RBP]);
  for (int depth = 0; depth < 16; ++depth) {
    if (frame < low || frame + 16 > high || frame % sizeof(uintptr_t) != 0) break;
    const uintptr_t* words = reinterpret_cast<const uintptr_t*>(frame);
    if (run.code.contains(words[1])) return {words[1] - 1, low};
    frame = words[0];
  }
  return position;
}

void describe(RawFault& fault, int signal, const siginfo_t& info, const ucontext_t& context) {
  const char* text = "";
  switch (signal) {
    case SIGSEGV:
    case SIGBUS: {
      fault.kind = FaultKind::wild_access;
      fault.address = reinterpret_cast<uintptr_t>(info.si_addr);
      const bool write = (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;
      text = grid.in_guard_page(fault.address)
                 ? "stack overflow: too large local arrays or recursion"
             : write ? "write to unmapped memory"
                     : "read from unmapped memory";
      break;
    }
    case SIGFPE:
      fault.kind = FaultKind::undefined_behavior;
      text = "integer division by zero or overflow";
      break;
    default:
      fault.kind = FaultKind::undefined_behavior;
      text = "trap";
      break;
  }
  set_text(fault.message, "{}", text);
}

void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = previous[signal];
  if ((old.sa_flags & SA_SIGINFO) != 0) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler == SIG_DFL) {
    sigaction(signal, &old, nullptr);  // the instruction faults again
  } else if (old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* raw_context) {
  if (run.active == 0) {
    chain(signal, info, raw_context);
    return;
  }
  const ucontext_t& context = *static_cast<const ucontext_t*>(raw_context);
  RawFault fault = make_fault(FaultKind::wild_access, nullptr, 0);
  describe(fault, signal, *info, context);
  const Position position = find_position(context);
  fault.pc = position.pc;
  run.faults.add(fault);
  leave_run(position.stack_pointer);
}

void on_tick(int, siginfo_t*, void* raw_context) {
  if (run.active == 0) return;
  if (run.serial != last_serial) {
    last_serial = run.serial;
    ticks = 0;
  }
  if (++ticks * tick_ms <= run.limit_ms) return;
  // In the runtime or a library, wait for the next safe point.
  run.expired = 1;
  const ucontext_t& context = *static_cast<const ucontext_t*>(raw_context);
  const auto& registers = context.uc_mcontext.gregs;
  const uintptr_t pc = static_cast<uintptr_t>(registers[REG_RIP]);
  if (run.code.contains(pc)) {
    report_time_limit(pc, static_cast<uintptr_t>(registers[REG_RSP]));
  }
}

void start_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = timer_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer{};
  if (timer_create(timer_clock, &event, &timer) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot create a timer");
  }
  itimerspec interval{};
  interval.it_interval.tv_nsec = interval.it_value.tv_nsec = tick_ms * 1'000'000;
  timer_settime(timer, 0, &interval, nullptr);
}

}  // namespace

void install_signal_handlers() {
  if (installed) return;
  installed = true;
  void* stack = mmap(nullptr, alternate_stack_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = alternate_stack_bytes;
  sigaltstack(&alternate, nullptr);

  struct sigaction action{};
  action.sa_sigaction = &on_fault;
  // The handler leaves by a jump, so it must not find its signal blocked the next time.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : fault_signals) sigaction(signal, &action, &previous[signal]);
  action.sa_sigaction = &on_tick;
  action.sa_flags |= SA_RESTART;
  sigaction(timer_signal(), &action, nullptr);
  start_timer();
  // Children of fork() inherit handlers, not timers.
  pthread_atfork(nullptr, nullptr, [] { start_timer(); });
}

}  // namespace warpfuzz::simt
