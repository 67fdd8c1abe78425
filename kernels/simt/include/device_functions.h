// The device functions that need no runtime: mathematics, conversions, bits, cache hints.
#pragma once

#include "math_functions.h"
#include "vector_functions.h"
#include "wf_cache_hints.h"
#include "wf_conversions.h"
#include "wf_integers.h"
