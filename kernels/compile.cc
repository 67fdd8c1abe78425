#include "kernels/compile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <system_error>
#include <utility>

#include "kernels/content_hash.h"
#include "kernels/simt/elf_sections.h"
#include "kernels/simt/kernel_ir.h"
#include "kernels/simt/prelude.h"
#include "kernels/simt/rewrite.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/static_shared.h"
#include "kernels/simt/wrapped_symbols.h"
#include "kernels/subprocess.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

// Of both steps. AVX2 with FMA and F16C is what half and contraction need.
// Type punning through pointers is everyday CUDA and works with nvcc, hence no strict aliasing.
const Arguments language_flags = {"-march=x86-64-v3", "-fno-strict-aliasing", "-fno-math-errno",
                                  "-fno-color-diagnostics", "-fcaret-diagnostics-max-lines=1"};

// What nvcc 12.8 defines for sm_90. The whole file is compiled once, as device code: host code
// under #ifndef __CUDA_ARCH__ is not seen. WARPFUZZ_CPU tells a kernel that it runs on this device.
const Arguments predefined_macros = {"-D__CUDACC__=1",
                                     "-D__NVCC__=1",
                                     "-D__CUDACC_VER_MAJOR__=12",
                                     "-D__CUDACC_VER_MINOR__=8",
                                     "-D__CUDACC_VER_BUILD__=0",
                                     "-D__CUDA_ARCH__=900",
                                     "-D__CUDA_ARCH_LIST__=900",
                                     "-DWARPFUZZ_CPU=1"};

// What clang calls errors and nvcc with gcc does not; other warnings are not for us to give.
const Arguments tolerance_flags = {"-w", "-Wno-narrowing", "-Wno-register",
                                   "-Wno-reserved-user-defined-literal"};

// nvcc contracts a * b + c by default, and so does this: within an expression, never across the
// functions that promise one rounding each (__fmul_rn). Uninitialised variables hold NaN or 0xAA,
// the same in each run, instead of what the last thread left on the stack.
const Arguments code_flags = {"-gline-tables-only", "-fno-omit-frame-pointer", "-fPIC",
                              "-ffp-contract=on", "-ftrivial-auto-var-init=pattern"};

// Checks that hold in CUDA as in C++. Not: unsigned or pointer overflow, null, enum and bool
// values, conversions of floats to integers (they saturate on the GPU), shifts of negative numbers.
constexpr const char* undefined_checks =
    "signed-integer-overflow,integer-divide-by-zero,shift-exponent,array-bounds,alignment";

// Clang forgets in a precompiled header that a section may be written, and then takes its variables
// for constants (CodeGenModule asks ASTContext::SectionInfos, which is not stored). Said again
// here, by variables that nobody uses.
constexpr const char* writable_sections =
    "# 1 \"<sections>\"\n"
    "static __attribute__((section(\"wf__llvm_prf_cnts\"))) int wf_unwatched_is_writable;\n"
    "static __attribute__((section(\".wfshared\"))) int wf_shared_is_writable;\n";

void append(Arguments& to, const Arguments& from) { to.insert(to.end(), from.begin(), from.end()); }

struct InstrumentationFlags {
  bool Instrumentation::* wanted;
  Arguments flags;
};
const InstrumentationFlags instrumentation_table[] = {
    // Edges only: cases are mutated by structure, so libFuzzer has no use for traced comparisons,
    // and they cost a fifth of a run.
    // Of libFuzzer's own mode without what it traces: with it branches are not folded into one.
    {&Instrumentation::coverage,
     {"-fsanitize=fuzzer-no-link", "-fno-sanitize-coverage=trace-cmp,indirect-calls,stack-depth"}},
    {&Instrumentation::address,
     {"-fsanitize=address", "-fsanitize-recover=address",
      // CUDA threads are fibers that share no fake stacks, and live short.
      "-fsanitize-address-use-after-return=never", "-fno-sanitize-address-use-after-scope",
      // Two kernels may both have a global `counter`.
      "-fno-sanitize-address-use-odr-indicator",
      // Big kernels too report through __asan_report_*, which are wrapped.
      "-mllvm", "-asan-instrumentation-with-call-threshold=-1"}},
    {&Instrumentation::undefined,
     {std::string("-fsanitize=") + undefined_checks,
      std::string("-fsanitize-recover=") + undefined_checks}},
    {&Instrumentation::race,
     {"-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm",
      "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-distinguish-volatile=1"}},
    {&Instrumentation::lines, {"-fprofile-instr-generate", "-fcoverage-mapping"}},
};

constexpr BuildMode build_mode_table[] = {
    {"address", {.coverage = false, .address = true, .undefined = true}, true},
    {"race", race_instrumentation, false},
    {"none", {.coverage = false, .address = false, .undefined = false, .optimize = true}, false},
};

