#include "kernels/simt/host_api.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <unordered_map>

#include "kernels/simt/kernel_limits.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned non_blocking = 1;          // cudaStreamNonBlocking
constexpr uintptr_t last_default_stream = 2;  // cudaStreamPerThread

// A kernel under test must not see the time: its runs would differ.
constexpr float time_of_kernels_under_test = 0.001f;

struct Event {
  bool timed = true;
  bool recorded = false;
  Clock::time_point time;
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
};

struct HostApi {
  int last_error = 0;
  std::unordered_map<const void*, std::unique_ptr<Event>> events;
  std::unordered_map<const void*, Stream> streams;
  uintptr_t streams_made = 0;
};

HostApi& api() {
  static HostApi state;
  return state;
}

Event* find_event(const void* handle) {
  const auto found = api().events.find(handle);
  return found != api().events.end() ? found->second.get() : nullptr;
}

}  // namespace

void begin_host_api_run() {
  api().last_error = 0;
  forget_opt_ins();
}

void set_message(std::string_view text, std::string_view detail) {
  set_text(run.message, "{}{}", text, detail);
}

}  // namespace warpfuzz::simt

using namespace warpfuzz::simt;

extern "C" {

int wf_set_error(int error, const char* text) {
  api().last_error = error;
  set_message(text, "");
  return error;
}

int wf_last_error(bool reset) {
  const int error = api().last_error;
  if (reset) api().last_error = 0;
  return error;
}

// Never nullptr and none twice; nobody looks behind it.
void* wf_create_stream(unsigned flags, int priority) {
  void* const handle = reinterpret_cast<void*>(0x1000 + 16 * api().streams_made++);
  api().streams[handle] = {flags, priority};
  race::detector.created_stream(handle, (flags & non_blocking) == 0);
  return handle;
}

bool wf_destroy_stream(const void* handle) { return api().streams.erase(handle) != 0; }

// The default streams have flags and priority 0. False if there is no such stream.
bool wf_stream_properties(const void* handle, unsigned* flags, int* priority) {
  const auto found = api().streams.find(handle);
  *flags = found != api().streams.end() ? found->second.flags : 0;
  *priority = found != api().streams.end() ? found->second.priority : 0;
  return found != api().streams.end() || reinterpret_cast<uintptr_t>(handle) <= last_default_stream;
}

void wf_wait_for_stream(const void* stream) {
  race::detector.host_waits(race::Detector::Wait::for_stream, stream);
}
void wf_wait_for_device(void) { race::detector.host_waits(race::Detector::Wait::for_all); }

void wf_call_on_host(const void* stream, void (*function)(void*), void* data) {
  race::detector.begin_operation(stream);
  function(data);
  race::detector.end_operation();
}

void* wf_create_event(bool timed) {
  auto event = std::make_unique<Event>();
  event->timed = timed;
  void* const handle = event.get();
  api().events.emplace(handle, std::move(event));
  return handle;
}

int wf_destroy_event(const void* handle) {
  return api().events.erase(handle) != 0 ? cuda_success : cuda_error_invalid_resource_handle;
}

int wf_record_event(const void* handle, const void* stream) {
  Event* event = find_event(handle);
  if (event == nullptr) return cuda_error_invalid_resource_handle;
  race::detector.recorded(handle, stream);
  event->recorded = true;
  event->time = Clock::now();
  return cuda_success;
}

// Whatever was recorded has happened.
int wf_wait_for_event(const void* handle) {
  if (find_event(handle) == nullptr) return cuda_error_invalid_resource_handle;
  race::detector.host_waits(race::Detector::Wait::for_event, handle);
  return cuda_success;
}

int wf_stream_wait_event(const void* stream, const void* handle) {
  if (find_event(handle) == nullptr) return cuda_error_invalid_resource_handle;
  race::detector.waits(stream, handle);
  return cuda_success;
}

int wf_elapsed_time(float* milliseconds, const void* start, const void* end) {
  const Event* first = find_event(start);
  const Event* last = find_event(end);
  if (first == nullptr || last == nullptr || !first->recorded || !last->recorded || !first->timed ||
      !last->timed) {
    return cuda_error_invalid_resource_handle;
  }
  const std::chrono::duration<float, std::milli> elapsed = last->time - first->time;
  *milliseconds = run.program ? elapsed.count() : time_of_kernels_under_test;
  return cuda_success;
}
}
