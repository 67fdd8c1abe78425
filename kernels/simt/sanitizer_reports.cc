// Where the sanitizer reports of instrumented kernels arrive (see wrapped_symbols.h): each becomes
// a fault of the run, and the kernel goes on.
#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/simt/address_note.h"
#include "kernels/simt/asan.h"
#include "kernels/simt/run.h"
#include "kernels/simt/wrapped_symbols.h"

namespace warpfuzz::simt {

namespace {

// The head of the data that UBSan's handlers get.
struct SourceLocation {
  const char* file;
  uint32_t line;
  uint32_t column;
};
struct TypeMismatchData {
  SourceLocation location;
  const void* type;
  uint8_t log_alignment;
  uint8_t check_kind;
};

void report_access(bool write, uintptr_t address, size_t bytes, uintptr_t pc) {
  RawFault fault = make_fault(
      write ? FaultKind::out_of_bounds_write : FaultKind::out_of_bounds_read, nullptr, 0);
  const std::string note = address_note(address);
  set_text(fault.message, "{} of {} bytes outside any buffer{}{}", write ? "write" : "read", bytes,
           note.empty() ? "" : ": ", note);
  fault.address = address;
  fault.bytes = static_cast<uint32_t>(bytes);
  fault.pc = pc;
  report(fault);
}

uintptr_t before(void* return_address) { return reinterpret_cast<uintptr_t>(return_address) - 1; }

void report_undefined(const void* data, const char* what) {
  const auto* location = static_cast<const SourceLocation*>(data);
  RawFault fault =
      make_fault(FaultKind::undefined_behavior, location->file, static_cast<int>(location->line));
  set_text(fault.message, "{}", what);
  report(fault);
}

void report_misaligned(uintptr_t address, size_t alignment, const char* file, int line) {
  RawFault fault = make_fault(FaultKind::misaligned_access, file, line);
  set_text(fault.message, "access to an address that is not a multiple of {}", alignment);
  fault.address = address;
  report(fault);
}

// Of a program, exit() is an ordinary end.
[[noreturn]] void end_run(const char* call, int code) {
  if (run.active == 0) std::_Exit(code);
  if (run.program) {
    run.status = code;
  } else {
    set_text(run.message, "the kernel called {}({})", call, code);
  }
  leave_run();
}

}  // namespace

bool check_access(bool write, const void* begin, size_t bytes, uintptr_t pc) {
  const void* bad = first_poisoned(begin, bytes);
  if (bad != nullptr) report_access(write, reinterpret_cast<uintptr_t>(bad), bytes, pc);
  return bad == nullptr;
}

}  // namespace warpfuzz::simt

using namespace warpfuzz::simt;
using warpfuzz::FaultKind;

#pragma clang diagnostic ignored "-Wreserved-identifier"

extern "C" {

#define WARPFUZZ_IS_WRITE_load false
#define WARPFUZZ_IS_WRITE_store true
#define WARPFUZZ_DEFINE_REPORT(access, bytes)                              \
  void __wrap___asan_report_##access##bytes##_noabort(uintptr_t address) { \
    report_access(WARPFUZZ_IS_WRITE_##access, address, bytes,              \
                  before(__builtin_return_address(0)));                    \
  }
WARPFUZZ_ASAN_REPORTS(WARPFUZZ_DEFINE_REPORT)

void __wrap___asan_report_load_n_noabort(uintptr_t address, size_t bytes) {
  report_access(false, address, bytes, before(__builtin_return_address(0)));
}
void __wrap___asan_report_store_n_noabort(uintptr_t address, size_t bytes) {
  report_access(true, address, bytes, before(__builtin_return_address(0)));
}

void* __wrap___asan_memcpy(void* to, const void* from, size_t bytes) {
  check_access(false, from, bytes, before(__builtin_return_address(0)));
  check_access(true, to, bytes, before(__builtin_return_address(0)));
  raw_copy(to, from, bytes);
  return to;
}
void* __wrap___asan_memmove(void* to, const void* from, size_t bytes) {
  check_access(false, from, bytes, before(__builtin_return_address(0)));
  check_access(true, to, bytes, before(__builtin_return_address(0)));
  raw_move(to, from, bytes);
  return to;
}
void* __wrap___asan_memset(void* to, int value, size_t bytes) {
  check_access(true, to, bytes, before(__builtin_return_address(0)));
  raw_fill(to, static_cast<uint8_t>(value), bytes);
  return to;
}

// ASan would unpoison up to the top of the OS thread's stack, which is not the one in use.
// leave_run() cleans up what it abandons.
void __wrap___asan_handle_no_return(void) {}

#define WARPFUZZ_DEFINE_UNDEFINED(handler, what)                           \
  void __wrap___ubsan_handle_##handler(void* data, uintptr_t, uintptr_t) { \
    report_undefined(data, what);                                          \
  }
