#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "fuzzers/command/commands.h"
#include "fuzzers/compute_sanitizer.h"
#include "fuzzers/kernel_under_test.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / program;
    if (access(candidate.c_str(), X_OK) == 0) return true;
    rest = colon == rest.npos ? "" : rest.substr(colon + 1);
  }
  return false;
}

struct Check {
  std::string what;
  bool required;
  std::string problem;  // empty: fine
};

Check check_program(const std::string& program, bool required, const std::string& remedy) {
  return {program, required, on_path(program) ? "" : "not found: " + remedy};
}

Check check_kernel(const Installation& installation) {
  Check check{"a kernel compiles, loads and runs on the CPU device", true, ""};
  try {
    const fs::path source = find_kernel(installation, "softmax");
    load_kernel(source, build_kernel(installation, source, {}), {},
                *installation.schema("softmax"));
  } catch (const std::exception& error) {
    check.problem = error.what();
  }
  return check;
}

Check check_cuda() {
  Check check{"a CUDA device", false, ""};
  try {
    make_cuda_device(0);
  } catch (const DeviceUnavailable& error) {
    check.problem = error.what();
  }
  return check;
}

Check check_sanitizer() {
  Check check{"compute-sanitizer", false, ""};
  try {
    find_compute_sanitizer();
  } catch (const EnvironmentError&) {
    check.problem = "not found: `replay --sanitizer` needs NVIDIA's CUDA Toolkit";
  }
  return check;
}

Check check_cache(const Installation& installation) {
  Check check{fmt::format("kernel cache {} is writable", installation.cache.string()), true, ""};
  std::error_code error;
  fs::create_directories(installation.cache, error);
  const fs::path probe = installation.cache / ".doctor";
  if (error || !std::ofstream(probe)) {
    check.problem = "not writable: set WARPFUZZ_CACHE to a directory that is";
  }
  fs::remove(probe, error);
  return check;
}

int doctor() {
  const Installation installation = Installation::find();
  fmt::print("warpfuzz {}, built with {}; {} processors\n", version(), toolchain(),
             std::thread::hardware_concurrency());
  const std::array checks = {
      check_program("clang++-19", true, "run scripts/setup"),
      check_program("ld.lld-19", true, "run scripts/setup"),
      check_program("llvm-symbolizer-19", true,
                    "run scripts/setup (faults show no lines without it)"),
      check_program("llvm-cov-19", true, "run scripts/setup (`coverage` needs it)"),
      check_cache(installation),
      check_kernel(installation),
      check_program("nvcc", false, "kernels for a GPU cannot be compiled here"),
      check_cuda(),
      check_sanitizer(),
  };
  bool usable = true;
  for (const Check& check : checks) {
    const bool fine = check.problem.empty();
    fmt::print("  {:<8} {}{}{}\n",
               fine             ? "ok"
               : check.required ? "MISSING"
                                : "absent",
               check.what, fine ? "" : ": ", check.problem);
    usable = usable && (fine || !check.required);
  }
  return usable ? exit_clean : exit_environment;
}

}  // namespace

Command doctor_command(CLI::App& app) {
  return {app.add_subcommand("doctor", "What this machine has and lacks"), doctor};
}

}  // namespace warpfuzz
