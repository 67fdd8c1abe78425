#include "fuzzers/bench_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <tuple>

#include "fuzzers/installation.h"
#include "fuzzers/plain_case.h"

namespace warpfuzz {
namespace {

constexpr int64_t mebibyte = int64_t{1} << 20;

// A size of calls, by default: bytes in all tensors and operations, at most. Three sets of the
// largest stay below 1 GiB.
struct Size {
  const char* name;
  int64_t bytes;
  int64_t work;
};
constexpr Size sizes[] = {{"small", mebibyte, int64_t{1} << 28},
                          {"medium", 32 * mebibyte, int64_t{1} << 33},
                          {"large", 256 * mebibyte, int64_t{1} << 37}};
// For what the user asked, the first that holds it; beyond the last: too much.
constexpr Size asked_sizes[] = {{"asked", 256 * mebibyte, int64_t{1} << 37},
                                {"asked", 16384 * mebibyte, INT64_MAX}};

std::vector<std::pair<std::string, std::string>> split_pairs(const std::string& option,
                                                             const std::string& text,
                                                             const std::string& example) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const size_t equal = part.find('=');
    if (equal == part.npos || equal == 0 || equal + 1 == part.size()) {
      throw UsageError(fmt::format("{} {}: found '{}', expected {}", option, text, part, example));
    }
    const std::string key = part.substr(0, equal);
    for (const auto& [known, value] : pairs) {
      if (known == key) throw UsageError(fmt::format("{} {}: {} twice", option, text, key));
    }
    pairs.emplace_back(key, part.substr(equal + 1));
    begin = end + 1;
  }
  return pairs;
}

int64_t least(const Axis& axis) { return std::max<int64_t>(axis.minimum, 1); }

int64_t parse_extent(const Axis& axis, const std::string& text, const std::string& where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least(axis) ||
      value > axis.maximum) {
    throw UsageError(fmt::format("{}: found {}={}, expected {} to {}", where, axis.name, text,
                                 least(axis), axis.maximum));
  }
  return value;
}

// Why there is no call: the last check that one came to.
enum class Obstacle { memory, constraint, preconditions };

// Tries every choice of powers of two for the axes that are open.
class Search {
 public:
  Search(Case c, const NamedAxes& named, const Size& size,
         const std::vector<const Preconditions*>& preconditions)
      : c_(std::move(c)), named_(named), size_(size), preconditions_(preconditions) {}

  std::optional<Case> run() {
    set(0);
    return best_;
  }
  Obstacle obstacle() const { return obstacle_; }
  const std::string& broken() const { return broken_; }

 private:
  // A quarter of the memory or more; then the more balanced, the larger, the longer first axes.
  using Score = std::tuple<int64_t, int, int64_t, std::vector<int64_t>>;

  void set(size_t i) {
    if (i == c_.axes.size()) return judge();
    const Axis& axis = c_.schema->axes[i];
    if (axis.constant) {
      c_.axes[i] = *axis.constant;
      return set(i + 1);
    }
    if (axis.derived) {
      c_.axes[i] = axis.derived->evaluate(c_.expression_values());
      return set(i + 1);
    }
    if (const auto named = named_.find(axis.name); named != named_.end()) {
      c_.axes[i] = named->second;
      return set(i + 1);
    }
    // Later axes at their least: no smaller call begins like this one.
    for (size_t later = i + 1; later < c_.axes.size(); ++later) {
      if (c_.schema->axes[later].variable()) c_.axes[later] = least(c_.schema->axes[later]);
    }
    for (int64_t extent = 1; extent <= axis.maximum; extent *= 2) {
      if (extent < axis.minimum && extent * 2 <= axis.minimum) continue;
      c_.axes[i] = std::max(extent, least(axis));
      if (extent > least(axis) && !fits_with_least(i)) break;
      set(i + 1);
    }
  }

  bool fits_with_least(size_t i) {
    Case smallest = c_;
    for (size_t later = i + 1; later < c_.axes.size(); ++later) {
      const Axis& axis = c_.schema->axes[later];
      if (axis.constant) smallest.axes[later] = *axis.constant;
      if (axis.derived) smallest.axes[later] = 1;
      if (axis.variable()) smallest.axes[later] = least(axis);
    }
    return tensor_bytes(smallest) <= size_.bytes;
  }

