// Which axis extents make a legal call, and the nearest legal ones: ranges, derived axes,
// constraints, the work limit, the tier. Shared by schema loading (is there any legal call?), the
// codec (repair what the bytes say) and the mutations. No allocation: this is the hot path.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "schemas/case.h"
#include "schemas/schema.h"

namespace warpfuzz {

// Values of the schema's expression_names() for one call: axes, then attributes.
class Extents {
 public:
  Extents(const Schema& schema, std::span<const int64_t> axes,
          std::span<const AttributeValue> attributes);

  std::span<int64_t> axes() { return {values_.data(), schema_->axes.size()}; }
  std::span<const int64_t> axes() const { return {values_.data(), schema_->axes.size()}; }
  std::span<const int64_t> values() const {
    return {values_.data(), schema_->axes.size() + schema_->attributes.size()};
  }

  // Gives const and derived axes the values that follow from the others.
  void follow();

  // The work formula or the elements of all tensors, whichever is more; saturating.
  int64_t work() const;
  Tier tier() const;
  // Position of the first constraint that does not hold.
  std::optional<size_t> broken_constraint() const;
  // Position of the first axis outside its range.
  std::optional<size_t> axis_out_of_range() const;
  bool legal(int64_t work_limit, Tier max_tier) const;

 private:
  const Schema* schema_;
  std::array<int64_t, max_schema_axes + max_schema_attributes> values_;
};

inline constexpr int64_t everyday_axis_limit = 65535;
inline constexpr int64_t everyday_axis_ratio = 4096;
inline constexpr size_t no_axis = SIZE_MAX;

// Changes the variable axes as little as it can until the call is legal; legal calls stay as they
// are. `favoured` is the last axis to be shortened. False if no legal call was found near: then the
// schema's smallest axes with usual attributes are one.
bool repair(const Schema& schema, Extents& extents, int64_t work_limit, Tier max_tier,
            size_t favoured = no_axis);

// Fills Schema::smallest_axes; false if no legal everyday call was found.
bool find_smallest_axes(Schema& schema);

}  // namespace warpfuzz
