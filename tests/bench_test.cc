// `warpfuzz bench` on a driver without a GPU (cuda_fake_driver.cc): what it asks, what it refuses
// to time, and that a kernel which is right only when nobody takes its time is caught.
#include "fuzzers/bench.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fuzzers/installation.h"
#include "reference/number_format.h"
#include "seeds/value_law.h"
#include "tests/fake_gpu.h"

namespace warpfuzz {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Schema> schema_of(const std::string& op) {
  return Installation::find().schema(op);
}

TEST(BenchQuantiles, LieBetweenSamples) {
  struct Row {
    std::vector<double> samples;
    double median, p10, p90;
  };
  const Row rows[] = {{{}, 0, 0, 0},
                      {{7}, 7, 7, 7},
                      {{3, 1}, 2, 1.2, 2.8},
                      {{5, 1, 4, 2, 3}, 3, 1.4, 4.6},
                      {{10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 5, 1, 9}};
  for (const Row& row : rows) {
    const Quantiles q = quantiles(row.samples);
    EXPECT_DOUBLE_EQ(q.median, row.median);
    EXPECT_DOUBLE_EQ(q.p10, row.p10);
    EXPECT_DOUBLE_EQ(q.p90, row.p90);
  }
}

std::vector<std::string> described(const std::string& op, const std::vector<std::string>& axes,
                                   const std::string& dtypes, const std::string& preconditions) {
  const auto schema = schema_of(op);
  const Preconditions parsed(*schema, preconditions);
  std::vector<NamedAxes> asked;
  for (const std::string& text : axes) asked.push_back(parse_axes(*schema, text));
  std::vector<std::string> texts;
  for (const BenchShape& shape :
       bench_shapes(schema, asked, parse_dtypes(*schema, dtypes), {&parsed})) {
    EXPECT_EQ(illegality(shape.c).find("axes"), std::string::npos);
    texts.push_back(shape.name + " " + describe(shape.c));
  }
  return texts;
}

TEST(BenchShapes, ThreeSizesWithinTheMemory) {
  const auto softmax = described("softmax", {}, "", "");
  ASSERT_EQ(softmax.size(), 3u);
  EXPECT_THAT(softmax[0], HasSubstr("small softmax float32 m=256 n=256 "));
  EXPECT_THAT(softmax[1], HasSubstr("medium softmax float32 m=2048 n=2048 "));
  EXPECT_THAT(softmax[2], HasSubstr("large softmax float32 m=4096 n=4096 "));
  EXPECT_THAT(described("matmul", {}, "T=float16", "")[2],
              HasSubstr("large matmul float16 m=4096 n=4096 k=4096 "));
  EXPECT_THAT(described("softmax", {}, "", "n <= 1024")[2], HasSubstr("m=8192 n=1024 "));
  for (const auto& schema : load_schemas(WARPFUZZ_SOURCE_DIR "/schemas")) {
    for (const BenchShape& shape : bench_shapes(schema, {}, {}, {})) {
      EXPECT_LE(tensor_bytes(shape.c), int64_t{256} << 20) << describe(shape.c);
    }
  }
}

TEST(BenchShapes, AxesThatNobodyNamedFollow) {
  EXPECT_THAT(described("softmax", {"n=1000"}, "", "")[0], HasSubstr("asked softmax float32 m="));
  EXPECT_THAT(described("softmax", {"m=3,n=1000"}, "T=bfloat16", "")[0],
              HasSubstr("asked softmax bfloat16 m=3 n=1000 "));
  // The first dtypes that the kernel admits.
  EXPECT_THAT(described("softmax", {"m=3,n=1000"}, "", "T == float16")[0],
              HasSubstr("softmax float16 m=3"));
}

struct MessageRow {
  std::string op, axes, dtypes, preconditions, message;
};

TEST(BenchShapes, SayWhatIsWrong) {
  const MessageRow rows[] = {
      {"softmax", "q=4", "", "",
       "--axes q=4: softmax has no axis 'q' to choose; expected of: m, n"},
      {"softmax", "m=0", "", "", "--axes m=0: found m=0, expected 1 to 1048576"},
      {"softmax", "m=2000000", "", "", "--axes m=2000000: found m=2000000, expected 1 to 1048576"},
      {"softmax", "m=x", "", "", "--axes m=x: found m=x, expected 1 to 1048576"},
      {"softmax", "m", "", "", "--axes m: found 'm', expected such as m=4096,n=1024"},
      {"softmax", "m=1,m=2", "", "", "--axes m=1,m=2: m twice"},
      {"softmax", "m=4,n=5", "", "n % 4 == 0",
       "--axes m=4,n=5: excluded by the kernel's preconditions \"n % 4 == 0\"; give --axes or "
       "--dtype that they admit"},
      {"softmax", "m=1048576,n=1048576", "", "",
       "--axes m=1048576,n=1048576: the tensors of one call need more than 16 GiB; give shorter "
       "axes"},
      {"softmax", "m=1,n=1", "V=float16", "",
       "--dtype V=float16: softmax has no dtype variable 'V'; expected of: T, U"},
      {"softmax", "m=1,n=1", "T=half", "",
       "--dtype T=half: unknown dtype 'half'; expected of: float32, float16, bfloat16, float64, "
       "float8_e4m3fn, float8_e5m2, int64, int32, int8, uint8, bool"},
      {"matmul", "m=1,n=1", "T=float32,U=float16", "",
       "--dtype T=float32,U=float16: matmul has no such combination; expected of: "
       "T=float32,U=float32; T=float16,U=float16; T=bfloat16,U=bfloat16; T=float16,U=float32; "
       "T=bfloat16,U=float32"}};
  for (const MessageRow& row : rows) {
    try {
      described(row.op, {row.axes}, row.dtypes, row.preconditions);
      ADD_FAILURE() << row.message;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), row.message);
    }
  }
}

