/* The C interface between warpfuzz and a kernel under test. Self-contained; all that a kernel
 * needs.
 *
 * A kernel is a shared object (or a .cu file that warpfuzz compiles into one) that exports
 *
 *     WfStatus warpfuzz_kernel(const WfCall* call);
 *
 * Every pointer in the call is a device pointer of the device that runs the kernel (plain memory on
 * the CPU device). Inputs must not be changed. The call may return before the device has finished:
 * all work goes on `call->stream`. C++ kernels may include warpfuzz_kernel.hpp instead, which makes
 * the entry point about five lines.
 */
#ifndef WARPFUZZ_KERNEL_H_
#define WARPFUZZ_KERNEL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WF_ABI_VERSION 1u

/* Tensors use the memory layout of DLPack's DLTensor (version 1). */
#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;
typedef struct {
  uint8_t code;   /* a DLDataTypeCode */
  uint8_t bits;   /* bits of one element */
  uint16_t lanes; /* always 1 */
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;       /* ndim extents; any of them may be 0 */
  int64_t* strides;     /* ndim strides in elements, never NULL; 0 in a broadcast dimension */
  uint64_t byte_offset; /* always 0: `data` points at the first element */
} DLTensor;
#endif

/* One attribute of the operator, in the order of its schema. Booleans and choices are integers: a
 * choice is the position of its name in the schema's list. */
typedef struct {
  const char* name;
  int32_t is_real; /* 1: `real` holds the value, 0: `integer` does */
  int64_t integer;
  double real;
} WfAttribute;

typedef struct {
  uint32_t abi_version; /* WF_ABI_VERSION */
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_attributes;
  const DLTensor* inputs;  /* in the order of the schema */
  const DLTensor* outputs; /* already allocated: the kernel fills them */
  const WfAttribute* attributes;
  void* workspace; /* warpfuzz_workspace() bytes with arbitrary contents, 256-byte aligned */
  uint64_t workspace_bytes;
  void* stream; /* a cudaStream_t */
} WfCall;

typedef enum {
  WF_OK = 0,
  WF_UNSUPPORTED = 1, /* only for a call that the declared preconditions exclude */
  WF_ERROR = 2        /* a launch or a runtime call failed */
} WfStatus;

/* The entry point. Must be exported. */
WfStatus warpfuzz_kernel(const WfCall* call);

/* Optional exports. */

/* Bytes of workspace this call needs. `data` pointers are NULL in this query. */
uint64_t warpfuzz_workspace(const WfCall* call);

/* What the kernel demands beyond its operator's schema: an expression that is non-zero for a call
 * it accepts. Names: the schema's axes, integer attributes and dtype variables (compared with dtype
 * names), and per tensor t: t_contiguous (0 or 1), t_alignment (bytes, a power of two <= 256) and
 * t_stride_0, t_stride_1, ... (in elements, one per dimension).
 * Example: "T == float32 && n % 4 == 0 && x_contiguous && x_alignment >= 16". */
const char* warpfuzz_preconditions(void);

#ifdef __cplusplus
}
#endif
#endif /* WARPFUZZ_KERNEL_H_ */
