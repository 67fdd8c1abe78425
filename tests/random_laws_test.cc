// The laws whose elements can be made anywhere: one by one, in rows, and as the device's code makes
// them (huge_tensors.cu, here on the CPU device), all bit for bit what make_input() gives.
#include "seeds/random_laws.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "kernels/cuda/huge_tensors.h"
#include "kernels/device.h"
#include "reference/number_format.h"
#include "schemas/schema.h"
#include "tests/law_fixture.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using huge::Task;

std::vector<ValueLaw> random_value_laws() {
  std::vector<ValueLaw> laws;
  for (size_t i = 0; i < value_law_count; ++i) {
    if (is_random(static_cast<ValueLaw>(i))) laws.push_back(static_cast<ValueLaw>(i));
  }
  return laws;
}

// An operator with one input and one output of any floating type, and the attributes of
// huge_tensors.cu.
std::shared_ptr<const Schema> work_schema(const char* output_shape, const char* output_dtype) {
  std::string laws;
  for (const ValueLaw law : random_value_laws()) {
    laws += fmt::format("{}\"{}\"", laws.empty() ? "" : ", ", name(law));
  }
  std::string attributes;
  for (const char* integer : {"task", "law", "seed", "lowest", "dtype"}) {
    attributes += fmt::format(
        R"("{}": {{"kind": "integer", "range": [-2000, 4294967295], "usual": [0]}}, )", integer);
  }
  std::string combinations;
  for (const char* type : {"float32", "float16", "bfloat16"}) {
    combinations +=
        fmt::format(R"({}{{"T": "{}", "U": "{}", "tier": 1}})", combinations.empty() ? "" : ", ",
                    type, *output_dtype != 0 ? output_dtype : type);
  }
  const std::string types = R"(["float32", "float16", "bfloat16", "int64"])";
  return parse_schema(fmt::format(
                          R"({{"name": "work", "op_type": "work", "description": "", "tags": [],
      "axes": {{"m": {{"type": "var"}}, "n": {{"type": "var"}}, "three": {{"type": "const", "value": 3}}}},
      "inputs": {{"x": {{"shape": ["m", "n"], "dtype": "float32"}}}},
      "outputs": {{"y": {{"shape": [{}], "dtype": "{}"}}}},
      "fuzz": {{
        "dtypes": {{"T": {}, "U": {}}}, "dtype_combinations": [{}],
        "axes": {{"m": {{"role": "batch", "range": [0, 100000]}},
                 "n": {{"role": "free", "range": [0, 100000]}}, "three": {{"role": "free"}}}},
        "tensors": {{"x": {{"dtype": "T", "layouts": ["contiguous"], "laws": [{}]}},
                    "y": {{"dtype": "U", "layouts": ["contiguous"]}}}},
        "attributes": {{{} "largest": {{"kind": "real", "range": [0, 1e308], "usual": [1]}}}},
        "work": "m * n",
        "contract": {{"accumulator": "float32", "output_roundings": 1, "non_finite": "propagate",
          "subnormal": "preserve", "determinism": "bitwise", "batch_invariant": true,
          "may_alias": false, "slack": []}}}}}})",
                          output_shape, *output_dtype != 0 ? output_dtype : "float32", types, types,
                          combinations, laws, attributes),
                      "work.json");
}

class RandomLaws : public testing::Test {
 protected:
  static Case make_case(const std::shared_ptr<const Schema>& schema, size_t dtype, ValueLaw law,
                        uint32_t seed) {
    Case c = decode(schema, {}, {});
    c.dtype_combination = dtype;
    c.axes = {31, 97, 3};
    c.inputs[0] = {};
    c.inputs[0].law = law;
    c.inputs[0].seed = seed;
    return c;
  }

  static void set_task(Case& c, Task task) {
    const RandomLaw law = random_law_of(c, 0);
    const int64_t integers[] = {static_cast<int64_t>(task), static_cast<int64_t>(law.law),
                                static_cast<int64_t>(law.seed), law.lowest,
                                static_cast<int64_t>(c.dtype(c.schema->inputs[0]))};
    for (size_t i = 0; i < std::size(integers); ++i) c.attributes[i].integer = integers[i];
    c.attributes.back().real = law.largest;
  }

  // Of the device's code, on the CPU device.
  static Tensor run(Case c, Task task, const Tensor& input) {
    static const std::unique_ptr<Device> device = make_cpu_device();
    static const std::unique_ptr<Kernel> kernel = [] {
      CompileRequest request;
      request.instrumentation = {.coverage = false, .address = false, .undefined = false};
      request.cache_directory = fs::temp_directory_path() / "warpfuzz-huge-tensors-test";
      request.kernel_directory = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels";
      request.include_directory = request.kernel_directory / "simt/include";
      return device->load(cuda::compile_huge(request, "huge_tensors.cu"), nullptr);
    }();
    set_task(c, task);
    MemoryImage image;
    image.compose(c, std::span(&input, 1), 0, nan_fill, 1);
    const RunResult result = kernel->run(c, image, {});
    EXPECT_EQ(result.status, RunStatus::ok) << result.message;
    EXPECT_TRUE(image.find_damage(std::span(&input, 1)).empty());
    return image.gather_output(0);
  }