TEST(SampledOracle, JudgesSomeRowsAndLeavesTheOthersOpen) {
  Case c = decode(schema_of("relu"), {}, {});
  c.axes = {1000, 512};
  c.inputs[0].law = ValueLaw::normal;
  const std::vector<Tensor> inputs = make_inputs(c);
  const Oracle some(c, inputs, {.most_work = c.work() / 100});
  Tensor output = inputs[0];
  std::vector<double> values = decode_tensor(output);
  for (double& value : values) value = std::max(value, 0.0);
  encode_tensor(values, output);
  Comparison comparison = some.compare(0, output);
  EXPECT_EQ(comparison.offending.size(), 0u);
  EXPECT_EQ(values.size() - comparison.undecided, 10u * 512u);
  values.front() = values.back() = 5;
  encode_tensor(values, output);
  comparison = some.compare(0, output);
  EXPECT_EQ(comparison.offending, (std::vector<size_t>{0, values.size() - 1}));
}

template <class T>
T& variable(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW);
  return *static_cast<T*>(dlsym(handle, name));
}

class Bench : public testing::Test {
 protected:
  ~Bench() override { fault(0); }
  static void fault(int value) { variable<int>(WARPFUZZ_FAKE_KERNEL, "fake_fault") = value; }

  static BenchOptions options() {
    BenchOptions options;
    options.schema = schema_of("relu");
    options.device = {.cuda = true};
    options.kernels = {WARPFUZZ_FAKE_KERNEL};
    options.axes = {parse_axes(*options.schema, "m=512,n=256")};
    options.repeats = 6;
    return options;
  }
};

TEST_F(Bench, TimesAKernelThatIsRight) {
  const BenchResult result = run_bench(options());
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.device_name, "fake");
  ASSERT_EQ(result.verdicts.size(), 1u);
  EXPECT_EQ(result.verdicts[0].trials, 64u);
  EXPECT_GT(result.verdicts[0].excluded, 0u);  // other dtypes
  EXPECT_TRUE(result.verdicts[0].counters);
  ASSERT_EQ(result.shapes.size(), 1u);
  const ShapeSpeed& shape = result.shapes[0];
  EXPECT_EQ(shape.bytes, 2 * 512 * 256 * 4);
  EXPECT_EQ(shape.sets, 3u);
  EXPECT_TRUE(shape.beyond_cache);
  EXPECT_TRUE(shape.bitwise);
  EXPECT_EQ(shape.checked, 3u * 512 * 256);
  EXPECT_EQ(shape.elements, shape.checked);
  const Speed& speed = shape.kernels[0];
  EXPECT_NEAR(speed.single.median, 10, 0.1);
  EXPECT_EQ(speed.single_samples, 6u);
  EXPECT_EQ(speed.batch_calls, 20u);
  EXPECT_NEAR(speed.batch.median, 0.5, 0.1);
  EXPECT_EQ(speed.launches, 1.0);
  EXPECT_NEAR(shape.copy.batch.median, 0.5 + 512 * 256 * 4 * 1e-6, 0.1);
  EXPECT_EQ(variable<uint64_t>("libcuda.so.1", "fake_live_allocations"), 0u);
}

