#include "schemas/axis_rules.h"

#include <algorithm>

namespace warpfuzz {
namespace {

constexpr int64_t saturated = INT64_MAX;

// Empty axes count as 1: a kernel may well launch something for each row of an empty tensor.
int64_t elements(const TensorSpec& tensor, std::span<const int64_t> axes) {
  int64_t product = 1;
  bool overflow = false;
  for (size_t axis : tensor.axes) {
    overflow |= __builtin_mul_overflow(product, std::max<int64_t>(axes[axis], 1), &product);
  }
  return overflow ? saturated : product;
}

// Bounds of one variable axis under a tier.
int64_t lower_bound(const Axis& axis, Tier max_tier) {
  return max_tier < Tier::exotic ? std::max<int64_t>(axis.minimum, 1) : axis.minimum;
}
int64_t upper_bound(const Axis& axis, Tier max_tier) {
  return max_tier == Tier::everyday ? std::min(axis.maximum, everyday_axis_limit) : axis.maximum;
}

class Repair {
 public:
  Repair(const Schema& schema, Extents& extents, int64_t work_limit, Tier max_tier, size_t favoured)
      : schema_(schema),
        extents_(extents),
        work_limit_(work_limit),
        max_tier_(max_tier),
        favoured_(favoured) {}

  bool run() {
    clamp();
    if (legal()) return true;
    limit_ratio();
    limit_work();
    limit_ratio();
    return legal() || change_one_axis();
  }

 private:
  bool legal() const { return extents_.legal(work_limit_, max_tier_); }

  void set(size_t axis, int64_t value) {
    extents_.axes()[axis] = value;
    extents_.follow();
  }

  void clamp() {
    for (size_t i = 0; i < schema_.axes.size(); ++i) {
      const Axis& axis = schema_.axes[i];
      if (!axis.variable()) continue;
      int64_t& value = extents_.axes()[i];
      value = std::clamp(value, std::min(lower_bound(axis, max_tier_), axis.maximum),
                         std::max(upper_bound(axis, max_tier_), axis.minimum));
    }
    extents_.follow();
  }

  void limit_ratio() {
    if (max_tier_ != Tier::everyday) return;
    int64_t shortest = saturated;
    for (size_t i = 0; i < schema_.axes.size(); ++i) {
      if (schema_.axes[i].variable()) shortest = std::min(shortest, extents_.axes()[i]);
    }
    if (shortest > everyday_axis_limit) return;
    for (size_t i = 0; i < schema_.axes.size(); ++i) {
      const Axis& axis = schema_.axes[i];
      int64_t& value = extents_.axes()[i];
      if (axis.variable()) {
        value = std::max(axis.minimum, std::min(value, shortest * everyday_axis_ratio));
      }
    }
    extents_.follow();
  }

  // The longest axis that can still be shortened; the favoured one only when no other can.
  size_t longest() const {
    size_t best = no_axis;
    for (size_t i = 0; i < schema_.axes.size(); ++i) {
      if (i != favoured_ && can_shorten(i) &&
          (best == no_axis || extents_.axes()[i] > extents_.axes()[best])) {
        best = i;
      }
    }
    if (best == no_axis && favoured_ != no_axis && can_shorten(favoured_)) best = favoured_;
    return best;
  }
  bool can_shorten(size_t i) const {
    const Axis& axis = schema_.axes[i];
    return axis.variable() && extents_.axes()[i] > std::max<int64_t>(axis.minimum, 1);
  }

  // Halves the longest axes until the work fits, then gives the last one what is left.
  void limit_work() {
    while (extents_.work() > work_limit_) {
      const size_t axis = longest();
      if (axis == no_axis) return;
      int64_t above = extents_.axes()[axis];  // too much work
      int64_t below = std::max({schema_.axes[axis].minimum, int64_t{1}, above / 2});
      set(axis, below);
      if (extents_.work() > work_limit_) continue;
      while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        set(axis, middle);
        (extents_.work() > work_limit_ ? above : below) = middle;
      }
      set(axis, below);
    }
  }

  // Constraints: the first single change that satisfies all of them, tried in a fixed order.
  bool change_one_axis() {
    for (size_t i = 0; i < schema_.axes.size(); ++i) {
      const Axis& axis = schema_.axes[i];
      if (!axis.variable()) continue;
      const int64_t before = extents_.axes()[i];
      const auto works = [&](int64_t value) {
        if (value < lower_bound(axis, max_tier_) || value > upper_bound(axis, max_tier_)) {
          return false;
        }
        set(i, value);
        return legal();
      };
      for (size_t other = 0; other < schema_.axes.size(); ++other) {
        if (works(extents_.axes()[other])) return true;
      }
      for (int64_t step = 1; step <= 16; ++step) {
        if (works(before - step) || works(before + step)) return true;
      }
      for (int64_t multiple = 32; multiple <= 256; multiple *= 2) {
        if (works(before - before % multiple)) return true;
      }
      for (int64_t value : axis.boundary) {
        if (works(value)) return true;
      }
      if (works(axis.minimum) || works(1)) return true;
      set(i, before);
    }
    return false;
  }