Arguments instrumentation_flags(const Instrumentation& instrumentation) {
  Arguments flags = {instrumentation.optimize ? "-O2" : "-O1"};
  for (const InstrumentationFlags& row : instrumentation_table) {
    if (instrumentation.*row.wanted) append(flags, row.flags);
  }
  return flags;
}

// The runtimes of the sanitizers are those of the executable that loads the object.
Arguments link_flags() {
  Arguments flags = {"-shared", "-fuse-ld=lld", "-Wl,-Bsymbolic", "-Wl,--build-id=none"};
  for (const char* symbol : simt::wrapped_symbols) {
    flags.push_back(std::string("-Wl,--wrap=") + symbol);
  }
  return flags;
}

Arguments preprocess_command(const CompileRequest& request) {
  Arguments command = {request.compiler, "-E", "-x", "c++", "-std=" + request.standard};
  append(command, language_flags);
  append(command, predefined_macros);
  append(command, {"-w", "-I", request.include_directory, "-I", request.kernel_directory});
  if (request.instrumentation.lines) command.push_back("-DWF_LINE_COUNTS=1");
  append(command, request.extra_flags);
  append(command, {"-include", request.include_directory / "wf_prelude.h", request.source});
  return command;
}

// Of a whole source and of a prelude: clang refuses a precompiled one with other flags.
Arguments translation_flags(const CompileRequest& request) {
  Arguments flags = {"-std=" + request.standard};
  append(flags, language_flags);
  append(flags, tolerance_flags);
  append(flags, code_flags);
  append(flags, instrumentation_flags(request.instrumentation));
  return flags;
}

// Both without the names of input and output.
Arguments precompile_command(const CompileRequest& request) {
  Arguments command = {request.compiler, "-x", "c++-header"};
  append(command, translation_flags(request));
  append(command, {"-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp"});
  return command;
}
// Of both languages: C++ and the LLVM IR made from it.
Arguments compile_command(const CompileRequest& request, const char* language) {
  Arguments command = {request.compiler, "-x", language};
  append(command, translation_flags(request));
  return command;
}

std::string run_compiler(const CompileRequest& request, const Arguments& command) {
  ProcessResult result = run_process(command, request.time_limit);
  if (result.timed_out) {
    throw CompileError(request.source.string() + ": error: the compiler did not finish within " +
                       std::to_string(request.time_limit.count()) + " ms");
  }
  if (result.exit_code != 0) {
    throw CompileError(result.errors.empty()
                           ? request.source.string() + ": error: " + request.compiler +
                                 " failed with exit code " + std::to_string(result.exit_code)
                           : std::move(result.errors));
  }
  return std::move(result.output);
}

[[noreturn]] void fail_to_write(const fs::path& path) {
  throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                          "cannot write " + path.string());
}

// A file that goes away with its owner unless it has been renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }
  void write(const std::string& content) const {
    errno = 0;
    std::ofstream stream(path_, std::ios::binary);
    stream << content;
    stream.close();
    if (!stream) fail_to_write(path_);
  }

 private:
  fs::path path_;
};

// A path beside `entry` that no other thread or process uses.
fs::path temporary_path(const fs::path& entry) {
  static std::atomic<unsigned> count = 0;
  return entry.parent_path() / (entry.stem().string() + "." + std::to_string(::getpid()) + "." +
                                std::to_string(count.fetch_add(1)) + entry.extension().string());
}

// The part of the source that kernels share, read by the compiler once and kept in the cache.
class Prelude {
 public:
  Prelude(const CompileRequest& request, std::string text)
      : request_(request), text_(std::move(text)), command_(precompile_command(request)) {
    ContentHash key;
    for (const std::string& argument : command_) key.add(argument);
    key.add(request.cache_directory.string());  // the precompiled form refers to its source by path
    key.add(text_);
    key_ = key.hex();
    source_ = fs::absolute(request.cache_directory) / "preludes" / (key_ + ".ii");
    precompiled_ = fs::path(source_).replace_extension(".pch");
  }

  const std::string& text() const { return text_; }
  const std::string& key() const { return key_; }

  // Makes the compiler begin with it; the precompiled form is made where there is none.
  Arguments flags() {
    if (text_.empty()) return {};
    if (!fs::exists(source_) || !fs::exists(precompiled_)) precompile();
    return {"-Xclang", "-include-pch", "-Xclang", precompiled_};
  }

 private:
  void precompile() {
    fs::create_directories(source_.parent_path());
    const TemporaryFile source(temporary_path(source_));
    const TemporaryFile precompiled(temporary_path(precompiled_));
    source.write(text_);
    fs::rename(source.path(), source_);
    append(command_, {"-o", precompiled.path(), source_});
    run_compiler(request_, command_);
    fs::rename(precompiled.path(), precompiled_);
  }

