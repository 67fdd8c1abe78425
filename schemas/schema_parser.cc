// Reads a Definition and its `fuzz` part (FORMAT.md) into a Schema, checking everything on the way.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "schemas/axis_rules.h"
#include "schemas/json_reader.h"
#include "schemas/schema.h"
#include "schemas/schema_parts.h"

namespace warpfuzz {
namespace {

using namespace std::string_view_literals;

// Position of `name` among rows that have a name, or the end.
template <class Row>
size_t find_row(const std::vector<Row>& rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return static_cast<size_t>(found - rows.begin());
}

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

Expression expression(const JsonNode& node, std::span<const std::string> names) {
  const std::string text = node.text();
  try {
    return Expression::parse(text, names);
  } catch (const ExpressionError& error) {
    // "column 3 of "...": found X, expected Y" joins the path.
    throw SchemaError(fmt::format("{}: {}", node.where(), error.what()));
  }
}

class SchemaParser {
 public:
  SchemaParser(const JsonNode& root, const JsonNode& fuzz) : root_(root), fuzz_(fuzz) {}

  std::shared_ptr<const Schema> parse() {
    identity();
    axes();
    dtypes();
    tensors(root_.member("inputs", "the input tensors"), "inputs", result_.inputs);
    tensors(root_.member("outputs", "the output tensors"), "outputs", result_.outputs);
    fuzz_tensors();
    definition_dtypes();
    attributes();
    constraints_and_work();
    result_.contract = parse_contract(fuzz_.member("contract", "an object"));
    if (!find_smallest_axes(result_)) {
      (root_.find("constraints") ? *root_.find("constraints") : fuzz_)
          .fail("no everyday call that satisfies them within the smallest work limit",
                "at least one");
    }
    return std::make_shared<const Schema>(std::move(result_));
  }

 private:
  void identity() {
    result_.name = root_.member("name", "the operator's name").identifier();
    result_.op_type = root_.member("op_type", "the kind of operator").text();
    if (const auto node = root_.find("description")) result_.description = node->text();
    if (const auto node = root_.find("reference")) node->text();
    if (const auto node = root_.find("tags")) {
      for (const JsonNode& tag : node->list("strings", 0)) result_.tags.push_back(tag.text());
    }
  }

  void axes() {
    const JsonNode axes = root_.member("axes", "the axes");
    const JsonNode more = fuzz_.member("axes", "role and range of each axis");
    for (const auto& [name, node] : axes.members("axes", max_schema_axes)) {
      node.object({"type", "value", "description"});
      if (const auto description = node.find("description")) description->text();
      Axis axis;
      axis.name = name;
      static constexpr std::array types = {"var"sv, "const"sv};
      if (node.member("type", "\"var\" or \"const\"").choice(types) == 1) {
        axis.constant = node.member("value", "the extent").integer(1, max_axis_value);
        axis.minimum = axis.maximum = *axis.constant;
      } else if (const auto value = node.find("value")) {
        value->fail("no value: only a \"const\" axis has one");
      }
      fuzz_axis(more.member(name, "an object with role and range"), axis);
      result_.axes.push_back(std::move(axis));
    }
    for (const auto& [name, node] : more.members("axes", max_schema_axes)) {
      if (find_row(result_.axes, name) == result_.axes.size()) {
        node.fail("an axis that the Definition lacks", one_of(names_of(result_.axes)));
      }
    }
  }

  void fuzz_axis(const JsonNode& node, Axis& axis) {
    node.object({"role", "range", "boundary", "derived"});
    axis.role = static_cast<AxisRole>(
        node.member("role", "batch, free or reduction").choice(axis_role_names()));
    const auto derived = node.find("derived");
    const auto range = node.find("range");
    const auto boundary = node.find("boundary");
    if (derived) {
      if (axis.constant) derived->fail("none: the axis is constant");
      axis.derived = expression(*derived, names_of(result_.axes));
      axis.maximum = max_axis_value;
    }
    if (!axis.variable()) {
      for (const auto& extra : {range, boundary}) {
        if (extra) extra->fail("none: the axis is not free to choose");
      }
      return;
    }
    const JsonNode needed = node.member("range", "[minimum, maximum]");
    const std::vector<JsonNode> ends = needed.list("two integers", 2);
    if (ends.size() != 2) needed.fail("[minimum, maximum]");
    axis.minimum = ends[0].integer(0, max_axis_value);
    axis.maximum = ends[1].integer(1, max_axis_value);
    if (axis.minimum > axis.maximum) needed.fail("the minimum first");
    if (!boundary) return;
    for (const JsonNode& value : boundary->list("integers", 0)) {
      axis.boundary.push_back(value.integer(axis.minimum, axis.maximum));
    }
  }

