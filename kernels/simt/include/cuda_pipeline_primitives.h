// The C interface to asynchronous copies of the running thread: batches that are committed and
// waited for in order.
#pragma once

#include "wf_async.h"

// `bytes` is 4, 8 or 16; the last `zeros` of them are not copied but become 0.
WF_INTRINSIC void __pipeline_memcpy_async(void* to_shared, const void* from_global, size_t bytes,
                                          size_t zeros = 0, WF_HERE) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) {
    wf_trap("__pipeline_memcpy_async() copies 4, 8 or 16 bytes", wf_file, wf_line);
  }
  wf_async_copy(to_shared, from_global, bytes - zeros, zeros, bytes);
}
WF_INTRINSIC void __pipeline_commit() { wf_async_commit(); }
WF_INTRINSIC void __pipeline_wait_prior(size_t prior) {
  wf_async_wait(static_cast<unsigned>(prior));
}
