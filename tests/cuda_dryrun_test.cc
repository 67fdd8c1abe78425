// The steps of nvcc and the driver's table, on machines without either.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/device_faults.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/dryrun.h"
#include "kernels/cuda/mps.h"
#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

TEST(CudaDryrun, SplitsBeforeTheAssembler) {
  const CompilationSteps steps = split_dryrun(
      "warning: something\n"
      "#$ _SPACE_= \n"
      "#$ PATH=/cuda/bin:/bin\n"
      "#$ INCLUDES=\"-I/cuda/include\"\n"
      "#$ gcc -E \"a.cu\" -o \"a.ii\"\n"
      "#$ \"$CICC_PATH/cicc\" a.ii -o \"/tmp/a.ptx\"\n"
      "#$ ptxas -arch=sm_90 \"/tmp/a.ptx\"  -o \"/tmp/a.cubin\" \n"
      "#$ rm /tmp/a.fatbin\n"
      "#$ gcc -c x.cpp -o \"a.o\"\n");
  EXPECT_EQ(steps.ptx, "/tmp/a.ptx");
  EXPECT_EQ(steps.to_ptx,
            "set -e\nexport PATH='/cuda/bin:/bin'\ngcc -E \"a.cu\" -o \"a.ii\"\n"
            "\"$CICC_PATH/cicc\" a.ii -o \"/tmp/a.ptx\"\n");
  EXPECT_EQ(steps.from_ptx,
            "set -e\nexport PATH='/cuda/bin:/bin'\n"
            "ptxas -arch=sm_90 \"/tmp/a.ptx\"  -o \"/tmp/a.cubin\" \n"
            "gcc -c x.cpp -o \"a.o\"\n");
  EXPECT_EQ(steps.assemble,
            "set -e\nexport PATH='/cuda/bin:/bin'\n"
            "ptxas -arch=sm_90 \"/tmp/a.ptx\"  -o \"/tmp/a.cubin\"  -v\n");
}

TEST(CudaDryrun, RegistersOfEntries) {
  const auto registers = entry_registers(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1kPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 26 registers, used 1 barriers, 32 bytes smem\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "ptxas info    : Used 168 registers\n"
      "ptxas info    : Used 8 registers\n");
  EXPECT_THAT(registers, ElementsAre(Pair("_Z1kPf", 26u), Pair("second", 168u)));
  EXPECT_THAT(entry_registers("Used up\nCompiling entry function 'k"), IsEmpty());
}

TEST(CudaDryrun, OneArchitecture) {
  const std::string step = "#$ ptxas \"/tmp/a.ptx\" -o \"/tmp/a.cubin\"\n";
  EXPECT_THROW(split_dryrun(step + step), std::runtime_error);
  EXPECT_THROW(split_dryrun("#$ gcc a.c\n"), std::runtime_error);
}

TEST(CudaDriver, AbsentDriverSaysWhatToDo) {
  try {
    load_driver("libno-such-driver.so.1");
    FAIL();
  } catch (const DeviceUnavailable& error) {
    EXPECT_STREQ(
        error.what(),
        "no CUDA driver on this machine (libno-such-driver.so.1: cannot open shared object "
        "file: No such file or directory): an NVIDIA GPU is needed for --device cuda, bench and "
        "huge; "
        "the other commands run without one, on --device cpu");
  }
}

TEST(CudaDriver, IncompleteDriverIsNamed) {
  try {
    load_driver("libm.so.6");
    FAIL();
  } catch (const DeviceUnavailable& error) {
    EXPECT_STREQ(error.what(), "libm.so.6 lacks cuInit: a CUDA driver of 12.0 or later is needed");
  }
}

TEST(CudaDriver, FaultsOfTheKernel) {
  EXPECT_EQ(device_fault(700)->kind, FaultKind::wild_access);
  EXPECT_EQ(device_fault(716)->kind, FaultKind::misaligned_access);
  EXPECT_EQ(device_fault(702)->kind, FaultKind::time_limit);
  EXPECT_EQ(device_fault(700)->message, "the device reports: illegal address (CUDA error 700)");
  EXPECT_FALSE(device_fault(2)) << "out of memory is not the kernel's fault";
}

TEST(CudaMps, AbsentServiceMeansOneWorker) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/bin", 1);
  {
    const Mps mps(std::filesystem::path(testing::TempDir()) / "wf-mps");
    if (!std::filesystem::exists("/bin/nvidia-cuda-mps-control")) {
      EXPECT_EQ(
          mps.problem(),
          "no multi-process service (nvidia-cuda-mps-control is not installed): one worker per "
          "GPU");
    }
  }
  EXPECT_EQ(std::getenv("CUDA_MPS_PIPE_DIRECTORY"), nullptr);
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace warpfuzz::cuda
