// Streams and events of the host API. Everything happens in order and before the call returns;
// which operations a GPU would order is only of interest to the race mode. An event is the time of
// its recording; in a kernel under test, whose runs must not differ, all times are the same.
#pragma once

#include "driver_types.h"
#include "wf_host_memory.h"

extern "C" {
cudaStream_t wf_create_stream(unsigned flags, int priority);
bool wf_destroy_stream(cudaStream_t stream);
bool wf_stream_properties(cudaStream_t stream, unsigned* flags, int* priority);
void wf_wait_for_stream(cudaStream_t stream);
void wf_wait_for_device(void);
void wf_call_on_host(cudaStream_t stream, void (*function)(void*), void* data);
cudaEvent_t wf_create_event(bool timed);
// cudaError_t, which is not yet the last error.
int wf_destroy_event(cudaEvent_t event);
int wf_record_event(cudaEvent_t event, cudaStream_t stream);
int wf_wait_for_event(cudaEvent_t event);
int wf_stream_wait_event(cudaStream_t stream, cudaEvent_t event);
int wf_elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
}

WF_INTRINSIC cudaError_t cudaDeviceSynchronize() {
  wf_wait_for_device();
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
WF_INTRINSIC cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

WF_INTRINSIC cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                      int priority) {
  *stream = wf_create_stream(flags, priority);
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
WF_INTRINSIC cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
WF_INTRINSIC cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  int priority;
  return wf_stream_properties(stream, flags, &priority)
             ? cudaSuccess
             : ::wf_simt::fail(cudaErrorInvalidResourceHandle);
}
WF_INTRINSIC cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  unsigned flags;
  return wf_stream_properties(stream, &flags, priority)
             ? cudaSuccess
             : ::wf_simt::fail(cudaErrorInvalidResourceHandle);
}
WF_INTRINSIC cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
WF_INTRINSIC cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return wf_destroy_stream(stream) ? cudaSuccess : ::wf_simt::fail(cudaErrorInvalidResourceHandle);
}
WF_INTRINSIC cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  wf_wait_for_stream(stream);
  return cudaSuccess;
}
// Whatever it was asked for has happened.
WF_INTRINSIC cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
WF_INTRINSIC cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  return ::wf_simt::result(wf_stream_wait_event(stream, event));
}
WF_INTRINSIC cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                            void* data) {
  wf_call_on_host(stream, function, data);
  return cudaSuccess;
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void* data, unsigned) {
  struct Call {
    cudaStream_t stream;
    cudaStreamCallback_t callback;
    void* data;
  } call{stream, callback, data};
  wf_call_on_host(
      stream,
      [](void* c) {
        const Call& call = *static_cast<Call*>(c);
        call.callback(call.stream, cudaSuccess, call.data);
      },
      &call);
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
WF_INTRINSIC cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return ::wf_simt::result(wf_record_event(event, stream));
}
WF_INTRINSIC cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                                  unsigned = 0) {
  return cudaEventRecord(event, stream);
}
WF_INTRINSIC cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return ::wf_simt::result(wf_wait_for_event(event));
}
WF_INTRINSIC cudaError_t cudaEventQuery(cudaEvent_t event) {
  return ::wf_simt::result(wf_wait_for_event(event));
}
WF_INTRINSIC cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                              cudaEvent_t end) {
  return ::wf_simt::result(wf_elapsed_time(milliseconds, start, end));
}
