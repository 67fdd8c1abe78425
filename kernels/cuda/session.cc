#include "kernels/cuda/session.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

std::atomic<uint64_t> session_count{0};

// After a fault of one of its clients the multi-process service takes no new ones until all the old
// ones have ended, which may take them as long as a run may last.
template <class Call>
Status with_patience(const Call& call) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds patience{40};
  constexpr std::chrono::milliseconds pause{100};
  const Clock::time_point deadline = Clock::now() + patience;
  const bool served = std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr;
  for (;;) {
    const Status status = call();
    const bool passing = status == mps_not_ready || (served && status == unknown_error);
    if (!passing || Clock::now() > deadline) return status;
    std::this_thread::sleep_for(pause);
  }
}

Ordinal open_device(const Driver& driver, int index) {
  driver.check(with_patience([&] { return driver.initialize(0); }),
               "the CUDA driver does not start");
  int count = 0;
  driver.check(driver.device_count(&count), "the CUDA driver does not count its devices");
  if (index < 0 || index >= count) {
    throw DeviceUnavailable(fmt::format(
        "no CUDA device {}: this process sees {} (CUDA_VISIBLE_DEVICES selects)", index, count));
  }
  Ordinal device = 0;
  driver.check(driver.device(&device, index), fmt::format("CUDA device {} cannot be used", index));
  return device;
}

}  // namespace

Session::Session(int index)
    : driver_(cuda::driver()),
      index_(index),
      number_(++session_count),
      device_(open_device(driver_, index)) {
  // Fails when the context is in use already; it then waits as its first user wanted.
  driver_.primary_context_set_flags(device_, context_spins);
  driver_.check(with_patience([&] { return driver_.primary_context_retain(&context_, device_); }),
                fmt::format("no context on CUDA device {}", index));
  use_here();
  driver_.check(driver_.stream_create(&stream_, stream_non_blocking), "no stream");
}

Session::~Session() {
  driver_.stream_destroy(stream_);
  driver_.primary_context_release(device_);
}

void Session::use_here() const {
  thread_local uint64_t current = 0;
  if (current == number_) return;
  driver_.check(driver_.context_set_current(context_), "the context cannot be used");
  current = number_;
}

std::string Session::device_name() const {
  char name[256] = "";
  return driver_.device_name(name, sizeof name, device_) == success ? name : "";
}

int Session::attribute(int attribute) const {
  int value = 0;
  return driver_.device_attribute(&value, attribute, device_) == success ? value : 0;
}

Status Session::wait(std::chrono::milliseconds limit) const {
  using Clock = std::chrono::steady_clock;
  constexpr int polls_per_look_at_clock = 64;
  const Clock::time_point deadline = Clock::now() + limit;
  for (;;) {
    for (int i = 0; i < polls_per_look_at_clock; ++i) {
      const Status status = driver_.stream_query(stream_);
      if (status != not_ready) return status;
    }
    if (Clock::now() > deadline) return not_ready;
  }
}

std::string architecture_of(int index) {
  const Driver& driver = cuda::driver();
  const Ordinal device = open_device(driver, index);
  int major = 0, minor = 0;
  driver.check(driver.device_attribute(&major, attribute_capability_major, device),
               "the device's capability is not known");
  driver.check(driver.device_attribute(&minor, attribute_capability_minor, device),
               "the device's capability is not known");
  // Warp-group products and tensor memory are there only in code for this very GPU.
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

}  // namespace warpfuzz::cuda
