#include "fuzzers/huge_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "fuzzers/installation.h"
#include "fuzzers/plain_case.h"
#include "seeds/random_laws.h"

namespace warpfuzz {
namespace {

constexpr int64_t short_extent = 16;  // of axes that need not be long
constexpr int64_t attempts = 256;     // extents tried for a kernel that wants multiples

int64_t size_of(const Case& c, const TensorSpec& spec) {
  int64_t size = 1;
  for (const size_t axis : spec.axes) {
    if (__builtin_mul_overflow(size, c.axes[axis], &size)) return INT64_MAX;
  }
  return size;
}

bool has_axis(const TensorSpec& spec, size_t axis) {
  return std::find(spec.axes.begin(), spec.axes.end(), axis) != spec.axes.end();
}

bool may_be_rows(const Schema& schema, size_t axis) {
  if (!schema.axes[axis].variable() || schema.axes[axis].role == AxisRole::reduction) return false;
  const auto first = [&](const TensorSpec& spec) {
    return std::count(spec.axes.begin(), spec.axes.end(), axis) == 1 && spec.axes.front() == axis;
  };
  const auto& inputs = schema.inputs;
  return std::all_of(schema.outputs.begin(), schema.outputs.end(), first) &&
         std::any_of(inputs.begin(), inputs.end(), first) &&
         std::all_of(inputs.begin(), inputs.end(), [&](const TensorSpec& spec) {
           return spec.index_axis != axis && (!has_axis(spec, axis) || first(spec));
         });
}

// Makes the calls of one combination of dtypes.
class Shapes {
 public:
  Shapes(Case c, size_t rows, const Preconditions& preconditions, const HugeLimits& limits)
      : base_(std::move(c)), rows_(rows), preconditions_(preconditions), limits_(limits) {
    const Schema& schema = *base_.schema;
    for (size_t i = 0; i < schema.axes.size(); ++i) {
      const Axis& axis = schema.axes[i];
      base_.axes[i] = axis.constant.value_or(
          std::clamp(short_extent, std::max<int64_t>(axis.minimum, 1), axis.maximum));
    }
  }

  std::vector<HugeCall> all() {
    const std::vector<size_t> partners = partners_of(rows_);
    if (partners.empty()) return {};
    const int64_t boundary = limits_.boundary;
    below(partners.front());
    for (size_t longest = 0; longest < base_.axes.size(); ++longest) {
      for (const size_t other : partners_of(longest)) {
        if (longest != rows_ && other != rows_) continue;
        above(longest, base_.schema->axes[longest].maximum, other, boundary,
              fmt::format("more than {} elements, {} long", size_text(boundary),
                          base_.schema->axes[longest].name));
      }
    }
    above(partners.front(), balanced(partners.front(), 2 * boundary), rows_, 2 * boundary,
          fmt::format("more than {} elements", size_text(2 * boundary)));
    return std::move(calls_);
  }

 private:
  // Axes that some tensor has beside this one.
  std::vector<size_t> partners_of(size_t axis) const {
    std::vector<size_t> partners;
    const Schema& schema = *base_.schema;
    if (!schema.axes[axis].variable()) return partners;
    for (size_t other = 0; other < schema.axes.size(); ++other) {
      if (other == axis || !schema.axes[other].variable()) continue;
      bool together = false;
      for (const auto* specs : {&schema.inputs, &schema.outputs}) {
        for (const TensorSpec& spec : *specs) {
          together |= has_axis(spec, axis) && has_axis(spec, other);
        }
      }
      if (together) partners.push_back(other);
    }
    return partners;
  }

  // The least extent with which the rows' axis and another of the same extent give `size`.
  int64_t balanced(size_t other, int64_t size) const {
    Case c = base_;
    c.axes[rows_] = c.axes[other] = 1;
    int64_t extent = 1;
    const int64_t rest = largest_size_with(c, rows_, other);
    while (extent * extent * rest < size) extent *= 2;
    for (int64_t step = extent / 2; step > 0; step /= 2) {
      if ((extent - step) * (extent - step) * rest >= size) extent -= step;
    }
    return extent;
  }

  bool admitted(const Case& c) const {
    for (size_t i = 0; i < c.axes.size(); ++i) {
      const Axis& axis = c.schema->axes[i];
      if (axis.variable() && (c.axes[i] < axis.minimum || c.axes[i] > axis.maximum)) return false;
    }
    return constraints_hold(c) && preconditions_.admit(c);
  }

