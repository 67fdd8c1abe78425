/* What the hooks inside a kernel object built for CUDA (runtime_hooks.cc) tell the device about one
 * call: launches, copies, errors, resources. C, so that it is the same on both sides of dlsym. */
#ifndef WARPFUZZ_CUDA_RUNTIME_REPORT_H_
#define WARPFUZZ_CUDA_RUNTIME_REPORT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t launches; /* that succeeded */
  uint32_t failed_launches;
  uint32_t foreign_launches; /* on another stream than the call's */
  uint32_t host_copies;      /* copies of which one side is host memory */
  uint32_t synchronizations; /* explicit waits for a stream or the device */
  /* The largest over all launches. */
  uint32_t registers;
  uint32_t shared_bytes; /* static and dynamic */
  uint32_t local_bytes;  /* per thread: spills and local arrays */
  uint32_t block_threads;
  char message[128]; /* of the last failed launch or copy */
} WfCudaReport;

/* A kernel whose PTX asks for what no device has (ptx/resources.h): its launches are refused with
 * this message. */
typedef struct {
  const char* entry; /* mangled */
  const char* message;
} WfCudaRefusedEntry;

/* Before and after warpfuzz_kernel(). */
void warpfuzz_cuda_begin(void* stream);
void warpfuzz_cuda_end(WfCudaReport* report);
/* Device address of the coverage counters, a bit each in words of 32, and how many there are; 0 for
 * success, else a cudaError_t. */
int warpfuzz_cuda_coverage_bits(uint64_t* address, uint64_t* count);
/* What the counters mean (ptx/coverage_map.h), as JSON. */
extern const char warpfuzz_cuda_coverage_map[];
/* Ends with a null entry. */
extern const WfCudaRefusedEntry warpfuzz_cuda_refused_entries[];

#ifdef __cplusplus
}
#endif
#endif /* WARPFUZZ_CUDA_RUNTIME_REPORT_H_ */
