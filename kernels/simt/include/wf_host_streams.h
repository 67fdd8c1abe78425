// Streams and events of the host API. Everything happens in order and before the call returns, so a
// stream is only a handle. An event is the time of its recording; in a kernel under test, whose
// runs must not differ, all times are the same.
#pragma once

#include "driver_types.h"
#include "wf_host_memory.h"

extern "C" {
cudaStream_t wf_create_stream(void);
cudaEvent_t wf_create_event(bool timed);
// cudaError_t, which is not yet the last error.
int wf_destroy_event(cudaEvent_t event);
int wf_record_event(cudaEvent_t event);
int wf_query_event(cudaEvent_t event);
int wf_elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
}

WF_INTRINSIC cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = wf_create_stream();
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
WF_INTRINSIC cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
WF_INTRINSIC cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return stream != nullptr ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidResourceHandle);
}
WF_INTRINSIC cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
WF_INTRINSIC cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned = 0) {
  return event != nullptr ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidResourceHandle);
}
WF_INTRINSIC cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                               void* data, unsigned) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}

WF_INTRINSIC cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = wf_create_event(true);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = wf_create_event((flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
WF_INTRINSIC cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return ::wf_simt::result(wf_destroy_event(event));
}
WF_INTRINSIC cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  return ::wf_simt::result(wf_record_event(event));
}
WF_INTRINSIC cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return ::wf_simt::result(wf_query_event(event));
}
WF_INTRINSIC cudaError_t cudaEventQuery(cudaEvent_t event) {
  return ::wf_simt::result(wf_query_event(event));
}
WF_INTRINSIC cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                              cudaEvent_t end) {
  return ::wf_simt::result(wf_elapsed_time(milliseconds, start, end));
}
