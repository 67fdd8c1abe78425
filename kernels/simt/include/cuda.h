// The driver API's header is included by many kernels and used by few: version and basic types
// only.
#pragma once

#include "cuda_runtime_api.h"

#ifndef CUDA_VERSION
#define CUDA_VERSION 12080
#endif