  bool worth(const Case& c) const {
    return c.work() <= limits_.call_work && call_of_rows(c, rows_, 1).work() <= limits_.row_work;
  }

  void add(std::string about, Case c) {
    const bool known = std::any_of(calls_.begin(), calls_.end(),
                                   [&](const HugeCall& call) { return call.c.axes == c.axes; });
    if (known || !worth(c)) return;
    const bool small = largest_size(c) <= limits_.boundary;
    calls_.push_back({std::move(about), small, std::move(c)});
  }

  // As square as the preconditions allow.
  void below(size_t other) {
    for (int64_t extent = balanced(other, limits_.boundary); extent > 1; extent /= 2) {
      for (int64_t i = 0; i < attempts && i < extent; ++i) {
        Case c = base_;
        c.axes[other] = extent - i;
        c.axes[rows_] = 1;
        c.axes[rows_] = (limits_.boundary - 1) / largest_size_with(c, rows_, other);
        if (largest_size(c) >= limits_.boundary || !admitted(c)) continue;
        return add(fmt::format("just below {} elements", size_text(limits_.boundary)), c);
      }
    }
  }

  // The long axis at `extent`, or half of it and so on, and the other just long enough.
  void above(size_t longest, int64_t extent, size_t other, int64_t size, const std::string& about) {
    for (; extent > short_extent; extent /= 2) {
      Case c = base_;
      c.axes[longest] = extent;
      c.axes[other] = 1;
      const int64_t one = largest_size_with(c, longest, other);
      for (int64_t i = 0; i < attempts; ++i) {
        c.axes[other] = size / one + 1 + i;
        if (admitted(c)) return add(about, c);
      }
    }
  }

  // Of the tensors that have both axes.
  static int64_t largest_size_with(const Case& c, size_t a, size_t b) {
    int64_t largest = 1;
    for (const auto* specs : {&c.schema->inputs, &c.schema->outputs}) {
      for (const TensorSpec& spec : *specs) {
        if (has_axis(spec, a) && has_axis(spec, b)) largest = std::max(largest, size_of(c, spec));
      }
    }
    return largest;
  }

  Case base_;
  size_t rows_;
  const Preconditions& preconditions_;
  const HugeLimits& limits_;
  std::vector<HugeCall> calls_;
};

void choose_laws(Case& c, ValueLaw law) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const TensorSpec& spec = c.schema->inputs[i];
    const auto random = std::find_if(spec.laws.begin(), spec.laws.end(), is_random);
    if (spec.allows(law)) {
      c.inputs[i].law = law;
    } else if (!is_random(c.inputs[i].law) && random != spec.laws.end()) {
      c.inputs[i].law = *random;
    }
    c.inputs[i].seed = static_cast<uint32_t>(i + 1);
  }
}

size_t widest_bytes(const DTypeCombination& combination) {
  size_t bytes = 0;
  for (const DType dtype : combination.dtypes) bytes = std::max<size_t>(bytes, info(dtype).bytes);
  return bytes;
}

// Positions of the combinations; without names, the everyday ones.
std::vector<size_t> wanted_combinations(const Schema& schema, const NamedDTypes& dtypes) {
  std::vector<size_t> wanted;
  for (size_t i = 0; i < schema.dtype_combinations.size(); ++i) {
    const DTypeCombination& combination = schema.dtype_combinations[i];
    const bool everyday = combination.tier == Tier::everyday;
    if (dtypes.empty() ? everyday : has_dtypes(schema, combination, dtypes)) wanted.push_back(i);
  }
  std::sort(wanted.begin(), wanted.end(), [&](size_t a, size_t b) {
    return std::pair(widest_bytes(schema.dtype_combinations[a]), a) <
           std::pair(widest_bytes(schema.dtype_combinations[b]), b);
  });
  return wanted;
}

}  // namespace

size_t row_axis(const Schema& schema) {
  const bool derived = std::any_of(schema.axes.begin(), schema.axes.end(),
                                   [](const Axis& axis) { return axis.derived.has_value(); });
  for (size_t axis = 0; axis < schema.axes.size() && !derived; ++axis) {
    if (may_be_rows(schema, axis)) return axis;
  }
  throw UsageError(fmt::format(
      "{}: a huge call is judged by rows that are independent of each other, and this operator has "
      "no axis that leads all of its outputs, some input and no reduction; expected one such as "
      "relu, softmax or matmul",
      schema.name));
}

