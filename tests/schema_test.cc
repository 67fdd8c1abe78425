#include "schemas/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/schema_fixture.h"

namespace warpfuzz {
namespace {

// A legal schema; each test of an error replaces one part of it.
constexpr std::string_view legal_text = R"({
  "name": "scale", "op_type": "test", "description": "y = x w", "tags": ["a"], "reference": "code",
  "axes": {"m": {"type": "var"}, "n": {"type": "var", "description": "columns"},
           "c": {"type": "const", "value": 4}, "h": {"type": "var"}},
  "inputs": {"x": {"shape": ["m", "n"], "dtype": "float32"},
             "w": {"shape": ["n"], "dtype": "float32"}},
  "outputs": {"y": {"shape": ["m", "n"], "dtype": "float16"}},
  "constraints": ["m <= n || m > 3"],
  "fuzz": {
    "dtypes": {"T": ["float32", "float16"], "U": ["float16"]},
    "dtype_combinations": [{"T": "float32", "U": "float16", "tier": 1}, {"T": "float16", "U": "float16"}],
    "axes": {"m": {"role": "batch", "range": [0, 100]},
             "n": {"role": "reduction", "range": [1, 1000], "boundary": [7, 9]},
             "c": {"role": "free"}, "h": {"role": "free", "derived": "m * 2"}},
    "tensors": {"x": {"dtype": "T", "layouts": ["contiguous", "transposed"], "offsets": true,
                      "laws": ["normal", "lattice"]},
                "w": {"dtype": "T", "laws": ["uniform"], "pairs": "negate"},
                "y": {"dtype": "U", "layouts": ["contiguous"]}},
    "attributes": {"eps": {"kind": "real", "range": [0.001, 1], "values": [0.5], "usual": [0.01]},
                   "mode": {"kind": "choice", "choices": ["one", "two"], "usual": ["two"]},
                   "flag": {"kind": "boolean", "usual": [true]},
                   "width": {"kind": "integer", "range": [-1, 5], "usual": [0]}},
    "work": "m * n",
    "contract": {"accumulator": "float32", "output_roundings": 2, "non_finite": "propagate",
                 "subnormal": "preserve", "determinism": "none", "batch_invariant": true,
                 "may_alias": true, "slack": ["fast"]}
  }
})";

std::string error_of(const std::string& text) {
  try {
    parse_schema(text, "scale.json");
    return "none";
  } catch (const SchemaError& error) {
    return error.what();
  }
}

TEST(Schema, ReadsEverything) {
  const auto schema = parse_schema(legal_text, "scale.json");
  EXPECT_EQ(schema->name, "scale");
  EXPECT_EQ(schema->op_type, "test");
  EXPECT_EQ(schema->tags, std::vector<std::string>{"a"});
  EXPECT_EQ(schema->expression_names(),
            (std::vector<std::string>{"m", "n", "c", "h", "eps", "mode", "flag", "width"}));
  EXPECT_EQ(schema->axes[1].boundary, (std::vector<int64_t>{7, 9}));
  EXPECT_EQ(schema->axes[2].constant, 4);
  EXPECT_EQ(schema->axes[3].derived->text(), "m * 2");
  EXPECT_FALSE(schema->axes[3].variable());
  EXPECT_EQ(schema->dtype_combinations.size(), 2u);
  EXPECT_EQ(schema->dtype_combinations[1].dtypes,
            (std::vector<DType>{DType::float16, DType::float16}));
  EXPECT_EQ(schema->inputs[0].reduction_axis, 1u);
  EXPECT_TRUE(schema->inputs[0].pairs_negate);
  EXPECT_TRUE(schema->inputs[1].pairs_negate);
  EXPECT_TRUE(schema->inputs[0].offsets);
  EXPECT_TRUE(schema->inputs[0].allows(Layout::transposed));
  EXPECT_FALSE(schema->inputs[1].allows(ValueLaw::normal));
  EXPECT_EQ(schema->outputs[0].layouts, std::vector<Layout>{Layout::contiguous});
  EXPECT_EQ(schema->attributes[0].values, (std::vector<double>{0.01, 0.5}));
  EXPECT_EQ(schema->attributes[1].usual, std::vector<double>{1});
  EXPECT_EQ(schema->attributes[2].usual, std::vector<double>{1});
  EXPECT_EQ(schema->attributes[3].minimum, -1);
  EXPECT_EQ(schema->find_attribute("flag"), 2u);
  EXPECT_EQ(schema->find_attribute("none"), std::nullopt);
  EXPECT_EQ(schema->contract.output_roundings, 2);
  EXPECT_EQ(schema->contract.non_finite, NonFinitePolicy::propagate);
  EXPECT_EQ(schema->contract.subnormal, SubnormalPolicy::preserve);
  EXPECT_EQ(schema->contract.determinism, Determinism::none);
  EXPECT_TRUE(schema->contract.batch_invariant && schema->contract.may_alias);
  EXPECT_EQ(schema->contract.slack, std::vector<std::string>{"fast"});
  EXPECT_EQ(schema->smallest_axes, (std::vector<int64_t>{1, 1, 4, 2}));
}