  void dtypes() {
    const JsonNode variables = fuzz_.member("dtypes", "the dtype variables");
    for (const auto& [name, node] : variables.members("dtype variables", 8)) {
      result_.dtype_variables.push_back(name);
      std::vector<DType>& allowed = allowed_dtypes_.emplace_back();
      for (const JsonNode& dtype : node.list("dtypes", 1)) {
        const DType value = static_cast<DType>(dtype.choice(dtype_names()));
        if (std::count(allowed.begin(), allowed.end(), value) != 0) dtype.fail("each dtype once");
        allowed.push_back(value);
      }
    }
    const auto combinations = fuzz_.find("dtype_combinations");
    if (!combinations) {
      if (result_.dtype_variables.size() > 1) {
        fuzz_.member("dtype_combinations", "a list, since there are several dtype variables");
      }
      for (DType dtype : allowed_dtypes_[0]) result_.dtype_combinations.push_back({{dtype}});
      return;
    }
    for (const JsonNode& node : combinations->list("objects", 1)) dtype_combination(node);
    const auto everyday = [](const DTypeCombination& c) { return c.tier == Tier::everyday; };
    if (std::none_of(result_.dtype_combinations.begin(), result_.dtype_combinations.end(),
                     everyday)) {
      combinations->fail("no combination of tier 1", "at least one");
    }
  }

  void dtype_combination(const JsonNode& node) {
    DTypeCombination combination;
    combination.dtypes.resize(result_.dtype_variables.size());
    std::set<std::string> seen;
    for (const auto& [key, value] : node.members("dtype variables", 16)) {
      if (key == "tier") {
        combination.tier = static_cast<Tier>(value.integer(1, 3));
        continue;
      }
      const auto variable =
          std::find(result_.dtype_variables.begin(), result_.dtype_variables.end(), key);
      if (variable == result_.dtype_variables.end()) {
        value.fail("an unknown key", one_of(result_.dtype_variables) + ", tier");
      }
      const auto position = static_cast<size_t>(variable - result_.dtype_variables.begin());
      const auto& allowed = allowed_dtypes_[position];
      const DType dtype = static_cast<DType>(value.choice(dtype_names()));
      if (std::find(allowed.begin(), allowed.end(), dtype) == allowed.end()) {
        value.fail(fmt::format("a dtype of fuzz.dtypes.{}", key));
      }
      combination.dtypes[position] = dtype;
      seen.insert(key);
    }
    for (const std::string& variable : result_.dtype_variables) {
      if (!seen.contains(variable)) node.member(variable, "a dtype");
    }
    result_.dtype_combinations.push_back(std::move(combination));
  }

  void tensors(const JsonNode& list, std::string_view what, std::vector<TensorSpec>& tensors) {
    const std::vector<std::string> axis_names = names_of(result_.axes);
    for (const auto& [name, node] : list.members(what, max_schema_tensors)) {
      node.object({"shape", "dtype", "description"});
      if (const auto description = node.find("description")) description->text();
      TensorSpec tensor;
      tensor.name = name;
      const JsonNode shape = node.member("shape", "a list of axis names");
      for (const JsonNode& axis : shape.list("axis names", 1)) {
        tensor.axes.push_back(axis.choice(axis_names));
        if (result_.axes[tensor.axes.back()].role == AxisRole::reduction) {
          tensor.reduction_axis = tensor.axes.size() - 1;
        }
      }
      if (tensor.axes.size() > max_schema_rank) {
        shape.fail(fmt::format("at most {} axes", max_schema_rank));
      }
      const JsonNode dtype = node.member("dtype", "a dtype");
      definition_dtypes_.emplace_back(dtype, static_cast<DType>(dtype.choice(dtype_names())));
      if (find_row(result_.inputs, name) != result_.inputs.size()) {
        node.fail("a name that is also an input's", "another name");
      }
      tensor.pairs_negate = what == "inputs" && tensors.empty();
      tensors.push_back(std::move(tensor));
    }
  }

  void fuzz_tensors() {
    const JsonNode list = fuzz_.member("tensors", "dtype, layouts and laws of each tensor");
    for (TensorSpec& tensor : result_.inputs) {
      fuzz_tensor(list.member(tensor.name, "an object with dtype, layouts and laws"), true, tensor);
    }
    for (TensorSpec& tensor : result_.outputs) {
      fuzz_tensor(list.member(tensor.name, "an object with dtype and layouts"), false, tensor);
    }
    std::vector<std::string> known = names_of(result_.inputs);
    for (const TensorSpec& output : result_.outputs) known.push_back(output.name);
    for (const auto& [name, node] : list.members("tensors", 2 * max_schema_tensors)) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        node.fail("a tensor that the Definition lacks", one_of(known));
      }
    }
  }

