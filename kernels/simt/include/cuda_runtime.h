// CUDA's core for the CPU device: language built-ins, device functions and the host API.
#pragma once

#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "host_defines.h"
#include "vector_types.h"
#include "wf_atomics.h"
#include "wf_simt.h"
#include "wf_threads.h"
