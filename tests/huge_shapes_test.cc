// Which calls `warpfuzz huge` makes, and which rows of them it samples.
#include "fuzzers/huge_shapes.h"

#include <gtest/gtest.h>

#include "fuzzers/installation.h"

namespace warpfuzz {
namespace {

std::shared_ptr<const Schema> schema_of(const std::string& op) {
  return Installation::find().schema(op);
}

struct CallRow {
  std::string op, dtypes, preconditions;
  std::vector<std::string> calls;
};

TEST(HugeShapes, CrossTheBoundaryWithEachAxisLong) {
  const CallRow rows[] = {{"relu",
                           "T=float16,U=float16",
                           "",
                           {"m=46340 n=46341 just below 2^31 elements",
                            "m=1048576 n=2049 more than 2^31 elements, m long",
                            "m=2049 n=1048576 more than 2^31 elements, n long",
                            "m=65537 n=65536 more than 2^32 elements"}},
                          // Multiples, and a bound on one axis.
                          {"softmax",
                           "T=float32,U=float32",
                           "n % 8 == 0 && n <= 8192",
                           {"m=370767 n=5792 just below 2^31 elements",
                            "m=1048576 n=2056 more than 2^31 elements, m long",
                            "m=262145 n=8192 more than 2^31 elements, n long",
                            "m=524289 n=8192 more than 2^32 elements"}},
                          {"matmul",
                           "T=float16,U=float16",
                           "",
                           {"m=46340 n=46341 k=16 just below 2^31 elements",
                            "m=1048576 n=2049 k=16 more than 2^31 elements, m long",
                            "m=1048576 n=16 k=2049 more than 2^31 elements, m long",
                            "m=2049 n=1048576 k=16 more than 2^31 elements, n long",
                            "m=2049 n=16 k=1048576 more than 2^31 elements, k long",
                            "m=65537 n=65536 k=16 more than 2^32 elements"}},
                          {"sum",
                           "T=float16,U=float16",
                           "",
                           {"m=46340 n=46341 just below 2^31 elements",
                            "m=1048576 n=2049 more than 2^31 elements, m long",
                            "m=2049 n=1048576 more than 2^31 elements, n long",
                            "m=65537 n=65536 more than 2^32 elements"}}};
  for (const CallRow& row : rows) {
    const auto schema = schema_of(row.op);
    std::vector<std::string> calls;
    for (const HugeCall& call :
         huge_calls(schema, parse_dtypes(*schema, row.dtypes),
                    Preconditions(*schema, row.preconditions), ValueLaw::normal, {})) {
      std::string text;
      for (size_t i = 0; i < call.c.axes.size(); ++i) {
        text += schema->axes[i].name + "=" + std::to_string(call.c.axes[i]) + " ";
      }
      calls.push_back(text + call.about);
      EXPECT_EQ(call.small, call.about.starts_with("just below")) << text;
    }
    EXPECT_EQ(calls, row.calls) << row.op;
  }
}

// Every operator either has huge calls, all of them legal but for their work, or says why not.
TEST(HugeShapes, OfAllOperators) {
  std::vector<std::string> refused;
  for (const auto& schema : load_schemas(WARPFUZZ_SOURCE_DIR "/schemas")) {
    try {
      const std::vector<HugeCall> calls =
          huge_calls(schema, {}, Preconditions(*schema, ""), ValueLaw::uniform, {});
      for (const HugeCall& call : calls) {
        SCOPED_TRACE(describe(call.c));
        EXPECT_NE(largest_size(call.c) > int64_t{1} << 31, call.small);
        for (size_t i = 0; i < call.c.axes.size(); ++i) {
          EXPECT_LE(call.c.axes[i], std::max<int64_t>(schema->axes[i].maximum, 1));
        }
      }
    } catch (const UsageError& error) {
      refused.push_back(error.what());
    }
  }
  EXPECT_EQ(
      refused,
      (std::vector<std::string>{
          "layernorm_backward: a huge call is judged by rows that are independent of each other, "
          "and "
          "this operator has no axis that leads all of its outputs, some input and no reduction; "
          "expected one such as relu, softmax or matmul",
          "scatter_add: a huge call is judged by rows that are independent of each other, and this "
          "operator has no axis that leads all of its outputs, some input and no reduction; "
          "expected "
          "one such as relu, softmax or matmul"}));
}

TEST(HugeShapes, DTypesOf16BitsFirst) {
  const auto schema = schema_of("relu");
  std::vector<std::string_view> dtypes;
  for (const HugeCall& call :
       huge_calls(schema, {}, Preconditions(*schema, ""), ValueLaw::normal, {})) {
    const std::string_view dtype = name(call.c.dtype(schema->inputs[0]));
    if (dtypes.empty() || dtypes.back() != dtype) dtypes.push_back(dtype);
  }
  EXPECT_EQ(dtypes, (std::vector<std::string_view>{"float16", "bfloat16", "float32"}));
}

TEST(HugeShapes, SampledRowsLieAroundTheBoundaries) {
  const auto schema = schema_of("relu");
  Case c = huge_calls(schema, parse_dtypes(*schema, "T=float16,U=float16"),
                      Preconditions(*schema, ""), ValueLaw::normal, {})[3]
               .c;
  ASSERT_EQ(c.axes, (std::vector<int64_t>{65537, 65536}));
  const std::vector<int64_t> rows = sampled_rows(c, 0, {});
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
  // First, last; 2^31 bytes, 2^31 elements (2^32 bytes), 2^32 elements.
  for (const int64_t element :
       {int64_t{0}, (int64_t{1} << 30) - 1, int64_t{1} << 30, (int64_t{1} << 31) - 1,
        int64_t{1} << 31, (int64_t{1} << 32) - 1, int64_t{1} << 32, int64_t{65536} * 65537 - 1}) {
    EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), element / 65536)) << element;
  }
  // The others leave no large gap.
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_LE(rows[i] - rows[i - 1], 65536 / 100);
}

}  // namespace
}  // namespace warpfuzz
