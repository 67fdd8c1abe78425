// `warpfuzz coverage` names lines and branches of the user's file, through macros, headers,
// launches and the rewriting of shared memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/command.h"

namespace warpfuzz {
namespace {

using test::warpfuzz_command;
using testing::HasSubstr;
using testing::Not;

constexpr const char* header = R"(__device__ inline float positive(float x) {
  if (x > 0) return x;
  return x != x ? x : 0.0f;
}
)";
constexpr const char* kernel = R"(#include "warpfuzz_kernel.hpp"
#include "positive.h"

#define BLOCK 32

template <int Threads>
__global__ void __launch_bounds__(Threads) relu(const float* x, float* y, int64_t n) {
  __shared__ float tile[Threads];
  const int64_t i = int64_t(blockIdx.x) * Threads +
                    threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = x[i];
  if (n > 1 << 30) {
    tile[threadIdx.x] = 0;
  }

  y[i] = positive(tile[threadIdx.x]);
}

WARPFUZZ_KERNEL("T == float32 && U == float32 && x_contiguous && y_contiguous") {
  const auto x = call.input(0), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  relu<BLOCK>
      <<<wf::blocks(y.size(), BLOCK), BLOCK, 0, call.stream()>>>(x.data<const float>(),
                                                                  y.data<float>(), y.size());
  return call.launched();
}
)";

class Coverage : public testing::Test {
 protected:
  Coverage() {
    std::ofstream(path("relu.cu")) << kernel;
    std::ofstream(path("positive.h")) << header;
  }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  ProcessResult coverage(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"coverage",      "relu",   "--kernel",
                                          path("relu.cu"), "--work", path("work")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return warpfuzz_command(arguments);
  }
  const test::TemporaryDirectory directory_;
};

TEST_F(Coverage, NamesWhatACorpusDoesNotReach) {
  ASSERT_EQ(warpfuzz_command({"seed", "relu", "--output", path("work/corpus")}).exit_code, 0);
  const ProcessResult result = coverage({"--html", path("page.html")});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("     14  not reached       tile[threadIdx.x] = 0;\n"));
  EXPECT_THAT(result.output, HasSubstr("     13  never true      if (n > 1 << 30) {\n"));
  EXPECT_THAT(result.output, Not(HasSubstr("     11  never")));
  EXPECT_THAT(result.output,
              HasSubstr("/positive.h: 4 of 4 lines and 4 of 4 branches reached by "));
  EXPECT_THAT(result.output, Not(HasSubstr("warpfuzz_kernel.hpp")));
  std::ifstream file(path("page.html"));
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(page, HasSubstr(R"(<tr class="missed"><td class="n">14</td><td class="n">0</td>)"));
  EXPECT_THAT(page, HasSubstr(R"(<tr class="partial"><td class="n">13</td>)"));
}

TEST_F(Coverage, MakesACorpusWhereThereIsNone) {
  const ProcessResult result = coverage({"--seconds", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("a campaign of 1 s makes one"));
  EXPECT_THAT(result.output, HasSubstr("     14  not reached"));
}

TEST_F(Coverage, NeedsTheSource) {
  std::ofstream(path("relu.so")) << "";
  const ProcessResult result = warpfuzz_command({"coverage", "relu", "--kernel", path("relu.so")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors, fmt::format("warpfuzz: --kernel {}: coverage needs the source, a .cu "
                                       "file\n",
                                       path("relu.so")));
}

}  // namespace
}  // namespace warpfuzz
