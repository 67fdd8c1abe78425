// Reports of compute-sanitizer's tools, with the names and addresses of these tests.
#pragma once

namespace warpfuzz::test {

inline constexpr const char* memcheck_report =
    R"(========= COMPUTE-SANITIZER
what the program prints
========= Invalid __global__ write of size 4 bytes
=========     at relu(const float *, float *, int)+0x160 in relu.cu:8
=========     by thread (17,0,0) in block (3,0,0)
=========     Access at 0x7f71b9f00600 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f71b9f00200 of size 1,024 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cudaLaunchKernel [0x83cb7] in main
=========         Host Frame: main in main.cu:688 [0xab50] in main
=========
========= Invalid __global__ write of size 4 bytes
=========     at relu(const float *, float *, int)+0x160 in relu.cu:8
=========     by thread (18,0,0) in block (3,0,0)
=========     Access at 0x7f71b9f00604 is out of bounds
=========     and is 5 bytes after the nearest allocation at 0x7f71b9f00200 of size 1,024 bytes
=========
========= Invalid __global__ read of size 16 bytes
=========     at relu(const float *, float *, int)+0x90 in /src/relu.cu:6
=========     by thread (1,0,0) in block (0,0,0)
=========     Access at 0x7f71b9e00a04 is misaligned
=========     and is inside the nearest allocation at 0x7f71b9e00a00 of size 2400 bytes
=========         Device Frame: outer(float *)+0x40 in outer.cu:90
=========
========= Invalid __shared__ read of size 4 bytes
=========     at tile(float *)+0x120
=========     by thread (31,0,0) in block (0,0,0)
=========     Address 0x1080 is out of bounds
=========
========= Invalid __global__ atomic of size 4 bytes
=========     at T1 add<int, (bool)1>(T1 *)+0x1dd40 in hist.cuh:40
=========     by thread (0,2,0) in block (0,0,0)
=========     Access at 0x10 is out of bounds
=========     and is 593,361,581,569 bytes before the nearest allocation at 0x7f7100000000 of size 512 bytes
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.
=========     Saved host backtrace up to driver entry point at error
========= ERROR SUMMARY: 5 errors
)";

inline constexpr const char* hazard_report =
    R"(========= COMPUTE-SANITIZER
========= Warning: Potential WAR hazard detected at __shared__ 0x0 in block (0,0,0) :
=========     Read Thread (0,0,0) at softmax(float *)+0x2f0 in softmax.cu:10
=========     Write Thread (1,0,0) at softmax(float *)+0x310 in softmax.cu:12
=========
========= Error: Potential RAW hazard detected at __shared__ 0x10 in block (2,0,0) :
=========     Write Thread (1,0,0) at softmax(float *)+0x2f0 in softmax.cu:20
=========     Read Thread (0,0,0) at softmax(float *)+0x310 in softmax.cu:22
=========     Current Value : 1, Incoming Value : 2
=========
========= Error: Potential RAW hazard detected at __shared__ 0x11 in block (2,0,0) :
=========     Write Thread (1,0,0) at softmax(float *)+0x2f0 in softmax.cu:20
=========     Read Thread (0,0,0) at softmax(float *)+0x310 in softmax.cu:22
=========
========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)
)";

inline constexpr const char* analysis_report =
    R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at softmax(float *)+0x2f0 in softmax.cu:20
=========     and Read access at softmax(float *)+0x310 in softmax.cu:22 [508 hazards]
=========     and Read access at softmax(float *)+0x330 in softmax.cu:23 [4 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";

inline constexpr const char* initcheck_report =
    R"(========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at sum(int *)+0x70 in sum.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f71b9f002fc
=========
========= ERROR SUMMARY: 1 error
)";

inline constexpr const char* synccheck_report =
    R"(========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at illegal_sync(int *)+0xa0 in sync.cu:61
=========     by thread (19,0,0) in block (0,0,0)
=========
========= Barrier error detected. Missing wait.
=========     at pipeline()+0xbb10 in sync.cu:98
=========     by thread (128,0,0) in block (0,0,0)
=========     Barrier is located at shared address 0x30408
========= ERROR SUMMARY: 2 errors
)";

}  // namespace warpfuzz::test