WARPFUZZ_DEFINE_UNDEFINED(add_overflow, "signed integer overflow in an addition")
WARPFUZZ_DEFINE_UNDEFINED(sub_overflow, "signed integer overflow in a subtraction")
WARPFUZZ_DEFINE_UNDEFINED(mul_overflow, "signed integer overflow in a multiplication")
WARPFUZZ_DEFINE_UNDEFINED(negate_overflow, "signed integer overflow in a negation")
WARPFUZZ_DEFINE_UNDEFINED(divrem_overflow, "integer division by zero or overflow")
WARPFUZZ_DEFINE_UNDEFINED(shift_out_of_bounds, "shift by a negative or too large amount")
WARPFUZZ_DEFINE_UNDEFINED(out_of_bounds, "array index out of bounds")
WARPFUZZ_DEFINE_UNDEFINED(pointer_overflow, "pointer arithmetic overflows")
WARPFUZZ_DEFINE_UNDEFINED(float_cast_overflow, "value does not fit the integer type")
WARPFUZZ_DEFINE_UNDEFINED(load_invalid_value, "load of a value that its type does not have")
WARPFUZZ_DEFINE_UNDEFINED(invalid_builtin, "zero passed to a count of zero bits")
WARPFUZZ_DEFINE_UNDEFINED(vla_bound_not_positive, "array of no elements")
WARPFUZZ_DEFINE_UNDEFINED(nonnull_arg, "null pointer passed as an argument that must not be null")
WARPFUZZ_DEFINE_UNDEFINED(nonnull_return_v1, "null pointer returned that must not be null")
WARPFUZZ_DEFINE_UNDEFINED(alignment_assumption, "pointer less aligned than assumed")

void __wrap___ubsan_handle_builtin_unreachable(void* data) {
  report_undefined(data, "execution reaches unreachable code");
  leave_run();
}
void __wrap___ubsan_handle_missing_return(void* data) {
  report_undefined(data, "function ends without returning a value");
  leave_run();
}

void __wrap___ubsan_handle_type_mismatch_v1(TypeMismatchData* data, uintptr_t pointer) {
  const uintptr_t alignment = uintptr_t{1} << data->log_alignment;
  if (pointer == 0 || (pointer & (alignment - 1)) == 0) {
    report_undefined(data, pointer == 0 ? "null pointer used" : "object too small for its type");
    return;
  }
  report_misaligned(pointer, alignment, data->location.file, static_cast<int>(data->location.line));
}

// Called by what add_alignment_checks() puts before copies of structs.
void wf_misaligned(const void* address, uint64_t mask) {
  report_misaligned(reinterpret_cast<uintptr_t>(address), mask + 1,
                    reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1);
}

void __wrap___assert_fail(const char* expression, const char* file, unsigned line,
                          const char* /*function*/) {
  RawFault fault = make_fault(FaultKind::undefined_behavior, file, static_cast<int>(line));
  set_text(fault.message, "assertion failed: {}", expression);
  report(fault);
  leave_run();
}
[[noreturn]] void __wrap_abort(void) {
  if (!run.program) end_run("abort", 0);
  set_text(run.message, "abort()");
  run.ended_abnormally = true;
  end_run("abort", aborted_exit_code);
}
// A kernel's variables are put back between trials and made anew: destroying them once for each
// time would be wrong. They go with the process.
int __wrap___cxa_atexit(void (*function)(void*), void* argument, void* object) {
  return run.program ? abi::__cxa_atexit(function, argument, object) : 0;
}

[[noreturn]] void __wrap_exit(int code) { end_run("exit", code); }
[[noreturn]] void __wrap__exit(int code) { end_run("_exit", code); }
[[noreturn]] void __wrap__Exit(int code) { end_run("_Exit", code); }
[[noreturn]] void __wrap_quick_exit(int code) { end_run("quick_exit", code); }

// Kernels under test print to nowhere.
int __wrap_vprintf(const char* format, va_list values) {
  return run.program ? std::vprintf(format, values) : 0;
}
int __wrap_printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = __wrap_vprintf(format, values);
  va_end(values);
  return count;
}
int __wrap_puts(const char* text) { return run.program ? std::puts(text) : 0; }
int __wrap_putchar(int c) { return run.program ? std::putchar(c) : c; }

void wf_report_misaligned(const void* address, size_t alignment, const char* file, int line) {
  report_misaligned(reinterpret_cast<uintptr_t>(address), alignment, file, line);
}

[[noreturn]] void wf_trap(const char* message, const char* file, int line) {
  RawFault fault = make_fault(FaultKind::undefined_behavior, file, line);
  set_text(fault.message, "{}", message);
  report(fault);
  leave_run();
}
}