// One replacement in the legal text, and the exact message.
struct ErrorRow {
  const char* from;
  const char* to;
  const char* message;
};

class SchemaErrors : public testing::TestWithParam<ErrorRow> {};

TEST_P(SchemaErrors, SayWhatIsWrongAndWhere) {
  const ErrorRow& row = GetParam();
  std::string text(legal_text);
  const size_t position = text.find(row.from);
  ASSERT_NE(position, std::string::npos) << row.from;
  text.replace(position, std::string_view(row.from).size(), row.to);
  EXPECT_EQ(error_of(text), std::string("scale.json: ") + row.message);
}

#define IDENTIFIER_RULE "an identifier of at most 32 characters, not min or max"
#define DTYPES                                                                                   \
  "float32, float16, bfloat16, float64, float8_e4m3fn, float8_e5m2, int64, int32, int8, uint8, " \
  "bool"

constexpr ErrorRow error_rows[] = {
    // Keys.
    {R"("tags")", R"("tag")",
     "tag: found an unknown key, expected one of: name, op_type, description, tags, axes, inputs, "
     "outputs, constraints, reference, fuzz"},
    {R"("range": [0, 100])", R"("rnge": [0, 100])",
     "fuzz.axes.m.rnge: found an unknown key, expected one of: role, range, boundary, derived"},
    {R"("offsets")", R"("offset")",
     "fuzz.tensors.x.offset: found an unknown key, expected one of: dtype, layouts, offsets, laws, "
     "pairs, index"},
    {R"("op_type": "test", )", R"("op_type": "test", "op_type": "test", )",
     "op_type: found the same key twice, expected each key once"},
    {R"("c": {"role": "free"})", R"("c": {"role": "free", "role": "free"})",
     "fuzz.axes.c.role: found the same key twice, expected each key once"},
    {R"("U": "float16", "tier": 1})", R"("U": "float16", "tier": 1, "T": "float32"})",
     "fuzz.dtype_combinations.T: found the same key twice, expected each key once"},
    {R"("op_type": "test", )", "", "op_type: found nothing, expected the kind of operator"},
    {R"("work": "m * n",)", "",
     "fuzz.work: found nothing, expected an expression: scalar operations"},
    {R"("fuzz": {)", R"("fuzz": 3, "reference": {)",
     "reference: found the same key twice, expected each key once"},
    // Types.
    {R"("name": "scale")", R"("name": 3)", "name: found 3, expected a string"},
    {R"("name": "scale")", R"("name": "a b")", "name: found \"a b\", expected " IDENTIFIER_RULE},
    {R"("tags": ["a"])", R"("tags": "a")", "tags: found \"a\", expected a list of strings"},
    {R"("offsets": true)", R"("offsets": 1)",
     "fuzz.tensors.x.offsets: found 1, expected true or false"},
    {R"("work": "m * n")", R"("work": 5)", "fuzz.work: found 5, expected a string"},
    // Axes.
    {R"({"type": "const", "value": 4})", R"({"type": "const"})",
     "axes.c.value: found nothing, expected the extent"},
    {R"({"type": "const", "value": 4})", R"({"type": "const", "value": 0})",
     "axes.c.value: found 0, expected an integer from 1 to 68719476735"},
    {R"("m": {"type": "var"})", R"("m": {"type": "variable"})",
     "axes.m.type: found \"variable\", expected one of: var, const"},
    {R"("m": {"type": "var"})", R"("m": {"type": "var", "value": 3})",
     "axes.m.value: found 3, expected no value: only a \"const\" axis has one"},
    {R"("m": {"type": "var"})", R"("min": {"type": "var"})",
     "axes: found \"min\", expected " IDENTIFIER_RULE},
    {R"("c": {"role": "free"})", R"("d": {"role": "free"})",
     "fuzz.axes.c: found nothing, expected an object with role and range"},
    {R"("c": {"role": "free"})", R"("c": {"role": "free"}, "d": {"role": "free"})",
     "fuzz.axes.d: found an axis that the Definition lacks, expected one of: m, n, c, h"},
    {R"("role": "batch")", R"("role": "reduce")",
     "fuzz.axes.m.role: found \"reduce\", expected one of: batch, free, reduction"},
    {R"("range": [0, 100])", R"("range": [100])",
     "fuzz.axes.m.range: found [100], expected a list of two integers, at least 2"},
    {R"("range": [0, 100])", R"("range": [0, 50, 100])",
     "fuzz.axes.m.range: found [0,50,100], expected [minimum, maximum]"},
    {R"("range": [0, 100])", R"("range": [100, 1])",
     "fuzz.axes.m.range: found [100,1], expected the minimum first"},
    {R"("range": [0, 100])", R"("range": [0, 0])",
     "fuzz.axes.m.range[1]: found 0, expected an integer from 1 to 68719476735"},
    {R"("range": [0, 100])", R"("range": [-1, 100])",
     "fuzz.axes.m.range[0]: found -1, expected an integer from 0 to 68719476735"},
    {R"("range": [0, 100])", R"("range": [0, 1.5])",
     "fuzz.axes.m.range[1]: found 1.5, expected an integer from 1 to 68719476735"},
    {R"("range": [0, 100])", R"("range": [0, 18446744073709551615])",
     "fuzz.axes.m.range[1]: found 18446744073709551615, expected an integer from 1 to 68719476735"},
    {R"("boundary": [7, 9])", R"("boundary": [7, 1001])",
     "fuzz.axes.n.boundary[1]: found 1001, expected an integer from 1 to 1000"},
    {R"("derived": "m * 2")", R"("derived": "c * q")",
     "fuzz.axes.h.derived: column 5 of \"c * q\": found 'q', expected one of: m, n, c"},
    {R"("derived": "m * 2")", R"("derived": "m * 2", "range": [1, 2])",
     "fuzz.axes.h.range: found [1,2], expected none: the axis is not free to choose"},
    {R"("c": {"role": "free"})", R"("c": {"role": "free", "derived": "m"})",
     "fuzz.axes.c.derived: found \"m\", expected none: the axis is constant"},
    // Dtypes.
    {R"(["float32", "float16"])", R"(["float32", "half"])",
     "fuzz.dtypes.T[1]: found \"half\", expected one of: " DTYPES},
    {R"(["float32", "float16"])", R"(["float32", "float32"])",
     "fuzz.dtypes.T[1]: found \"float32\", expected each dtype once"},
    {R"(["float32", "float16"])", R"([])",
     "fuzz.dtypes.T: found [], expected a list of dtypes, at least 1"},
    {R"("T": "float32", "U")", R"("T": "float64", "U")",
     "fuzz.dtype_combinations[0].T: found \"float64\", expected a dtype of fuzz.dtypes.T"},
    {R"("T": "float32", "U")", R"("V": "float32", "U")",
     "fuzz.dtype_combinations[0].V: found an unknown key, expected one of: T, U, tier"},
    {R"("T": "float32", "U")", R"("U")",
     "fuzz.dtype_combinations[0].T: found nothing, expected a dtype"},
    {R"("tier": 1)", R"("tier": 4)",
     "fuzz.dtype_combinations[0].tier: found 4, expected an integer from 1 to 3"},
    {R"("tier": 1}, {"T": "float16", "U": "float16"}])", R"("tier": 2}])",
     "fuzz.dtype_combinations: found no combination of tier 1, expected at least one"},
    {R"("dtype": "float16"}},)", R"("dtype": "float32"}},)",
     "outputs.y.dtype: found \"float32\", expected \"float16\", as in the first dtype combination"},
    // Tensors.
    {R"(["m", "n"], "dtype": "float32")", R"(["m", "q"], "dtype": "float32")",
     "inputs.x.shape[1]: found \"q\", expected one of: m, n, c, h"},
    {R"(["m", "n"], "dtype": "float32")", R"([], "dtype": "float32")",
     "inputs.x.shape: found [], expected a list of axis names, at least 1"},
    {R"(["m", "n"], "dtype": "float32")",
     R"(["m", "n", "m", "n", "m", "n", "m", "n", "m"], "dtype": "float32")",
     "inputs.x.shape: found [\"m\",\"n\",\"m\",\"n\",\"m\",\"n\",\"m\",\"n\",\"m\"], expected at "
     "most 8 "
     "axes"},
    {R"("outputs": {"y")", R"("outputs": {"x")",
     "outputs.x: found a name that is also an input's, expected another name"},
    {R"("y": {"dtype": "U", "layouts": ["contiguous"]})", R"("z": {"dtype": "U"})",
     "fuzz.tensors.y: found nothing, expected an object with dtype and layouts"},
    {R"("y": {"dtype": "U", )", R"("z": {}, "y": {"dtype": "U", )",
     "fuzz.tensors.z: found a tensor that the Definition lacks, expected one of: x, w, y"},
    {R"("w": {"dtype": "T")", R"("w": {"dtype": "float32")",
     "fuzz.tensors.w.dtype: found \"float32\", expected one of: T, U"},
    {R"(["contiguous", "transposed"])", R"(["transposed", "contiguous"])",
     "fuzz.tensors.x.layouts[0]: found \"transposed\", expected contiguous first"},
    {R"(["contiguous", "transposed"])", R"(["contiguous", "blocked"])",
     "fuzz.tensors.x.layouts[1]: found \"blocked\", expected one of: contiguous, row_strided, "
     "transposed, broadcast"},
    {R"(["contiguous", "transposed"])", R"(["contiguous", "contiguous"])",
     "fuzz.tensors.x.layouts[1]: found \"contiguous\", expected each layout once"},
    {R"("layouts": ["contiguous"])", R"("layouts": ["contiguous", "broadcast"])",
     "fuzz.tensors.y.layouts[1]: found \"broadcast\", expected no broadcast: an output is written"},
    {R"("laws": ["uniform"])", R"("laws": ["uniform"], "layouts": ["contiguous", "transposed"])",
     "fuzz.tensors.w.layouts[1]: found \"transposed\", expected a layout of a tensor with one "
     "axis: "
     "contiguous or broadcast"},
    {R"("laws": ["uniform"], )", "", "fuzz.tensors.w.laws: found nothing, expected a list of laws"},
    {R"("laws": ["uniform"])", R"("laws": [])",
     "fuzz.tensors.w.laws: found [], expected a list of laws, at least 1"},
    {R"(["normal", "lattice"])", R"(["normal", "normal"])",
     "fuzz.tensors.x.laws[1]: found \"normal\", expected each law once"},
    {R"("pairs": "negate")", R"("pairs": "cancel")",
     "fuzz.tensors.w.pairs: found \"cancel\", expected one of: negate, repeat"},
    {R"("pairs": "negate")", R"("index": "m")",
     "fuzz.tensors.w.index: found \"m\", expected an axis that is never empty"},
    {R"("pairs": "negate")", R"("index": "n")",
     "fuzz.tensors.w.index: found \"n\", expected integer dtypes only in a tensor of positions"},
    {R"("layouts": ["contiguous"])", R"("laws": ["normal"])",
     "fuzz.tensors.y.laws: found [\"normal\"], expected none: outputs have no values to generate"},
    // Attributes.
    {R"("eps": {)", R"("m": {)",
     "fuzz.attributes.m: found a name that is also an axis', expected another name"},
    {R"("kind": "real")", R"("kind": "float")",
     "fuzz.attributes.eps.kind: found \"float\", expected one of: integer, real, boolean, choice"},
    {R"([0.001, 1])", R"([1, 0.001])",
     "fuzz.attributes.eps.range: found [1,0.001], expected the minimum first"},
    {R"("usual": [0.01])", R"("usual": [2])",
     "fuzz.attributes.eps.usual[0]: found 2, expected a number from 0.001 to 1"},
    {R"("usual": [0.01])", R"("usual": [])",
     "fuzz.attributes.eps.usual: found [], expected a list of numbers, at least 1"},
    {R"("values": [0.5])", R"("choices": ["a"])",
     "fuzz.attributes.eps.choices: found [\"a\"], expected none: the attribute is a number"},
    {R"("choices": ["one", "two"])", R"("choices": ["two", "two"])",
     "fuzz.attributes.mode.choices[1]: found \"two\", expected each choice once"},
    {R"("usual": ["two"])", R"("usual": ["three"])",
     "fuzz.attributes.mode.usual[0]: found \"three\", expected one of: one, two"},
    {R"("usual": [true])", R"("usual": [1])",
     "fuzz.attributes.flag.usual[0]: found 1, expected true or false"},
    {R"("kind": "boolean")", R"("kind": "boolean", "range": [0, 1])",
     "fuzz.attributes.flag.range: found [0,1], expected none: the attribute is no number"},
    {R"([-1, 5])", R"([-1, 5.5])",
     "fuzz.attributes.width.range[1]: found 5.5, expected an integer from -9007199254740992 to "
     "9007199254740992"},
    // Expressions and what they make impossible.
    {R"("m * n")", R"("m *")",
     "fuzz.work: column 4 of \"m *\": found the end, expected a name, an integer, '-', '!' or '('"},
    {R"("m <= n || m > 3")", R"("m <= k")",
     "constraints[0]: column 6 of \"m <= k\": found 'k', expected one of: m, n, c, h, eps, mode, "
     "flag, "
     "width"},
    {R"("m <= n || m > 3")", R"("m < n && n < m")",
     "constraints: found no everyday call that satisfies them within the smallest work limit, "
     "expected at least one"},
    {R"("m * n")", R"("m * n * 100000")",
     "constraints: found no everyday call that satisfies them within the smallest work limit, "
     "expected at least one"},
    // Contract.
    {R"("accumulator": "float32", )", "",
     "fuzz.contract.accumulator: found nothing, expected a dtype"},
    {R"("output_roundings": 2)", R"("output_roundings": 9)",
     "fuzz.contract.output_roundings: found 9, expected an integer from 0 to 8"},
    {R"("non_finite": "propagate")", R"("non_finite": "drop")",
     "fuzz.contract.non_finite: found \"drop\", expected one of: propagate, algebra"},
    {R"("subnormal": "preserve")", R"("subnormal": "flush")",
     "fuzz.contract.subnormal: found \"flush\", expected one of: preserve, flush_allowed"},
    {R"("determinism": "none")", R"("determinism": "some")",
     "fuzz.contract.determinism: found \"some\", expected one of: bitwise, none"},
    {R"("slack": ["fast"])", R"("slack": [1])",
     "fuzz.contract.slack[0]: found 1, expected a string"},
};
INSTANTIATE_TEST_SUITE_P(All, SchemaErrors, testing::ValuesIn(error_rows));

