// The closed vocabularies that schemas, cases and reports share: element types, layouts, axis
// roles, value laws, tiers. Each is an enum with one table of names; the names are those of the
// JSON files. Includes nothing of the project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpfuzz {

enum class DType : uint8_t {
  float32,
  float16,
  bfloat16,
  float64,
  float8_e4m3fn,
  float8_e5m2,
  int64,
  int32,
  int8,
  uint8,
  boolean,
};

// How a tensor's elements lie in memory.
enum class Layout : uint8_t {
  contiguous,
  row_strided,  // padding between the rows of the last axis
  transposed,   // the last two axes swapped in memory
  broadcast,    // stride 0 along the first axis (inputs only)
};
inline constexpr size_t layout_count = 4;

enum class AxisRole : uint8_t { batch, free, reduction };
inline constexpr size_t axis_role_count = 3;

// How the values of an input are generated; the meaning of each is in seeds/value_law.h.
enum class ValueLaw : uint8_t {
  normal,
  uniform,
  log_uniform,
  lattice,
  coarse_lattice,
  ramp,
  constant,
  all_equal,
  sorted,
  one_hot,
  cancelling_pairs,
  tail_spike,
  rising_maximum,
  large_mean,
  tiny_spread,
  very_negative,
  outliers,
  near_overflow,
  subnormal,
  signed_zeros,
  non_finite_scattered,
  non_finite_row,
  integer_extremes,
};
inline constexpr size_t value_law_count = 23;

// Importance of a case, derived from its schema; people act on findings in this order.
enum class Tier : uint8_t { everyday = 1, unusual = 2, exotic = 3 };

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  uint8_t bytes;
  bool floating;
};

// All element types, in enum order.
std::span<const DTypeInfo> dtypes();
const DTypeInfo& info(DType dtype);

std::string_view name(DType value);
std::string_view name(Layout value);
std::string_view name(AxisRole value);
std::string_view name(ValueLaw value);

std::optional<DType> parse_dtype(std::string_view text);
std::optional<Layout> parse_layout(std::string_view text);
std::optional<AxisRole> parse_axis_role(std::string_view text);
std::optional<ValueLaw> parse_value_law(std::string_view text);

// The names above, in enum order.
std::span<const std::string_view> dtype_names();
std::span<const std::string_view> layout_names();
std::span<const std::string_view> axis_role_names();
std::span<const std::string_view> value_law_names();

}  // namespace warpfuzz