  void fuzz_tensor(const JsonNode& node, bool is_input, TensorSpec& tensor) {
    node.object({"dtype", "layouts", "offsets", "laws", "pairs", "index"});
    tensor.dtype_variable =
        node.member("dtype", "a dtype variable").choice(result_.dtype_variables);
    tensor.layouts = {Layout::contiguous};
    if (const auto layouts = node.find("layouts")) {
      tensor.layouts.clear();
      for (const JsonNode& layout : layouts->list("layouts", 1)) {
        add_layout(layout, is_input, tensor);
      }
    }
    if (const auto offsets = node.find("offsets")) tensor.offsets = offsets->boolean();
    const auto laws = node.find("laws");
    const auto pairs = node.find("pairs");
    const auto index = node.find("index");
    if (!is_input) {
      for (const auto& extra : {laws, pairs, index}) {
        if (extra) extra->fail("none: outputs have no values to generate");
      }
      return;
    }
    for (const JsonNode& law : node.member("laws", "a list of laws").list("laws", 1)) {
      const ValueLaw value = static_cast<ValueLaw>(law.choice(value_law_names()));
      if (tensor.allows(value)) law.fail("each law once");
      tensor.laws.push_back(value);
    }
    static constexpr std::array pair_names = {"negate"sv, "repeat"sv};
    if (pairs) tensor.pairs_negate = pairs->choice(pair_names) == 0;
    if (index) index_tensor(*index, tensor);
  }

  void index_tensor(const JsonNode& node, TensorSpec& tensor) {
    std::vector<std::string> axis_names;
    for (const Axis& axis : result_.axes) axis_names.push_back(axis.name);
    const size_t axis = node.choice(axis_names);
    const Axis& positions = result_.axes[axis];
    const int64_t fewest = positions.constant.value_or(positions.minimum);
    if (fewest < 1) node.fail("an axis that is never empty");
    for (const DTypeCombination& combination : result_.dtype_combinations) {
      if (info(combination.dtypes[tensor.dtype_variable]).floating) {
        node.fail("integer dtypes only in a tensor of positions");
      }
    }
    tensor.index_axis = axis;
  }

  void add_layout(const JsonNode& node, bool is_input, TensorSpec& tensor) {
    const Layout layout = static_cast<Layout>(node.choice(layout_names()));
    if (tensor.layouts.empty() && layout != Layout::contiguous) node.fail("contiguous first");
    if (tensor.allows(layout)) node.fail("each layout once");
    if (layout == Layout::broadcast && !is_input) node.fail("no broadcast: an output is written");
    if ((layout == Layout::row_strided || layout == Layout::transposed) && tensor.axes.size() < 2) {
      node.fail("a layout of a tensor with one axis: contiguous or broadcast");
    }
    tensor.layouts.push_back(layout);
  }

  // What the Definition says of dtypes must be the first combination.
  void definition_dtypes() {
    size_t next = 0;
    for (const auto* tensors : {&result_.inputs, &result_.outputs}) {
      for (const TensorSpec& tensor : *tensors) {
        const auto& [node, dtype] = definition_dtypes_[next++];
        const DType first = result_.dtype_combinations[0].dtypes[tensor.dtype_variable];
        if (dtype != first) {
          node.fail(fmt::format("\"{}\", as in the first dtype combination", name(first)));
        }
      }
    }
  }

  void attributes() {
    const auto list = fuzz_.find("attributes");
    if (!list) return;
    for (const auto& [name, node] : list->members("attributes", max_schema_attributes)) {
      if (find_row(result_.axes, name) != result_.axes.size()) {
        node.fail("a name that is also an axis'", "another name");
      }
      result_.attributes.push_back(parse_attribute(name, node));
    }
  }

  void constraints_and_work() {
    const std::vector<std::string> names = result_.expression_names();
    if (const auto list = root_.find("constraints")) {
      for (const JsonNode& constraint : list->list("expressions", 0)) {
        result_.constraints.push_back(expression(constraint, names));
      }
    }
    result_.work = expression(fuzz_.member("work", "an expression: scalar operations"), names);
  }

  static std::string one_of(std::span<const std::string> names) {
    return fmt::format("one of: {}", fmt::join(names, ", "));
  }

  const JsonNode& root_;
  const JsonNode& fuzz_;
  Schema result_;
  std::vector<std::vector<DType>> allowed_dtypes_;
  std::vector<std::pair<JsonNode, DType>> definition_dtypes_;
};

}  // namespace

std::shared_ptr<const Schema> parse_schema(std::string_view text, const std::string& file) {
  if (text.size() > max_schema_bytes) {
    throw SchemaError(fmt::format("{}: found more than {} bytes, expected a schema file", file,
                                  max_schema_bytes));
  }
  const Json json = parse_json(text, file);
  const JsonNode root(json, file);
  root.object({"name", "op_type", "description", "tags", "axes", "inputs", "outputs", "constraints",
               "reference", "fuzz"});
  const JsonNode fuzz = root.member("fuzz", "an object: what fuzzing needs beyond the Definition");
  fuzz.object(
      {"dtypes", "dtype_combinations", "tensors", "axes", "attributes", "work", "contract"});
  return SchemaParser(root, fuzz).parse();
}

}  // namespace warpfuzz