  const Schema& schema_;
  Extents& extents_;
  int64_t work_limit_;
  Tier max_tier_;
  size_t favoured_;
};

}  // namespace

Extents::Extents(const Schema& schema, std::span<const int64_t> axes,
                 std::span<const AttributeValue> attributes)
    : schema_(&schema) {
  std::copy(axes.begin(), axes.end(), values_.begin());
  for (size_t i = 0; i < attributes.size(); ++i) {
    values_[axes.size() + i] =
        schema.attributes[i].kind == AttributeKind::real ? 0 : attributes[i].integer;
  }
}

void Extents::follow() {
  for (size_t i = 0; i < schema_->axes.size(); ++i) {
    const Axis& axis = schema_->axes[i];
    if (axis.constant) values_[i] = *axis.constant;
    if (axis.derived) values_[i] = axis.derived->evaluate({values_.data(), i});
  }
}

int64_t Extents::work() const {
  int64_t total = 0;
  for (const auto* tensors : {&schema_->inputs, &schema_->outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (__builtin_add_overflow(total, elements(tensor, axes()), &total)) return saturated;
    }
  }
  return std::max(total, schema_->work->evaluate(values()));
}

Tier Extents::tier() const {
  int64_t shortest = saturated;
  int64_t longest = 0;
  for (size_t i = 0; i < schema_->axes.size(); ++i) {
    if (values_[i] == 0) return Tier::exotic;
    if (!schema_->axes[i].variable()) continue;
    shortest = std::min(shortest, values_[i]);
    longest = std::max(longest, values_[i]);
  }
  for (const auto* tensors : {&schema_->inputs, &schema_->outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (elements(tensor, axes()) > int64_t{1} << 31) return Tier::exotic;
    }
  }
  const bool unusual =
      longest > everyday_axis_limit || longest / everyday_axis_ratio > shortest ||
      (longest / everyday_axis_ratio == shortest && longest % everyday_axis_ratio != 0);
  return unusual ? Tier::unusual : Tier::everyday;
}

std::optional<size_t> Extents::broken_constraint() const {
  for (size_t i = 0; i < schema_->constraints.size(); ++i) {
    if (schema_->constraints[i].evaluate(values()) == 0) return i;
  }
  return std::nullopt;
}

std::optional<size_t> Extents::axis_out_of_range() const {
  for (size_t i = 0; i < schema_->axes.size(); ++i) {
    const Axis& axis = schema_->axes[i];
    if (values_[i] < axis.minimum || values_[i] > axis.maximum) return i;
  }
  return std::nullopt;
}

bool Extents::legal(int64_t work_limit, Tier max_tier) const {
  return !axis_out_of_range() && work() <= work_limit && tier() <= max_tier && !broken_constraint();
}

bool repair(const Schema& schema, Extents& extents, int64_t work_limit, Tier max_tier,
            size_t favoured) {
  return Repair(schema, extents, work_limit, max_tier, favoured).run();
}

bool find_smallest_axes(Schema& schema) {
  std::vector<AttributeValue> attributes;
  for (const Attribute& attribute : schema.attributes) {
    attributes.push_back({static_cast<int64_t>(attribute.usual[0]), attribute.usual[0]});
  }
  std::vector<std::vector<int64_t>> candidates;
  for (const Axis& axis : schema.axes) {
    std::vector<int64_t>& values = candidates.emplace_back();
    const int64_t least = std::max<int64_t>(axis.minimum, 1);
    if (axis.variable()) {
      for (int64_t i = 0; i < 16; ++i) values.push_back(least + i);
      for (int64_t i = 32; i <= 1024; i *= 2) values.push_back(i);
      values.insert(values.end(), axis.boundary.begin(), axis.boundary.end());
    } else {
      values.push_back(least);
    }
  }
  // Counts through the product, first axis fastest; gives up after a fixed effort.
  std::vector<size_t> digits(candidates.size(), 0);
  for (int effort = 0; effort < 200'000; ++effort) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < digits.size(); ++i) axes.push_back(candidates[i][digits[i]]);
    Extents extents(schema, axes, attributes);
    extents.follow();
    if (extents.legal(work_limits[0], Tier::everyday)) {
      schema.smallest_axes.assign(extents.axes().begin(), extents.axes().end());
      return true;
    }
    size_t place = 0;
    while (place < digits.size() && ++digits[place] == candidates[place].size()) {
      digits[place++] = 0;
    }
    if (place == digits.size()) return false;
  }
  return false;
}

}  // namespace warpfuzz