TEST_F(Bench, OtherKernelsTakeTurns) {
  BenchOptions two = options();
  two.kernels.push_back(two.kernels.front());
  const BenchResult result = run_bench(two);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.shapes[0].kernels.size(), 2u);
  EXPECT_THAT(bench_text(result), HasSubstr("speed-up of "));
  const auto json = nlohmann::json::parse(bench_json(result));
  EXPECT_NEAR(json.at("shapes").at(0).at("speed_up").at("batch").get<double>(), 1, 0.1);
  EXPECT_TRUE(json.at("problem").is_null());
}

struct FaultRow {
  int fault;
  std::string problem;
  bool timed;
};

TEST_F(Bench, CatchesWhatIsWrong) {
  const FaultRow rows[] = {
      {3, "MEM-01 guards: ", false},
      {6,
       "right only when not timed: single calls, set 0: 131072 of 131072 elements of output y "
       "differ from an untimed call on the same inputs, first y[0]",
       true},
      {7,
       "right only when not timed: single calls, set 0: 1 of 131072 elements of output y differ "
       "from an untimed call on the same inputs, first y[65536]",
       true},
      {8, "6 launches of timed calls are not on the call's stream: no event saw them", true},
      {9, "right only when not timed: single calls, set 0: ", true},
      {10,
       "wrong on this shape, timed or not: 1 of the elements looked at in output y are wrong, "
       "first y[0]: observed ",
       false},
  };
  for (const FaultRow& row : rows) {
    fault(row.fault);
    auto& events = variable<uint64_t>("libcuda.so.1", "fake_events");
    events = 0;
    const BenchResult result = run_bench(options());
    EXPECT_THAT(result.problem, HasSubstr(row.problem));
    EXPECT_TRUE(result.shapes.empty());
    EXPECT_EQ(events > 0, row.timed) << row.problem;
  }
}

struct CommandRow {
  std::vector<std::string> arguments;
  int exit_code;
  std::string output, errors;
};

TEST_F(Bench, TheCommandFromEndToEnd) {
  const test::FakeGpu gpu;
  const std::string kernel = WARPFUZZ_FAKE_KERNEL;
  const CommandRow rows[] = {
      {{"--axes", "m=512,n=256", "--axes", "m=64,n=64", "--repeats", "3"}, 0, "asked: relu ", ""},
      {{"--axes", "m=512,n=256", "--repeats", "3", "--json", "-"}, 0, "\"format\": 1", ""},
      {{"--device", "cuda:7"}, 3, "", "no CUDA device 7: this process sees 1"},
      {{"--device", "cpu"},
       2,
       "",
       "--device cpu: the CPU device tells nothing about speed; expected cuda or cuda:N"},
      {{"--axes", "k=1"}, 2, "", "--axes k=1: relu has no axis 'k' to choose; expected of: m, n"},
      {{"--dtype", "T=float16"},
       2,
       "",
       "excluded by the kernel's preconditions \"T == float32 && "},
      {{"--repeats", "0"}, 2, "", "--repeats: expected 1 to 10000"},
      {{"--json", "/nowhere/x.json"}, 2, "", "--json /nowhere/x.json: there is no directory"}};
  for (const CommandRow& row : rows) {
    std::vector<std::string> arguments = {"bench", "relu", "--kernel", kernel};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const ProcessResult result = test::warpfuzz_command(arguments);
    EXPECT_EQ(result.exit_code, row.exit_code) << result.output << result.errors;
    EXPECT_THAT(result.output, HasSubstr(row.output));
    EXPECT_THAT(result.errors, HasSubstr(row.errors));
  }
}

}  // namespace
}  // namespace warpfuzz
