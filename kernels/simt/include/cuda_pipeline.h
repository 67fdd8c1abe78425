// Refused: asynchronous copies are not run as such.
#pragma once
#error \
    "<cuda_pipeline.h> is not supported on the CPU device; copy with plain loads and __syncthreads() under #ifdef WARPFUZZ_CPU"