  const CompileRequest& request_;
  std::string text_, key_;
  Arguments command_;
  fs::path source_, precompiled_;
};

// LLVM's text of the source, not optimised.
std::string emit_ir(const CompileRequest& request, const Arguments& prelude_flags,
                    const fs::path& source) {
  Arguments command = compile_command(request, "c++-cpp-output");
  append(command, prelude_flags);
  append(command, {"-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o", "-", source});
  return run_compiler(request, command);
}

// nvcc refuses a kernel with more static shared memory than that, and so must this.
void check_static_shared(std::string_view ir) {
  std::string errors;
  for (const StaticSharedUse& use : static_shared_use(ir)) {
    if (use.bytes <= simt::default_shared_limit) continue;
    errors += fmt::format(
        "{}:{}: error: {} has {} bytes of static shared memory, {}; a kernel may have {} (use "
        "dynamic shared memory and cudaFuncSetAttribute for more)\n",
        use.file, use.line, use.kernel, use.bytes, fmt::join(use.variables, " + "),
        simt::default_shared_limit);
  }
  if (!errors.empty()) throw CompileError(errors);
}

// One process builds an entry of the cache, the others wait for it. The file goes away with its
// first owner; whoever then still holds the deleted file finds the entry, or builds it once more.
class BuildLock {
 public:
  explicit BuildLock(fs::path path) : path_(std::move(path)) {
    file_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (file_ < 0) fail_to_write(path_);
    ::flock(file_, LOCK_EX);
  }
  ~BuildLock() {
    ::unlink(path_.c_str());
    ::close(file_);
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  fs::path path_;
  int file_;
};

}  // namespace

std::span<const BuildMode> build_modes() { return build_mode_table; }

fs::path compile_for_cpu(const CompileRequest& request) {
  if (std::error_code error; !fs::is_regular_file(request.source, error)) {
    throw CompileError(request.source.string() + ": error: no such kernel source");
  }
  const std::string preprocessed = run_compiler(request, preprocess_command(request));
  const std::array<std::string, 2> shared_headers = {request.include_directory.string() + "/",
                                                     request.kernel_directory / "warpfuzz_kernel."};
  // Counts of lines refer to the lines of the whole text, which stays beside the object.
  const bool counts_lines = request.instrumentation.lines;
  const SplitSource parts =
      counts_lines ? SplitSource{"", preprocessed} : split_prelude(preprocessed, shared_headers);
  Prelude prelude(request, rewrite_cuda(parts.prelude));
  const std::string rewritten =
      (prelude.text().empty() ? "" : writable_sections) + rewrite_cuda(parts.rest);
  const bool checks_alignment = request.instrumentation.undefined || request.instrumentation.race;
  const bool through_ir = checks_alignment || rewritten.find("volatile") != std::string::npos;
  Arguments command = compile_command(request, "c++-cpp-output");
  append(command, link_flags());

  // The text holds the content of every header, what this version of the rewriter makes of it and,
  // through wf_prelude.h, the version of the compiler.
  ContentHash key;
  for (const std::string& argument : command) key.add(argument);
  key.add(prelude.key());
  if (through_ir) key.add(ir_edits_version);
  key.add(rewritten);
  const fs::path entry = request.cache_directory / (key.hex() + ".so");
  if (fs::exists(entry)) return entry;

  fs::create_directories(request.cache_directory);
  const BuildLock lock(fs::path(entry).replace_extension(".lock"));
  if (fs::exists(entry)) return entry;
  const Arguments prelude_flags = prelude.flags();
  const fs::path temporary = temporary_path(entry);
  const TemporaryFile source(fs::path(temporary).replace_extension(".ii"));
  const TemporaryFile ir(fs::path(temporary).replace_extension(".ll"));
  const TemporaryFile object(temporary);
  source.write(rewritten);
  std::string ir_text;
  if (through_ir) {
    ir_text = emit_ir(request, prelude_flags, source.path());
    const std::string polling = add_volatile_polls(ir_text);
    ir.write(checks_alignment ? add_alignment_checks(polling) : polling);
    command = compile_command(request, "ir");
    append(command, link_flags());
    append(command, {"-o", object.path(), ir.path()});
  } else {
    append(command, prelude_flags);
    append(command, {"-o", object.path(), source.path()});
  }
  run_compiler(request, command);
  // Looked into only where all kernels of the object together have more.
  if (simt::ElfFile(object.path()).section(".wfshared").bytes > simt::default_shared_limit) {
    if (ir_text.empty()) ir_text = emit_ir(request, prelude_flags, source.path());
    check_static_shared(ir_text);
  }
  if (counts_lines) fs::rename(source.path(), fs::path(entry).replace_extension(".ii"));
  fs::rename(object.path(), entry);
  return entry;
}

}  // namespace warpfuzz
