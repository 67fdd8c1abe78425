// The part of the CUDA host API that has state: the last error, events; device memory is in
// device_memory.h. The API's functions are inline in include/cuda_runtime.h and call the wf_*
// functions that are defined here.
#pragma once

#include <string_view>

namespace warpfuzz::simt {

// Values of cudaError_t that the runtime sets.
enum CudaError : int {
  cuda_success = 0,
  cuda_error_invalid_value = 1,
  cuda_error_memory_allocation = 2,
  cuda_error_invalid_configuration = 9,
  cuda_error_invalid_memcpy_direction = 21,
  cuda_error_invalid_device_function = 98,
  cuda_error_invalid_resource_handle = 400,
  cuda_error_cooperative_launch_too_large = 720,
  cuda_error_not_supported = 801,
};

// Opt-ins and errors do not outlive the run that made them.
void begin_host_api_run();

// Keeps the text as the run's message.
void set_message(std::string_view text, std::string_view detail);

}  // namespace warpfuzz::simt

extern "C" {
// Makes `error` the last error and keeps its text as the run's message. Returns it.
int wf_set_error(int error, const char* text);
int wf_last_error(bool reset);
}
