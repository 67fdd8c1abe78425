// The functions that instrumented kernels call to report an error, and the few that end a process,
// act at its end or write to its stdout, which is ours. A kernel object is linked with
// -Wl,--wrap=<symbol> for each of them, so that its calls arrive at
// __wrap_<symbol> of the runtime, which records a fault instead of killing the process. One table:
// the compiler driver makes linker flags from it, the runtime defines the functions.
#pragma once

#define WARPFUZZ_ASAN_REPORTS(X) \
  X(load, 1)                     \
  X(load, 2)                     \
  X(load, 4)                     \
  X(load, 8)                     \
  X(load, 16)                    \
  X(store, 1)                    \
  X(store, 2)                    \
  X(store, 4)                    \
  X(store, 8)                    \
  X(store, 16)

namespace warpfuzz::simt {

inline constexpr const char* wrapped_symbols[] = {
#define WARPFUZZ_ASAN_REPORT_NAME(access, bytes) "__asan_report_" #access #bytes "_noabort",
    WARPFUZZ_ASAN_REPORTS(WARPFUZZ_ASAN_REPORT_NAME)
#undef WARPFUZZ_ASAN_REPORT_NAME
        "__asan_report_load_n_noabort",
    "__asan_report_store_n_noabort",
    "__asan_memcpy",
    "__asan_memmove",
    "__asan_memset",
    "__asan_handle_no_return",
    "__ubsan_handle_add_overflow",
    "__ubsan_handle_sub_overflow",
    "__ubsan_handle_mul_overflow",
    "__ubsan_handle_negate_overflow",
    "__ubsan_handle_divrem_overflow",
    "__ubsan_handle_shift_out_of_bounds",
    "__ubsan_handle_out_of_bounds",
    "__ubsan_handle_type_mismatch_v1",
    "__ubsan_handle_pointer_overflow",
    "__ubsan_handle_float_cast_overflow",
    "__ubsan_handle_load_invalid_value",
    "__ubsan_handle_invalid_builtin",
    "__ubsan_handle_vla_bound_not_positive",
    "__ubsan_handle_nonnull_arg",
    "__ubsan_handle_nonnull_return_v1",
    "__ubsan_handle_alignment_assumption",
    "__ubsan_handle_builtin_unreachable",
    "__ubsan_handle_missing_return",
    "__cxa_atexit",
    "__assert_fail",
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "printf",
    "vprintf",
    "puts",
    "putchar",
};

}  // namespace warpfuzz::simt
