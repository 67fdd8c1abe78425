// Turns a kernel source (.cu) into a shared object for the CPU device: preprocess with our CUDA
// headers, rewrite what is not C++, compile with the wanted instrumentation. Results are cached
// under a key of content, included files, compiler and flags; a cache entry is written atomically.
// The headers that kernels begin with are precompiled, in the same cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

// The kernel does not compile, or uses what the CPU device cannot run; what() holds the messages
// with the positions of the .cu ("softmax.cu:12: error: ...").
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Instrumentation {
  bool coverage = true;   // edges of the kernel reach libFuzzer
  bool address = true;    // ASan redzones and image guards
  bool undefined = true;  // integer overflow, division, shifts, alignment, array bounds
  bool race = false;      // tells the device of every access; without `address`, `undefined`
  bool lines = false;     // counts of lines and branches: see line_counts.h
  bool optimize = false;  // -O2 instead of -O1
};
// Without coverage: a campaign follows the edges of the kernel's other build.
inline constexpr Instrumentation race_instrumentation = {
    .coverage = false, .address = false, .undefined = false, .race = true};

// What a whole program is built with, by the name that a user gives it: one row each.
struct BuildMode {
  std::string_view name;
  Instrumentation instrumentation;
  bool needs_asan;  // in the process that loads the object
};
std::span<const BuildMode> build_modes();

struct CompileRequest {
  std::filesystem::path source;
  Instrumentation instrumentation;
  std::filesystem::path cache_directory;
  std::filesystem::path include_directory;  // holds the CUDA headers (kernels/simt/include)
  std::filesystem::path kernel_directory;   // holds warpfuzz_kernel.h
  std::string compiler = "clang++-19";
  std::string standard = "c++17";               // nvcc's default
  std::vector<std::string> extra_flags;         // -D..., -I...
  std::chrono::milliseconds time_limit{60000};  // for each run of the compiler
};

// Path of the shared object. Throws CompileError, or std::system_error when the cache directory
// cannot be written or the compiler cannot be started. Any number of processes may share a cache;
// one builds an object that several want at once.
std::filesystem::path compile_for_cpu(const CompileRequest& request);

}  // namespace warpfuzz
