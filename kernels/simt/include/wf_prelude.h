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
