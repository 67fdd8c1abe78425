#include "seeds/boundary.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "seeds/pairwise.h"

namespace warpfuzz {
namespace {

constexpr size_t full_product = 500;

// Around tiles of 32, 64, 128, 256 and 1024, a prime, a row too long for one block, the limit of
// grid dimensions. Operators of more than two axes take fewer: pairs grow with the square.
constexpr int64_t boundary_extents[] = {0,    1,    2,    3,    17,   31,    32,    33,
                                        64,   65,   127,  128,  129,  256,   257,   1000,
                                        1024, 1025, 1031, 4096, 4097, 65535, 65536, 70000};
constexpr int64_t few_boundary_extents[] = {0, 1, 2, 3, 17, 33, 128, 257, 1025, 65536};
constexpr size_t most_axes_in_full = 2;

// What one choice changes in the case of defaults.
using Option = std::function<void(Case&)>;
using Factor = std::vector<Option>;

Factor axis_factor(const Schema& schema, size_t i) {
  const Axis& axis = schema.axes[i];
  const bool few = schema.axes.size() > most_axes_in_full;
  const std::span<const int64_t> general =
      few ? std::span<const int64_t>(few_boundary_extents) : boundary_extents;
  std::vector<int64_t> extents(general.begin(), general.end());
  extents.insert(extents.end(), axis.boundary.begin(), axis.boundary.end());
  std::sort(extents.begin(), extents.end());
  extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
  Factor factor = {[](Case&) {}};
  for (int64_t extent : extents) {
    if (extent < axis.minimum || extent > axis.maximum || extent == schema.smallest_axes[i]) {
      continue;
    }
    factor.push_back([=](Case& c) { c.axes[i] = extent; });
  }
  return factor;
}

Factor attribute_factor(const Attribute& attribute, size_t i) {
  Factor factor = {[](Case&) {}};
  for (double value : attribute.values) {
    if (value == attribute.usual[0]) continue;
    const bool real = attribute.kind == AttributeKind::real;
    factor.push_back([=](Case& c) {
      c.attributes[i] =
          real ? AttributeValue{0, value} : AttributeValue{static_cast<int64_t>(value), 0};
    });
  }
  return factor;
}

template <class Select>
Factor view_factor(const TensorSpec& spec, Select select) {
  Factor factor = {[](Case&) {}};
  for (Layout layout : spec.layouts) {
    if (layout == Layout::contiguous) continue;
    factor.push_back([=](Case& c) {
      select(c).layout = layout;
      select(c).row_padding = layout == Layout::row_strided ? 3 : 0;
    });
  }
  if (spec.offsets) factor.push_back([=](Case& c) { select(c).offset = 1; });
  return factor;
}

Factor law_factor(const TensorSpec& spec, size_t i) {
  Factor factor;
  for (ValueLaw law : spec.laws) factor.push_back([=](Case& c) { c.inputs[i].law = law; });
  return factor;
}

std::vector<Factor> factors(const Schema& schema) {
  std::vector<Factor> result;
  for (size_t i = 0; i < schema.axes.size(); ++i) {
    if (schema.axes[i].variable()) result.push_back(axis_factor(schema, i));
  }
  Factor dtypes;
  for (size_t i = 0; i < schema.dtype_combinations.size(); ++i) {
    dtypes.push_back([=](Case& c) { c.dtype_combination = i; });
  }
  // The default must be an everyday combination.
  const auto everyday =
      std::find_if(schema.dtype_combinations.begin(), schema.dtype_combinations.end(),
                   [](const DTypeCombination& row) { return row.tier == Tier::everyday; });
  std::swap(dtypes[0], dtypes[static_cast<size_t>(everyday - schema.dtype_combinations.begin())]);
  result.push_back(std::move(dtypes));
  for (size_t i = 0; i < schema.attributes.size(); ++i) {
    result.push_back(attribute_factor(schema.attributes[i], i));
  }
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    result.push_back(law_factor(schema.inputs[i], i));
    result.push_back(
        view_factor(schema.inputs[i], [i](Case& c) -> TensorCase& { return c.inputs[i]; }));
  }
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    result.push_back(
        view_factor(schema.outputs[i], [i](Case& c) -> TensorCase& { return c.outputs[i]; }));
  }
  result.push_back({[](Case&) {},
                    [](Case& c) { c.extra_runs = static_cast<uint8_t>(ExtraRun::other_poison); },
                    [](Case& c) { c.extra_runs = static_cast<uint8_t>(ExtraRun::other_schedule); },
                    [](Case& c) { c.extra_runs = static_cast<uint8_t>(ExtraRun::race_check); }});
  return result;
}

Case default_case(std::shared_ptr<const Schema> schema, const CaseLimits& limits) {
  Case c;
  c.schema = std::move(schema);
  c.size_class = limits.max_size_class;
  c.axes = c.schema->smallest_axes;
  for (const Attribute& attribute : c.schema->attributes) {
    const bool real = attribute.kind == AttributeKind::real;
    const double usual = attribute.usual[0];
    c.attributes.push_back(real ? AttributeValue{0, usual}
                                : AttributeValue{static_cast<int64_t>(usual), 0});
  }
  legalize(c, limits);
  return c;
}

// The lowest size class that holds the case as it is.
void lower_size_class(Case& c, const CaseLimits& limits) {
  for (uint8_t size_class = 0; size_class < c.size_class; ++size_class) {
    Case lower = c;
    lower.size_class = size_class;
    const Case wanted = lower;
    legalize(lower, limits);
    if (lower == wanted) {
      c = std::move(lower);
      return;
    }
  }
}

}  // namespace

std::vector<Case> boundary_cases(std::shared_ptr<const Schema> schema, const CaseLimits& limits) {
  const std::vector<Factor> all = factors(*schema);
  const Case defaults = default_case(std::move(schema), limits);
  const auto make = [&](const OptionRow& row) {
    Case c = defaults;
    for (size_t i = 0; i < row.size(); ++i) all[i][row[i]](c);
    return c;
  };
  const auto legal = [&](const OptionRow& row) {
    const Case wanted = make(row);
    Case c = wanted;
    legalize(c, limits);
    return c == wanted;
  };
  std::vector<size_t> options;
  for (const Factor& factor : all) options.push_back(factor.size());
  std::vector<Case> cases;
  for (const OptionRow& row : pairwise(options, legal, full_product)) {
    Case c = make(row);
    // Seeds select the variants of a law: let them vary.
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      c.inputs[i].seed = static_cast<uint32_t>((cases.size() + i) % 8);
    }
    lower_size_class(c, limits);
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace warpfuzz
