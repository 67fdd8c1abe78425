// One run of a kernel: its fault log, its counters, and the way out of it from anywhere - a report,
// a fiber, a signal handler - back to execute(). Exactly one run is active at a time in a process.
#pragma once

#include <pthread.h>

#include <csignal>
#include <cstdint>
#include <string>

#include "kernels/device.h"
#include "kernels/simt/address_range.h"
#include "kernels/simt/faults.h"
#include "kernels/simt/include/wf_simt.h"
#include "kernels/warpfuzz_kernel.h"

namespace warpfuzz::simt {

struct Run {
  volatile sig_atomic_t active = 0;
  volatile sig_atomic_t expired = 0;  // the time limit has passed: leave at the next safe point
  volatile uint64_t serial = 0;
  pthread_t thread = {};  // of the operating system: the only one that may launch
  uint64_t limit_ms = 0;
  AddressRange code;
  bool program = false;           // a whole program, whose output and exit status count
  AddressRange image;             // of the program
  bool ended_abnormally = false;  // by abort() or an exception: `message` says which
  RunOptions options;
  FaultLog faults;
  uint32_t launches = 0;
  uint32_t failed_launches = 0;
  uint32_t device_operations = 0;
  int status = WF_OK;      // what the kernel or the program returned
  char message[160] = {};  // of the last failed runtime call
  void* jump_buffer[5] = {};
};
extern Run run;

inline constexpr int aborted_exit_code = 134;  // as a shell sees SIGABRT

// Calls body(data), code of the kernel that returns a WfStatus, and returns when it does or when
// the run is left.
using RunBody = int (*)(const void* data);
RunResult execute(RunBody body, const void* data, const RunOptions& options, AddressRange code);

// Adds a fault; fills in the running CUDA thread unless the fault names one. Leaves the run when
// the log is full.
void report(RawFault fault);
RawFault make_fault(FaultKind kind, const char* file, int line);
void report_misaligned(uintptr_t address, uint64_t alignment, uintptr_t pc);
// Reports an access of poisoned memory, which an instrumented kernel would; false if it was one.
bool check_access(bool write, const void* begin, size_t bytes, uintptr_t pc);

// Ends the run: execute() returns. `stack_pointer` is the deepest address of the OS thread's stack
// that the kernel has used, if the caller knows better than "here" (a signal handler).
[[noreturn]] void leave_run(uintptr_t stack_pointer = 0);

[[noreturn]] void report_time_limit(uintptr_t pc, uintptr_t stack_pointer);
// Leaves the run if its time is up; called where the runtime's state is consistent.
inline void check_time_limit() {
  if (__builtin_expect(run.expired != 0, 0)) report_time_limit(0, 0);
}

}  // namespace warpfuzz::simt
