#include "fuzzers/compute_sanitizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "fuzzers/installation.h"
#include "fuzzers/temporary_directory.h"
#include "kernels/cuda/module_manifest.h"
#include "kernels/cuda/sanitizer_report.h"
#include "kernels/subprocess.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* program = "compute-sanitizer";
constexpr std::chrono::minutes time_limit{5};
constexpr size_t max_excerpt = 600;
constexpr std::array<std::string_view, 4> tools = {"memcheck", "racecheck", "initcheck",
                                                   "synccheck"};

std::vector<fs::path> places() {
  std::vector<fs::path> folders;
  const char* path = std::getenv("PATH");
  std::istringstream list(path != nullptr ? path : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) toolkits.emplace_back(root);
  }
  toolkits.emplace_back("/usr/local/cuda");
  for (const fs::path& toolkit : toolkits) {
    folders.push_back(toolkit / "bin");
    folders.push_back(toolkit / program);
  }
  return folders;
}

std::string end_of(const std::string& text) {
  return text.size() > max_excerpt ? "..." + text.substr(text.size() - max_excerpt) : text;
}

// What `warpfuzz call` prints: "tensor y 7f00 1024".
std::vector<cuda::NamedAllocation> read_allocations(const std::string& output) {
  std::vector<cuda::NamedAllocation> allocations;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, address;
    cuda::NamedAllocation allocation;
    if (!(words >> word >> allocation.name >> address >> allocation.bytes) || word != "tensor") {
      continue;
    }
    std::from_chars(address.data(), address.data() + address.size(), allocation.address, 16);
    allocations.push_back(std::move(allocation));
  }
  return allocations;
}

std::vector<std::string> command_line(const std::string& tool, const SanitizedCall& call,
                                      const fs::path& log) {
  std::vector<std::string> command = {find_compute_sanitizer().string(),
                                      "--tool",
                                      tool,
                                      "--log-file",
                                      log.string(),
                                      "--print-limit",
                                      "1000"};
  // The default report names neither threads nor blocks.
  if (tool == "racecheck") command.insert(command.end(), {"--racecheck-report", "all"});
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  command.insert(command.end(), {self, "call", call.reproducer.string(), "--object",
                                 call.object.string(), "--device", call.device.text()});
  return command;
}

// Compilers may have left only a file's name.
void name_source(std::vector<Fault>& faults, const fs::path& source) {
  const auto replace = [&](std::string& file) {
    if (fs::path(file).filename() == source.filename()) file = source.string();
  };
  for (Fault& fault : faults) {
    replace(fault.file);
    if (fault.earlier) replace(fault.earlier->file);
  }
}

}  // namespace

void check_sanitizer_tool(const std::string& tool) {
  if (std::find(tools.begin(), tools.end(), tool) != tools.end()) return;
  throw UsageError(fmt::format("--sanitizer {}: expected one of {}", tool, fmt::join(tools, ", ")));
}

fs::path find_compute_sanitizer() {
  for (const fs::path& folder : places()) {
    const fs::path candidate = folder / program;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  throw EnvironmentError(
      "compute-sanitizer is neither on PATH nor in $CUDA_HOME, $CUDA_PATH or /usr/local/cuda: it "
      "comes with NVIDIA's CUDA Toolkit");
}

std::vector<Fault> run_compute_sanitizer(const std::string& tool, const SanitizedCall& call) {
  const TemporaryDirectory directory;
  const fs::path log = fs::path(directory.path()) / "log";
  const ProcessResult run = run_process(command_line(tool, call, log), time_limit);
  if (run.timed_out) {
    throw EnvironmentError(
        fmt::format("compute-sanitizer did not finish within {} minutes", time_limit.count()));
  }
  std::error_code error;
  std::string text;
  if (fs::is_regular_file(log, error)) {
    if (fs::file_size(log, error) > cuda::max_sanitizer_report_bytes) {
      fs::resize_file(log, cuda::max_sanitizer_report_bytes, error);
    }
    text = cuda::read_bounded(log, cuda::max_sanitizer_report_bytes);
  }
  cuda::SanitizerReport report = cuda::parse_sanitizer_report(text, read_allocations(run.output));
  const bool called = run.output.find("calling\n") != std::string::npos;
  if (!called || (!report.complete && report.faults.empty())) {
    throw EnvironmentError(fmt::format("compute-sanitizer could not watch the call: {}",
                                       end_of(run.errors + run.output + text)));
  }
  name_source(report.faults, call.source);
  return std::move(report.faults);
}

}  // namespace warpfuzz