TEST(Schema, RefusesWhatIsNoJson) {
  EXPECT_EQ(error_of("[1]"), "scale.json: found [1], expected an object");
  EXPECT_THAT(error_of("{"),
              testing::StartsWith("scale.json: found parse error at line 1, column 2"));
  EXPECT_THAT(error_of("\xff"), testing::HasSubstr("expected JSON"));
  EXPECT_THAT(error_of("{\"a\": 1e999}"), testing::HasSubstr("expected JSON"));
  EXPECT_EQ(error_of(std::string(100, '[')),
            "scale.json: found more than 12 levels of nesting, expected fewer");
  EXPECT_EQ(error_of(R"({"a":{"b":[[[[[[[[[[[[[)"),
            "scale.json: a.b: found more than 12 levels of nesting, expected fewer");
  EXPECT_EQ(error_of(std::string((1 << 20) + 1, ' ')),
            "scale.json: found more than 1048576 bytes, expected a schema file");
  std::string axes;
  for (int i = 0; i < 17; ++i)
    axes += (i ? ",\"a" : "\"a") + std::to_string(i) + R"(":{"type":"var"})";
  EXPECT_EQ(error_of(R"({"name":"a","op_type":"b","fuzz":{"axes":{}},"axes":{)" + axes + "}}"),
            "scale.json: axes: found 17 axes, expected at most 16");
}

