#include "kernels/cuda/compile_cuda.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "kernels/content_hash.h"
#include "kernels/cuda/dryrun.h"
#include "kernels/cuda/ptx/instrument.h"
#include "kernels/cuda/ptx/resources.h"
#include "kernels/device.h"
#include "kernels/subprocess.h"

namespace warpfuzz::cuda {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

// Part of the key: raise it when the instrumenter or the steps change what they make.
constexpr const char* pipeline_version = "cuda-5";

// Calls of the runtime that the hooks stand before.
constexpr std::array wrapped_calls = {"__cudaRegisterFatBinary",
                                      "__cudaLaunchKernel",
                                      "cudaLaunchKernel",
                                      "cudaLaunchKernelExC",
                                      "cudaMemcpy",
                                      "cudaLaunchCooperativeKernel",
                                      "cudaMemcpyAsync",
                                      "cudaStreamSynchronize",
                                      "cudaDeviceSynchronize"};

void append(Arguments& to, const Arguments& from) { to.insert(to.end(), from.begin(), from.end()); }

class Directory {
 public:
  explicit Directory(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_file(const fs::path& path, const std::string& content) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary);
  stream << content;
  stream.close();
  if (!stream) {
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                            "cannot write " + path.string());
  }
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

ProcessResult run(const CompileRequest& request, const Arguments& command) {
  ProcessResult result;
  try {
    result = run_process(command, request.time_limit);
  } catch (const std::system_error& error) {
    throw CompileError(
        fmt::format("{}: error: {}: compiling for CUDA needs nvcc of the CUDA Toolkit "
                    "on PATH (or give a compiled .so)",
                    request.source.string(), error.what()));
  }
  if (result.timed_out) {
    throw CompileError(fmt::format("{}: error: {} did not finish within {} ms",
                                   request.source.string(), command[0],
                                   request.time_limit.count()));
  }
  if (result.exit_code != 0) {
    const std::string messages = result.errors + result.output;
    throw CompileError(messages.empty()
                           ? fmt::format("{}: error: {} failed with exit code {}",
                                         request.source.string(), command[0], result.exit_code)
                           : messages);
  }
  return result;
}

// For sm_90a or sm_100a, -arch would compile for what is common to its family too.
std::string architecture_flag(const std::string& architecture) {
  if (!architecture.ends_with('a') && !architecture.ends_with('f')) return "-arch=" + architecture;
  const std::string number = architecture.substr(architecture.find('_') + 1);
  return fmt::format("-gencode=arch=compute_{0},code=sm_{0}", number);
}

Arguments compile_flags(const CompileRequest& request) {
  Arguments flags = {
      "-std=" + request.standard,
      architecture_flag(request.architecture),
      "-lineinfo",
      "-O3",
      "-ccbin",
      request.host_compiler,
      "-I" + request.kernel_directory.string(),
      "-Xcompiler",
      request.host_coverage
          ? "-fPIC,-g1,-fsanitize-coverage=inline-8bit-counters,-fsanitize-coverage=pc-table"
          : "-fPIC,-g1"};
  append(flags, request.extra_flags);
  return flags;
}

// The files of a make rule: "kernel.o : a.cu /usr/include/b.h \".
std::vector<fs::path> parse_dependencies(const std::string& rule) {
  std::vector<fs::path> files;
  std::string word;
  const size_t colon = rule.find(" :");
  for (size_t i = colon == rule.npos ? 0 : colon + 2; i <= rule.size(); ++i) {
    const char c = i < rule.size() ? rule[i] : '\n';
    if (c == '\\' && i + 1 < rule.size() && rule[i + 1] != '\n') {
      word += rule[++i];
    } else if (c == ' ' || c == '\n' || c == '\\') {
      if (!word.empty()) files.emplace_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  return files;
}

std::string key_of(const CompileRequest& request) {
  ContentHash key;
  key.add(pipeline_version);
  key.add(run(request, {request.nvcc, "--version"}).output);
  key.add(std::to_string(int{request.device_coverage} + 2 * int{request.predicates}));
  Arguments command = {request.nvcc, "-M", request.source};
  append(command, compile_flags(request));
  const std::string rule = run(request, command).output;
  for (const std::string& argument : command) key.add(argument);
  for (const fs::path& file : parse_dependencies(rule)) key.add(read_file(file));
  for (const char* own : {"cuda/runtime_hooks.cc", "cuda/runtime_report.h"}) {
    key.add(read_file(request.kernel_directory / own));
  }
  return key.hex();
}

// What is known of the device code from its PTX.
struct DeviceCode {
  ptx::CoverageMap map;
  std::vector<ptx::RefusedEntry> refused;
};

DeviceCode compile_object(const CompileRequest& request, const fs::path& directory,
                          const fs::path& object) {
  Arguments command = {"env", "TMPDIR=" + directory.string(), request.nvcc, "--dryrun", "-c"};
  append(command, compile_flags(request));
  append(command, {"-o", object, request.source});
  CompilationSteps steps;
  try {
    steps = split_dryrun(run(request, command).errors);
  } catch (const std::runtime_error& error) {
    throw CompileError(fmt::format("{}: error: {}", request.source.string(), error.what()));
  }
  write_file(directory / "to_ptx.sh", steps.to_ptx);
  write_file(directory / "assemble.sh", steps.assemble);
  write_file(directory / "from_ptx.sh", steps.from_ptx);
  run(request, {"sh", directory / "to_ptx.sh"});
  DeviceCode code;
  try {
    const std::string text = read_file(steps.ptx);
    code.refused = ptx::refused_entries(text);
    if (request.device_coverage) {
      const ProcessResult plain = run(request, {"sh", directory / "assemble.sh"});
      ptx::Instrumented result =
          ptx::instrument(text, {.predicates = request.predicates,
                                 .registers = entry_registers(plain.output + plain.errors)});
      write_file(steps.ptx, result.text);
      code.map = std::move(result.map);
    }
  } catch (const ptx::PtxError& error) {
    if (request.device_coverage) {  // else PTX that we cannot read is ptxas' to judge
      throw CompileError(fmt::format("{}: error: the PTX of this kernel cannot be instrumented: {}",
                                     request.source.string(), error.what()));
    }
  }
  run(request, {"sh", directory / "from_ptx.sh"});
  return code;
}

// The names of files that messages hold may be anything.
std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return literal + "\"";
}

std::string facts_source(const DeviceCode& code) {
  std::string refused;
  for (const ptx::RefusedEntry& entry : code.refused) {
    refused += fmt::format("{{{}, {}}}, ", quoted(entry.entry),
                           quoted(std::string(tensor_memory_refusal) + entry.message));
  }
  return fmt::format(
      "#include \"cuda/runtime_report.h\"\n"
      "extern \"C\" {{\n"
      "extern const unsigned warpfuzz_cuda_counters;\n"
      "const unsigned warpfuzz_cuda_counters = {};\n"
      "extern __attribute__((visibility(\"default\"))) const char warpfuzz_cuda_coverage_map[];\n"
      "const char warpfuzz_cuda_coverage_map[] = R\"wf({})wf\";\n"
      "extern __attribute__((visibility(\"default\"))) const WfCudaRefusedEntry\n"
      "    warpfuzz_cuda_refused_entries[];\n"
      "const WfCudaRefusedEntry warpfuzz_cuda_refused_entries[] = {{{}{{nullptr, nullptr}}}};\n"
      "}}\n",
      code.map.counters.size(), code.map.to_json(), refused);
}

}  // namespace

fs::path compile_for_cuda(const CompileRequest& request) {
  if (std::error_code error; !fs::is_regular_file(request.source, error)) {
    throw CompileError(request.source.string() + ": error: no such kernel source");
  }
  const std::string key = key_of(request);
  const fs::path entry = request.cache_directory / (key + ".so");
  if (fs::exists(entry)) return entry;

  static std::atomic<unsigned> compilations = 0;
  const Directory directory(fs::absolute(request.cache_directory) /
                            fmt::format("{}.{}.{}", key, ::getpid(), compilations.fetch_add(1)));
  const fs::path object = directory.path() / "kernel.o";
  const fs::path result = directory.path() / "kernel.so";
  const DeviceCode code = compile_object(request, directory.path(), object);
  const fs::path facts_file = directory.path() / "device_code.cc";
  write_file(facts_file, facts_source(code));

  Arguments link = {request.nvcc, "-shared", "--no-device-link", "-cudart", "static", "-ccbin",
                    request.host_compiler, "-std=c++17", "-Xcompiler", "-fPIC,-O2",
                    "-I" + request.kernel_directory.string(),
                    // The runtime's symbols stay inside: each kernel has its own.
                    "-Xlinker", "--exclude-libs=ALL", "-Xlinker", "-Bsymbolic", "-Xlinker",
                    "--build-id=none"};
  for (const char* call : wrapped_calls) append(link, {"-Xlinker", std::string("--wrap=") + call});
  append(link,
         {"-o", result, object, facts_file, request.kernel_directory / "cuda/runtime_hooks.cc"});
  run(request, link);
  fs::rename(result, entry);
  return entry;
}

}  // namespace warpfuzz::cuda
