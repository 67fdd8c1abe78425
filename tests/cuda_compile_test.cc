// Kernels compiled for the CUDA device, as far as that can be checked without a GPU: every kernel
// of the project assembles with coverage, objects load and export what the device needs. Needs
// nvcc.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "kernels/cuda/collector.h"
#include "kernels/cuda/compile_cuda.h"
#include "kernels/cuda/dryrun.h"
#include "kernels/cuda/kernel_object.h"
#include "kernels/cuda/ptx/instrument.h"
#include "kernels/subprocess.h"

namespace warpfuzz::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kernels = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels";

bool runs(const std::string& program) {
  try {
    return run_process({program, "--version"}, std::chrono::seconds(20)).exit_code == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

class CudaCompile : public testing::Test {
 protected:
  void SetUp() override {
    if (!runs("nvcc")) GTEST_SKIP() << "nvcc is not installed: CUDA compilation is not tested";
    directory_ = fs::path(testing::TempDir()) / ("cuda_compile." + std::to_string(getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  CompileRequest request(const fs::path& source) const {
    CompileRequest r;
    r.source = source;
    r.cache_directory = directory_;
    r.kernel_directory = kernels;
    r.host_coverage = false;
    return r;
  }
  fs::path write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ / name) << content;
    return directory_ / name;
  }

  fs::path directory_;
};

TEST_F(CudaCompile, ObjectsLoadAndKnowTheirCounters) {
  const fs::path object = compile_for_cuda(request(kernels / "correct/relu.cu"));
  EXPECT_EQ(compile_for_cuda(request(kernels / "correct/relu.cu")), object) << "from the cache";
  const KernelObject loaded = load_kernel_object(object);
  EXPECT_NE(loaded.begin, nullptr);
  EXPECT_NE(loaded.coverage, nullptr);
  EXPECT_STREQ(loaded.preconditions(), "");
  const auto map = ptx::CoverageMap::from_json(loaded.coverage_map);
  EXPECT_GT(map.counters.size(), 50u);
  EXPECT_THAT(map.counters[0].file, HasSubstr("correct/relu.cu"));
}

TEST_F(CudaCompile, ObjectsKnowWhatNoDeviceCanRun) {
  CompileRequest for_blackwell =
      request(fs::path(WARPFUZZ_SOURCE_DIR) / "tests/cuda/tensor_memory.cu");
  for_blackwell.architecture = "sm_100a";
  const auto refused = [](const CompileRequest& compiled) {
    void* const object = dlopen(compile_for_cuda(compiled).c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto* entry =
        static_cast<const WfCudaRefusedEntry*>(dlsym(object, "warpfuzz_cuda_refused_entries"));
    std::map<std::string, std::string> messages;
    for (; entry != nullptr && entry->entry != nullptr; ++entry) {
      messages[entry->entry] = entry->message;
    }
    return messages;
  };
  using ::testing::MatchesRegex;
  using ::testing::Pair;
  EXPECT_THAT(
      refused(for_blackwell),
      testing::ElementsAre(
          Pair("columns_96", MatchesRegex("tensor memory: tcgen05.alloc of 96 columns, expected a "
                                          "power of two from 32 to 512 .tensor_memory.cu:[0-9]+.")),
          Pair("never_freed", HasSubstr("without a tcgen05.dealloc before the kernel ends")),
          Pair("relinquished", HasSubstr("after tcgen05.relinquish_alloc_permit")),
          Pair("too_many", HasSubstr("of 64 columns while 512 of 512 are taken"))));
  EXPECT_THAT(refused(request(kernels / "correct/relu.cu")), testing::IsEmpty());
}

// Of Hopper's own: sm_90 has no warp-group products.
TEST_F(CudaCompile, CodeForOneArchitectureAlone) {
  const fs::path source = write("wgmma.cu", R"(
#include "warpfuzz_kernel.hpp"
__global__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
WARPFUZZ_KERNEL("") {
  fence<<<1, 128, 0, call.stream()>>>();
  return call.launched();
}
)");
  CompileRequest for_hopper = request(source);
  for_hopper.architecture = "sm_90";
  EXPECT_THROW(compile_for_cuda(for_hopper), CompileError);
  for_hopper.architecture = "sm_90a";
  EXPECT_NE(load_kernel_object(compile_for_cuda(for_hopper)).coverage, nullptr);
}

TEST_F(CudaCompile, MessagesOfTheCompilerReachTheUser) {
  try {
    compile_for_cuda(request(write("bad.cu", "#include \"warpfuzz_kernel.hpp\"\nint x = y;\n")));
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("identifier \"y\" is undefined"));
  }
}

TEST_F(CudaCompile, EveryKernelAssemblesInstrumented) {
  size_t assembled = 0;
  for (const char* folder : {"correct", "faulty"}) {
    for (const auto& entry : fs::directory_iterator(kernels / folder)) {
      if (entry.path().extension() != ".cu") continue;
      const fs::path ptx = directory_ / "kernel.ptx";
      const auto compiled = run_process({"nvcc", "-ptx", "-arch=sm_90", "-lineinfo", "-std=c++17",
                                         "-I" + kernels.string(), entry.path(), "-o", ptx},
                                        std::chrono::seconds(120));
      ASSERT_EQ(compiled.exit_code, 0) << entry.path() << compiled.errors;
      std::ifstream stream(ptx);
      const std::string text((std::istreambuf_iterator<char>(stream)), {});
      const auto assemble = [&](const fs::path& file) {
        const auto assembly =
            run_process({"ptxas", "-v", "-arch=sm_90", file, "-o", directory_ / "kernel.cubin"},
                        std::chrono::seconds(120));
        EXPECT_EQ(assembly.exit_code, 0) << entry.path() << assembly.errors;
        return entry_registers(assembly.output + assembly.errors);
      };
      const auto plain = assemble(ptx);
      const auto counted =
          assemble(write("instrumented.ptx", ptx::instrument(text, {.registers = plain}).text));
      ASSERT_EQ(plain.size(), counted.size());
      for (const auto& [name, registers] : plain) {
        // Given out eight at a time; 1,024 threads can have 64 each.
        EXPECT_LE(counted.at(name), std::max(64u, (registers + 7) / 8 * 8)) << name;
      }
      ++assembled;
    }
  }
  EXPECT_GT(assembled, 10u);
}

TEST_F(CudaCompile, TheCollectorAssembles) {
  for (const char* architecture : {"sm_75", "sm_90"}) {
    const auto assembly =
        run_process({"ptxas", fmt::format("-arch={}", architecture),
                     write("collector.ptx", collector_ptx), "-o", directory_ / "collector.cubin"},
                    std::chrono::seconds(120));
    EXPECT_EQ(assembly.exit_code, 0) << architecture << assembly.errors;
  }
}

TEST(CudaCompileWithout, AbsentCompilerSaysWhatToDo) {
  CompileRequest request;
  request.source = kernels / "correct/relu.cu";
  request.cache_directory = testing::TempDir();
  request.kernel_directory = kernels;
  request.nvcc = "no-such-nvcc";
  try {
    compile_for_cuda(request);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("compiling for CUDA needs nvcc of the CUDA Toolkit on PATH "
                                        "(or give a compiled .so)"));
  }
}

}  // namespace
}  // namespace warpfuzz::cuda