TEST(Schema, TruncatedTextNeverParses) {
  for (size_t size = 0; size + 1 < legal_text.size(); size += 7) {
    EXPECT_NE(error_of(std::string(legal_text.substr(0, size))), "none") << size;
  }
}

TEST(Schema, FilesAreNamedAfterTheirOperator) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "warpfuzz_schema_test";
  std::filesystem::remove_all(folder);
  const auto error = [](auto&& load) -> std::string {
    try {
      load();
      return "none";
    } catch (const SchemaError& e) {
      return e.what();
    }
  };
  const std::string path = folder.string();
  EXPECT_EQ(error([&] { load_schemas(folder); }),
            path + ": found No such file or directory, expected a folder of schema files (*.json)");
  std::filesystem::create_directories(folder);
  EXPECT_EQ(error([&] { load_schemas(folder); }),
            path + ": found no *.json, expected a folder of schema files (*.json)");
  EXPECT_EQ(error([&] { load_schema(folder / "scale.json"); }),
            path + "/scale.json: found No such file or directory, expected a schema file");
  std::ofstream(folder / "scale.json") << legal_text;
  std::ofstream(folder / "notes.txt") << "not a schema";
  EXPECT_EQ(load_schemas(folder).size(), 1u);
  std::ofstream(folder / "other.json") << legal_text;
  EXPECT_EQ(error([&] { load_schemas(folder); }),
            path + "/other.json: name: found \"scale\", expected \"other\", the name of the file");
  std::filesystem::remove_all(folder);
}