  void judge() {
    if (tensor_bytes(c_) > size_.bytes || c_.work() > size_.work) return;
    const std::vector<int64_t> values = c_.expression_values();
    for (const Expression& constraint : c_.schema->constraints) {
      if (constraint.evaluate(values) == 0) {
        return note(Obstacle::constraint, constraint.text());
      }
    }
    for (const Preconditions* preconditions : preconditions_) {
      if (!preconditions->admit(c_)) return note(Obstacle::preconditions, preconditions->text());
    }
    Score score = score_of();
    if (best_ && score <= best_score_) return;
    best_ = c_;
    best_score_ = std::move(score);
  }

  void note(Obstacle obstacle, const std::string& broken) {
    if (obstacle < obstacle_) return;
    obstacle_ = obstacle;
    broken_ = broken;
  }

  Score score_of() const {
    int shortest = 63, longest = 0;  // logarithms
    for (size_t i = 0; i < c_.axes.size(); ++i) {
      if (!c_.schema->axes[i].variable()) continue;
      const int exponent = std::countr_zero(std::bit_floor(static_cast<uint64_t>(c_.axes[i])));
      shortest = std::min(shortest, exponent);
      longest = std::max(longest, exponent);
    }
    const int64_t bytes = tensor_bytes(c_);
    return {std::min(bytes, size_.bytes / 4), shortest - longest, bytes, c_.axes};
  }

  Case c_;
  const NamedAxes& named_;
  const Size& size_;
  const std::vector<const Preconditions*>& preconditions_;
  std::optional<Case> best_;
  Score best_score_;
  Obstacle obstacle_ = Obstacle::memory;
  std::string broken_;
};

std::string asked_text(const NamedAxes& axes) {
  std::string text;
  for (const auto& [axis, extent] : axes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis, extent);
  }
  return text.empty() ? "" : "--axes " + text + ": ";
}

std::string obstacle_text(const Schema& schema, Obstacle obstacle, const std::string& broken) {
  switch (obstacle) {
    case Obstacle::memory:
      return fmt::format("the tensors of one call need more than {} GiB; give shorter axes",
                         asked_sizes[1].bytes / (1024 * mebibyte));
    case Obstacle::constraint:
      return fmt::format("breaks the constraint \"{}\" of {}; give axes for which it holds", broken,
                         schema.name);
    case Obstacle::preconditions:
      return fmt::format(
          "excluded by the kernel's preconditions \"{}\"; give --axes or --dtype that they admit",
          broken);
  }
  return {};
}

std::string combinations_text(const Schema& schema) {
  std::vector<std::string> rows;
  for (const DTypeCombination& combination : schema.dtype_combinations) {
    std::string row;
    for (size_t i = 0; i < combination.dtypes.size(); ++i) {
      row += fmt::format("{}{}={}", row.empty() ? "" : ",", schema.dtype_variables[i],
                         name(combination.dtypes[i]));
    }
    rows.push_back(row);
  }
  return fmt::format("{}", fmt::join(rows, "; "));
}

// Positions of the combinations with these dtypes, the most usual first.
std::vector<size_t> matching_combinations(const Schema& schema, const NamedDTypes& dtypes) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < schema.dtype_combinations.size(); ++i) {
    if (has_dtypes(schema, schema.dtype_combinations[i], dtypes)) positions.push_back(i);
  }
  std::sort(positions.begin(), positions.end(), [&](size_t a, size_t b) {
    return std::pair(schema.dtype_combinations[a].tier, a) <
           std::pair(schema.dtype_combinations[b].tier, b);
  });
  return positions;
}

}  // namespace

bool has_dtypes(const Schema& schema, const DTypeCombination& combination,
                const NamedDTypes& dtypes) {
  for (size_t i = 0; i < schema.dtype_variables.size(); ++i) {
    const auto named = dtypes.find(schema.dtype_variables[i]);
    if (named != dtypes.end() && named->second != combination.dtypes[i]) return false;
  }
  return true;
}