  std::pair<int64_t, int64_t> count(const Case& c, Task task, const Tensor& input) {
    const Tensor result = run(c, task, input);
    uint64_t numbers[3];
    std::memcpy(numbers, result.data.data(), sizeof numbers);
    sum_ = numbers[2];
    return {static_cast<int64_t>(numbers[0]), static_cast<int64_t>(numbers[1])};
  }

  uint64_t sum_ = 0;  // of the elements counted last

  // For every law, type and a few seeds.
  template <class Body>
  static void for_each(const std::shared_ptr<const Schema>& schema, Body body) {
    for (const ValueLaw law : random_value_laws()) {
      for (size_t dtype = 0; dtype < 3; ++dtype) {
        for (const uint32_t seed : {0u, 1u, 2u, 4294967295u}) {
          const Case c = make_case(schema, dtype, law, seed);
          SCOPED_TRACE(describe(c));
          body(c);
        }
      }
    }
  }
};

TEST_F(RandomLaws, ElementsAreThoseOfTheWholeTensor) {
  for (const ValueLaw law : random_value_laws()) {
    for (const DType dtype : float_types) {
      LawArguments arguments = row(3, 500, dtype);
      const std::vector<double> all = values_of(law, arguments);
      const FormatTraits& format = traits(dtype);
      const RandomLaw elements(law, 3, format.minimum_exponent, format.largest);
      arguments.first = 123;
      arguments.length = 300;
      const std::vector<double> part = values_of(law, arguments);
      for (size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(elements.value(i), all[i]) << name(law) << " " << name(dtype) << " " << i;
      }
      for (size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], all[i + 123]) << name(law);
    }
  }
}

TEST_F(RandomLaws, RowsAreThoseOfTheWholeTensor) {
  const int64_t rows[] = {0, 7, 8, 30};
  for_each(work_schema(R"("m", "n")", ""), [&](const Case& c) {
    const Tensor whole = make_input(c, 0);
    const Tensor part = make_input_rows(c, 0, rows);
    const size_t bytes = whole.data.size() / 31;
    ASSERT_EQ(part.shape, (std::vector<int64_t>{4, 97}));
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(std::memcmp(&part.data[i * bytes],
                            &whole.data[static_cast<size_t>(rows[i]) * bytes], bytes),
                0);
    }
  });
}

TEST_F(RandomLaws, TheDeviceFillsBitForBit) {
  for_each(work_schema(R"("m", "n")", ""), [&](const Case& c) {
    const Tensor expected = make_input(c, 0);
    Tensor zeros = expected;
    std::fill(zeros.data.begin(), zeros.data.end(), std::byte{0});
    ASSERT_EQ(run(c, Task::fill, zeros).data, expected.data);
  });
}

TEST_F(RandomLaws, TheDeviceCounts) {
  for_each(work_schema(R"("three")", "int64"), [&](const Case& c) {
    Tensor x = make_input(c, 0);
    constexpr std::pair<int64_t, int64_t> none{0, -1};
    ASSERT_EQ(count(c, Task::count_other, x), none);
    ASSERT_EQ(count(c, Task::count_all_ones, x), none);
    ASSERT_EQ(sum_, 0u);
    const size_t bytes = info(x.dtype).bytes;
    for (const size_t element : {size_t{2999}, size_t{77}, size_t{1500}}) {
      std::memset(&x.data[element * bytes], 0xFF, bytes);
    }
    ASSERT_EQ(count(c, Task::count_other, x), (std::pair<int64_t, int64_t>{3, 77}));
    ASSERT_EQ(count(c, Task::count_all_ones, x), (std::pair<int64_t, int64_t>{3, 77}));
    x.data[77 * bytes] = std::byte{0xFE};
    ASSERT_EQ(count(c, Task::count_other, x), (std::pair<int64_t, int64_t>{3, 77}));
    ASSERT_EQ(count(c, Task::count_all_ones, x), (std::pair<int64_t, int64_t>{2, 1500}));
    ASSERT_EQ(sum_, huge::index_hash(1500) + huge::index_hash(2999));
    std::memset(&x.data[9 * bytes], 0x5A, bytes);
    ASSERT_EQ(count(c, Task::count_marks, x), (std::pair<int64_t, int64_t>{1, 9}));
    ASSERT_EQ(sum_, huge::index_hash(9));
  });
}

// Into what is all ones already: an output's poison.
TEST_F(RandomLaws, TheDeviceMarksAllOnes) {
  for_each(work_schema(R"("m", "n")", ""), [&](const Case& c) {
    const Tensor marked = run(c, Task::mark_all_ones, make_input(c, 0));
    for (const std::byte byte : marked.data) ASSERT_EQ(byte, std::byte{0x5A});
  });
}

}  // namespace
}  // namespace warpfuzz