TEST(Schema, RepositoryHasItsOperators) {
  std::set<std::string> found, files;
  for (const auto& schema : schemas()) found.insert(schema->name);
  for (const auto& file : std::filesystem::directory_iterator(WARPFUZZ_SOURCE_DIR "/schemas")) {
    if (file.path().extension() == ".json") files.insert(file.path().stem().string());
  }
  EXPECT_EQ(found, files);
  for (const auto& schema : schemas()) {
    // Every operator is tried in the three everyday dtypes, float32 first, empty and long.
    EXPECT_GE(schema->dtype_combinations.size(), 3u) << schema->name;
    const std::vector<DType>& first = schema->dtype_combinations[0].dtypes;
    EXPECT_EQ(std::count(first.begin(), first.end(), DType::float16), 0) << schema->name;
    EXPECT_NE(std::count(first.begin(), first.end(), DType::float32), 0) << schema->name;
    EXPECT_EQ(schema->axes[0].minimum, 0);
    EXPECT_GT(schema->axes[0].maximum, 65535);
  }
  EXPECT_EQ(find_schema("matmul")->inputs[0].reduction_axis, 1u);
  EXPECT_EQ(find_schema("matmul")->inputs[1].reduction_axis, 0u);
  EXPECT_FALSE(find_schema("matmul")->inputs[1].pairs_negate);
  EXPECT_TRUE(find_schema("attention")->inputs[2].pairs_negate);
}

}  // namespace
}  // namespace warpfuzz
