// Defaults of the sanitizers' runtimes in programs that run kernels; ASAN_OPTIONS overrides them.
extern "C" {

// Device stacks are switched by hand, and faults in kernels are verdicts, not reports.
const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:detect_leaks=0:allow_user_segv_handler=1:"
         "handle_segv=1:handle_sigbus=1:handle_sigfpe=1:protect_shadow_gap=0:"
         // The host allocates a little in every run: no stacks of it, a small quarantine.
         "malloc_context_size=0:quarantine_size_mb=8";
}
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
}