std::vector<HugeCall> huge_calls(const std::shared_ptr<const Schema>& schema,
                                 const NamedDTypes& dtypes, const Preconditions& preconditions,
                                 ValueLaw law, const HugeLimits& limits) {
  const size_t rows = row_axis(*schema);
  std::vector<HugeCall> calls;
  for (const size_t combination : wanted_combinations(*schema, dtypes)) {
    Case c = plain_case(schema, combination);
    choose_laws(c, law);
    for (HugeCall& call : Shapes(std::move(c), rows, preconditions, limits).all()) {
      calls.push_back(std::move(call));
    }
  }
  if (calls.empty()) {
    throw UsageError(
        fmt::format("{}: no call of more than {} elements within the schema's axes, {} and the "
                    "kernel's preconditions \"{}\"",
                    schema->name, size_text(limits.boundary),
                    dtypes.empty() ? "everyday dtypes" : "these dtypes", preconditions.text()));
  }
  return calls;
}

int64_t largest_size(const Case& c) {
  int64_t largest = 0;
  for (const auto* specs : {&c.schema->inputs, &c.schema->outputs}) {
    for (const TensorSpec& spec : *specs) largest = std::max(largest, size_of(c, spec));
  }
  return largest;
}

Case call_of_rows(const Case& c, size_t axis, size_t rows) {
  Case part = c;
  part.axes[axis] = static_cast<int64_t>(rows);
  return part;
}

std::string obstacle(const Case& c, size_t axis, const HugeLimits& limits) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const TensorSpec& spec = c.schema->inputs[i];
    if (size_of(c, spec) <= limits.host_elements) continue;
    if (!has_axis(spec, axis)) {
      return fmt::format("input {} is as large and belongs to every row", spec.name);
    }
    if (!is_random(c.inputs[i].law) || !info(c.dtype(spec)).floating) {
      return fmt::format("the device cannot make input {} of {}, {} values", spec.name,
                         name(c.dtype(spec)), name(c.inputs[i].law));
    }
  }
  return {};
}

size_t spread_rows(const Case& c, size_t axis, const HugeLimits& limits) {
  const int64_t work = std::max<int64_t>(call_of_rows(c, axis, 1).work(), 1);
  return static_cast<size_t>(
      std::min(std::clamp<int64_t>(limits.sample_work / work, 8, 512), c.axes[axis]));
}

std::vector<int64_t> sampled_rows(const Case& c, size_t axis, const HugeLimits& limits) {
  const int64_t extent = c.axes[axis];
  std::set<int64_t> rows = {0, extent - 1};
  for (const auto* specs : {&c.schema->inputs, &c.schema->outputs}) {
    for (const TensorSpec& spec : *specs) {
      if (!has_axis(spec, axis)) continue;
      const int64_t row = size_of(c, spec) / extent;
      for (const int64_t units : {int64_t{1}, int64_t{info(c.dtype(spec)).bytes}}) {
        for (const int64_t boundary : {limits.boundary, 2 * limits.boundary}) {
          for (const int64_t element : {boundary / units - 1, boundary / units}) {
            if (element / row < extent) rows.insert(element / row);
          }
        }
      }
    }
  }
  const auto spread = static_cast<int64_t>(spread_rows(c, axis, limits));
  for (int64_t i = 0; i < spread; ++i) {
    // One of each stretch of rows; which one must not follow a pattern that a kernel may have too.
    const int64_t begin = extent * i / spread, end = extent * (i + 1) / spread;
    rows.insert(begin + static_cast<int64_t>(mix(static_cast<uint64_t>(i)) %
                                             static_cast<uint64_t>(end - begin)));
  }
  return {rows.begin(), rows.end()};
}

std::string size_text(int64_t size) {
  const int exponent = std::countr_zero(static_cast<uint64_t>(size));
  const int64_t odd = size >> exponent;
  if (exponent < 10) return fmt::format("{}", size);
  return odd == 1 ? fmt::format("2^{}", exponent) : fmt::format("{} * 2^{}", odd, exponent);
}

}  // namespace warpfuzz
