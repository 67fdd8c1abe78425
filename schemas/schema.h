// The model of one operator, read from schemas/<op>.json: axes, tensors, dtypes, attributes and the
// contract that a kernel of this operator must keep. Immutable after load; every index in a Case
// refers to the order of the vectors here, which is the order of the file. FORMAT.md describes the
// files. Parsing is strict: whatever is unknown, doubled, of the wrong type or impossible is an
// error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/expression.h"
#include "schemas/vocabulary.h"

namespace warpfuzz {

// A schema file that cannot be used: "softmax.json: fuzz.axes.n.range: found ..., expected ...".
// The path is that of the key; errors that concern the whole file have none.
class SchemaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Axis {
  std::string name;
  AxisRole role = AxisRole::free;
  int64_t minimum = 0;  // both inclusive
  int64_t maximum = 0;
  std::vector<int64_t> boundary;      // values worth trying beyond the general ones
  std::optional<int64_t> constant;    // a "const" axis
  std::optional<Expression> derived;  // from the axes before it

  // A case chooses its value; otherwise it follows from the schema.
  bool variable() const { return !constant && !derived; }
};

enum class AttributeKind : uint8_t { integer, real, boolean, choice };

struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::real;
  double minimum = 0;  // integer and real
  double maximum = 0;
  std::vector<double> values;        // values worth trying (numbers; positions for choices)
  std::vector<std::string> choices;  // kind == choice
  std::vector<double> usual;         // the everyday values (tier 1); others are tier 2; not empty

  bool is_usual(double value) const;
};

struct TensorSpec {
  std::string name;
  std::vector<size_t> axes;              // positions in Schema::axes
  size_t dtype_variable = 0;             // position in Schema::dtype_variables
  std::vector<Layout> layouts;           // allowed; contiguous is always the first
  bool offsets = false;                  // may start off the 256-byte grid
  std::vector<ValueLaw> laws;            // inputs only; the first is the default
  std::optional<size_t> reduction_axis;  // position in `axes` of the (last) reduction axis
  // Laws made of pairs along the reduction axis: this operand's pairs differ in sign, while the
  // pairs of the other operands repeat, so that products cancel. By default true for the first
  // input.
  bool pairs_negate = false;
  // An index tensor: its values are positions along this axis of the schema.
  std::optional<size_t> index_axis;

  bool allows(Layout layout) const;
  bool allows(ValueLaw law) const;
};

struct DTypeCombination {
  std::vector<DType> dtypes;  // one per dtype variable
  Tier tier = Tier::everyday;
};

enum class NonFinitePolicy : uint8_t { propagate, algebra };
enum class SubnormalPolicy : uint8_t { preserve, flush_allowed };
enum class Determinism : uint8_t { bitwise, none };

// What a kernel of this operator promises; the gates hold it to that.
struct Contract {
  DType accumulator = DType::float32;
  int output_roundings = 1;  // roundings to the output type on the way to the result
  NonFinitePolicy non_finite = NonFinitePolicy::algebra;
  SubnormalPolicy subnormal = SubnormalPolicy::flush_allowed;
  Determinism determinism = Determinism::bitwise;
  bool batch_invariant = false;
  bool may_alias = false;
  std::vector<std::string> slack;  // algorithm freedoms, names known to the op's reference
};

struct Schema {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<std::string> tags;
  std::vector<Axis> axes;
  std::vector<std::string> dtype_variables;
  std::vector<DTypeCombination> dtype_combinations;
  std::vector<Attribute> attributes;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<Expression> constraints;  // over axes, then integer attributes
  std::optional<Expression> work;       // scalar operations of one call, over the same names
  Contract contract;
  // An everyday call within the smallest work limit: what an impossible choice of axes falls back
  // to.
  std::vector<int64_t> smallest_axes;

  std::optional<size_t> find_attribute(std::string_view attribute) const;
  // Names that constraints, work and preconditions may use, in evaluation order: axes, then all
  // attributes (reals are not usable and evaluate as 0).
  std::vector<std::string> expression_names() const;
};

// Bounds on what a file may contain.
inline constexpr size_t max_schema_bytes = 1 << 20;
inline constexpr size_t max_schema_axes = 16;
inline constexpr size_t max_schema_attributes = 16;
inline constexpr size_t max_schema_tensors = 16;  // inputs and outputs, each
inline constexpr size_t max_schema_rank = 8;
inline constexpr int64_t max_axis_value = (int64_t{1} << 36) - 1;

// `text` is the content of `file` (used in messages only).
std::shared_ptr<const Schema> parse_schema(std::string_view text, const std::string& file);
// The file is named after its operator.
std::shared_ptr<const Schema> load_schema(const std::filesystem::path& file);

// All schemas of a directory, sorted by name.
std::vector<std::shared_ptr<const Schema>> load_schemas(const std::filesystem::path& directory);

}  // namespace warpfuzz