NamedAxes parse_axes(const Schema& schema, const std::string& text) {
  const std::string where = "--axes " + text;
  NamedAxes axes;
  for (const auto& [key, value] : split_pairs("--axes", text, "such as m=4096,n=1024")) {
    std::vector<std::string> names;
    const Axis* found = nullptr;
    for (const Axis& axis : schema.axes) {
      if (axis.variable()) names.push_back(axis.name);
      if (axis.variable() && axis.name == key) found = &axis;
    }
    if (found == nullptr) {
      throw UsageError(fmt::format("{}: {} has no axis '{}' to choose; expected of: {}", where,
                                   schema.name, key, fmt::join(names, ", ")));
    }
    axes[key] = parse_extent(*found, value, where);
  }
  return axes;
}

NamedDTypes parse_dtypes(const Schema& schema, const std::string& text) {
  NamedDTypes dtypes;
  if (text.empty()) return dtypes;
  for (const auto& [key, value] : split_pairs("--dtype", text, "such as T=float16")) {
    const auto& variables = schema.dtype_variables;
    if (std::find(variables.begin(), variables.end(), key) == variables.end()) {
      throw UsageError(fmt::format("--dtype {}: {} has no dtype variable '{}'; expected of: {}",
                                   text, schema.name, key, fmt::join(variables, ", ")));
    }
    const std::optional<DType> dtype = parse_dtype(value);
    if (!dtype) {
      throw UsageError(fmt::format("--dtype {}: unknown dtype '{}'; expected of: {}", text, value,
                                   fmt::join(dtype_names(), ", ")));
    }
    dtypes[key] = *dtype;
  }
  if (matching_combinations(schema, dtypes).empty()) {
    throw UsageError(fmt::format("--dtype {}: {} has no such combination; expected of: {}", text,
                                 schema.name, combinations_text(schema)));
  }
  return dtypes;
}

int64_t tensor_bytes(const Case& c) {
  int64_t bytes = 0;
  bool overflow = false;
  for (const auto* specs : {&c.schema->inputs, &c.schema->outputs}) {
    for (const TensorSpec& spec : *specs) {
      int64_t product = info(c.dtype(spec)).bytes;
      for (const size_t axis : spec.axes) {
        overflow |= __builtin_mul_overflow(product, c.axes[axis], &product);
      }
      overflow |= __builtin_add_overflow(bytes, product, &bytes);
    }
  }
  return overflow ? INT64_MAX : bytes;
}

std::vector<BenchShape> bench_shapes(const std::shared_ptr<const Schema>& schema,
                                     const std::vector<NamedAxes>& asked, const NamedDTypes& dtypes,
                                     const std::vector<const Preconditions*>& preconditions) {
  Obstacle obstacle = Obstacle::memory;
  std::string broken;
  const auto find = [&](const NamedAxes& axes, const Size& size) -> std::optional<Case> {
    obstacle = Obstacle::memory;
    for (const size_t combination : matching_combinations(*schema, dtypes)) {
      Search search(plain_case(schema, combination), axes, size, preconditions);
      if (std::optional<Case> c = search.run()) return c;
      if (search.obstacle() < obstacle) continue;
      obstacle = search.obstacle();
      broken = search.broken();
    }
    return std::nullopt;
  };
  const auto fail = [&](const NamedAxes& axes) {
    throw UsageError(asked_text(axes) + obstacle_text(*schema, obstacle, broken));
  };
  std::vector<BenchShape> shapes;
  for (const NamedAxes& axes : asked) {
    std::optional<Case> c;
    for (const Size& size : asked_sizes) {
      if (!c) c = find(axes, size);
    }
    if (!c) fail(axes);
    shapes.push_back({"asked", std::move(*c)});
  }
  if (!asked.empty()) return shapes;
  for (const Size& size : sizes) {
    std::optional<Case> c = find({}, size);
    // Where a kernel admits few shapes, a size may be the one before it.
    if (c && (shapes.empty() || !(shapes.back().c == *c))) {
      shapes.push_back({size.name, std::move(*c)});
    }
  }
  if (shapes.empty()) fail({});
  return shapes;
}

}  // namespace warpfuzz
