#include "schemas/schema_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpfuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::array attribute_kind_names = {"integer"sv, "real"sv, "boolean"sv, "choice"sv};
constexpr std::array non_finite_names = {"propagate"sv, "algebra"sv};
constexpr std::array subnormal_names = {"preserve"sv, "flush_allowed"sv};
constexpr std::array determinism_names = {"bitwise"sv, "none"sv};

void numeric_attribute(const JsonNode& node, Attribute& attribute) {
  if (const auto choices = node.find("choices")) choices->fail("none: the attribute is a number");
  const bool is_integer = attribute.kind == AttributeKind::integer;
  const auto number = [&](const JsonNode& value) {
    constexpr int64_t limit = int64_t{1} << 53;
    return is_integer ? static_cast<double>(value.integer(-limit, limit)) : value.number();
  };
  const JsonNode range = node.member("range", "[minimum, maximum]");
  const std::vector<JsonNode> ends = range.list("two numbers", 2);
  if (ends.size() != 2) range.fail("[minimum, maximum]");
  attribute.minimum = number(ends[0]);
  attribute.maximum = number(ends[1]);
  if (attribute.minimum > attribute.maximum) range.fail("the minimum first");
  const auto read = [&](const JsonNode& value) {
    const double result = number(value);
    if (result < attribute.minimum || result > attribute.maximum) {
      value.fail(fmt::format("a number from {} to {}", attribute.minimum, attribute.maximum));
    }
    return result;
  };
  for (const JsonNode& value : node.member("usual", "the everyday values").list("numbers", 1)) {
    attribute.usual.push_back(read(value));
  }
  attribute.values = attribute.usual;
  if (const auto values = node.find("values")) {
    for (const JsonNode& value : values->list("numbers", 0)) {
      const double v = read(value);
      if (std::find(attribute.values.begin(), attribute.values.end(), v) ==
          attribute.values.end()) {
        attribute.values.push_back(v);
      }
    }
  }
}

void discrete_attribute(const JsonNode& node, Attribute& attribute) {
  for (const auto& extra : {node.find("range"), node.find("values")}) {
    if (extra) extra->fail("none: the attribute is no number");
  }
  const bool is_choice = attribute.kind == AttributeKind::choice;
  if (is_choice) {
    for (const JsonNode& choice : node.member("choices", "a list of names").list("names", 1)) {
      const std::string text = choice.identifier();
      if (std::count(attribute.choices.begin(), attribute.choices.end(), text) != 0) {
        choice.fail("each choice once");
      }
      attribute.choices.push_back(text);
    }
  } else if (const auto choices = node.find("choices")) {
    choices->fail("none: the attribute is a boolean");
  }
  const size_t count = is_choice ? attribute.choices.size() : 2;
  for (size_t i = 0; i < count; ++i) attribute.values.push_back(static_cast<double>(i));
  attribute.maximum = attribute.values.back();
  attribute.usual = attribute.values;
  if (const auto usual = node.find("usual")) {
    attribute.usual.clear();
    for (const JsonNode& value : usual->list(is_choice ? "choices" : "booleans", 1)) {
      attribute.usual.push_back(is_choice ? static_cast<double>(value.choice(attribute.choices))
                                          : static_cast<double>(value.boolean()));
    }
  }
}

}  // namespace

Attribute parse_attribute(const std::string& name, const JsonNode& node) {
  node.object({"kind", "range", "values", "choices", "usual"});
  Attribute attribute;
  attribute.name = name;
  attribute.kind = static_cast<AttributeKind>(
      node.member("kind", "integer, real, boolean or choice").choice(attribute_kind_names));
  if (attribute.kind == AttributeKind::integer || attribute.kind == AttributeKind::real) {
    numeric_attribute(node, attribute);
  } else {
    discrete_attribute(node, attribute);
  }
  return attribute;
}

Contract parse_contract(const JsonNode& node) {
  node.object({"accumulator", "output_roundings", "non_finite", "subnormal", "determinism",
               "batch_invariant", "may_alias", "slack"});
  Contract contract;
  contract.accumulator =
      static_cast<DType>(node.member("accumulator", "a dtype").choice(dtype_names()));
  if (const auto value = node.find("output_roundings")) {
    contract.output_roundings = static_cast<int>(value->integer(0, 8));
  }
  if (const auto value = node.find("non_finite")) {
    contract.non_finite = static_cast<NonFinitePolicy>(value->choice(non_finite_names));
  }
  if (const auto value = node.find("subnormal")) {
    contract.subnormal = static_cast<SubnormalPolicy>(value->choice(subnormal_names));
  }
  if (const auto value = node.find("determinism")) {
    contract.determinism = static_cast<Determinism>(value->choice(determinism_names));
  }
  if (const auto value = node.find("batch_invariant")) {
    contract.batch_invariant = value->boolean();
  }
  if (const auto value = node.find("may_alias")) contract.may_alias = value->boolean();
  if (const auto value = node.find("slack")) {
    for (const JsonNode& freedom : value->list("names", 0)) {
      contract.slack.push_back(freedom.identifier());
    }
  }
  return contract;
}

}  // namespace warpfuzz
