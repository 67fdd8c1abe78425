#include "kernels/simt/run.h"

#include <exception>
#include <limits>

#include "kernels/simt/asan.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/grid.h"
#include "kernels/simt/host_api.h"
#include "kernels/simt/signals.h"

namespace warpfuzz::simt {

Run run;

namespace {

uintptr_t execute_frame = 0;  // no frame of the kernel on the OS thread's stack lies above

void call_body(RunBody body, const void* data) {
  try {
    run.status = body(data);
  } catch (const std::exception& error) {
    run.status = WF_ERROR;
    set_message("the kernel threw: ", error.what());
  } catch (...) {
    run.status = WF_ERROR;
    set_message("the kernel threw an exception", "");
  }
}

// Its own function: after __builtin_longjmp no local variable survives.
__attribute__((noinline)) bool call_and_catch(RunBody body, const void* data) {
  if (__builtin_setjmp(run.jump_buffer) != 0) return false;
  call_body(body, data);
  return true;
}

}  // namespace

RunResult execute(RunBody body, const void* data, const RunOptions& options, AddressRange code) {
  install_signal_handlers();
  run.faults.clear();
  run.launches = run.failed_launches = run.device_operations = 0;
  run.status = WF_ERROR;
  run.message[0] = 0;
  run.options = options;
  run.code = code;
  run.limit_ms = options.time_limit.count() > 0 ? static_cast<uint64_t>(options.time_limit.count())
                                                : std::numeric_limits<uint64_t>::max();
  run.serial = run.serial + 1;
  run.thread = pthread_self();
  run.expired = 0;
  execute_frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  begin_host_api_run();
  run.active = 1;
  const bool returned = call_and_catch(body, data);
  run.active = 0;
  if (!returned) {
    grid.abandon();
    fibers.current = &fibers.main;
  }

  RunResult result;
  result.launches = run.launches;
  result.failed_launches = run.failed_launches;
  result.device_operations = run.device_operations;
  result.message = run.message;
  result.faults = run.faults.faults();
  if (!result.faults.empty()) {
    result.status = RunStatus::fault;
  } else if (!returned || run.status == WF_ERROR) {
    result.status = RunStatus::error;
  } else if (run.status == WF_UNSUPPORTED) {
    result.status = RunStatus::unsupported;
  }
  return result;
}

RawFault make_fault(FaultKind kind, const char* file, int line) {
  RawFault fault;
  fault.kind = kind;
  fault.file = file;
  fault.line = line;
  grid.describe_thread(fault);
  return fault;
}

void report(RawFault fault) {
  if (run.active == 0) return;
  if (!run.faults.add(fault) || run.faults.full()) leave_run();
}

void report_misaligned(uintptr_t address, uint64_t alignment, uintptr_t pc) {
  RawFault fault = make_fault(FaultKind::misaligned_access, nullptr, 0);
  set_text(fault.message, "access to an address that is not a multiple of {}", alignment);
  fault.address = address;
  fault.pc = pc;
  report(fault);
}

void leave_run(uintptr_t stack_pointer) {
  run.active = 0;  // a signal from here on is not the kernel's
  if (stack_pointer == 0) stack_pointer = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (fibers.current != &fibers.main) {
    stack_pointer = reinterpret_cast<uintptr_t>(fibers.main.stack_pointer);
  }
  if (stack_pointer < execute_frame) {
    const uintptr_t low = stack_pointer & ~uintptr_t{7};
    unpoison(reinterpret_cast<void*>(low), execute_frame - low);
  }
  __builtin_longjmp(run.jump_buffer, 1);
}

void report_time_limit(uintptr_t pc, uintptr_t stack_pointer) {
  RawFault fault = make_fault(FaultKind::time_limit, nullptr, 0);
  set_text(fault.message, "the kernel does not end within the time limit");
  if (pc != 0) {
    fault.pc = pc;
  } else {
    grid.describe_place(fault);
  }
  run.faults.add(fault);
  leave_run(stack_pointer);
}

}  // namespace warpfuzz::simt
