// Included before the first line of every kernel source, as nvcc includes its own prelude.
#pragma once

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <initializer_list>
#include <new>
#include <utility>

#include "cuda_runtime.h"

// Puts the compiler's version into the preprocessed text, and so into the key of the cache.
static_assert(sizeof(__VERSION__) != 0, "");

#ifdef WF_LINE_COUNTS
// With counts of lines and branches: they are written when asked for, not when the process ends,
// which defining __llvm_profile_runtime prevents.
extern "C" {
int __llvm_profile_write_file(void);
void __llvm_profile_set_filename(const char* name);
WF_HIDDEN int __llvm_profile_runtime = 0;
__attribute__((no_profile_instrument_function)) int wf_write_line_counts(const char* file) {
  __llvm_profile_set_filename(file);
  return __llvm_profile_write_file();
}
}
#endif
