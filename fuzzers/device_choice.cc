#include "fuzzers/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "fuzzers/installation.h"

namespace warpfuzz {

DeviceChoice DeviceChoice::parse(const std::string& text) {
  if (text == "cpu") return {};
  if (text == "cuda") return {.cuda = true};
  if (text.starts_with("cuda:")) {
    DeviceChoice choice{.cuda = true};
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data() + 5, end, choice.index);
    if (error == std::errc() && parsed == end && choice.index >= 0) return choice;
  }
  throw UsageError(fmt::format("--device {}: expected cpu, cuda or cuda:N", text));
}

size_t DeviceChoice::host_threads(size_t processes) const {
  if (!cuda) return 1;
  return std::clamp(std::thread::hardware_concurrency() / processes, size_t{1}, most_threads);
}

std::string DeviceChoice::text() const {
  if (!cuda) return "cpu";
  return index == 0 ? "cuda" : fmt::format("cuda:{}", index);
}

std::unique_ptr<Device> DeviceChoice::open() const {
  return cuda ? make_cuda_device(index) : make_cpu_device();
}

}  // namespace warpfuzz
