#include "schemas/vocabulary.h"

#include <array>
#include <iterator>

namespace warpfuzz {
namespace {

constexpr DTypeInfo dtype_table[] = {
    {DType::float32, "float32", 4, true},
    {DType::float16, "float16", 2, true},
    {DType::bfloat16, "bfloat16", 2, true},
    {DType::float64, "float64", 8, true},
    {DType::float8_e4m3fn, "float8_e4m3fn", 1, true},
    {DType::float8_e5m2, "float8_e5m2", 1, true},
    {DType::int64, "int64", 8, false},
    {DType::int32, "int32", 4, false},
    {DType::int8, "int8", 1, false},
    {DType::uint8, "uint8", 1, false},
    {DType::boolean, "bool", 1, false},
};

// Names in enum order.
constexpr std::string_view layout_table[] = {"contiguous", "row_strided", "transposed",
                                             "broadcast"};

constexpr std::string_view axis_role_table[] = {"batch", "free", "reduction"};

constexpr std::string_view value_law_table[] = {
    "normal",         "uniform",          "log_uniform",
    "lattice",        "coarse_lattice",   "ramp",
    "constant",       "all_equal",        "sorted",
    "one_hot",        "cancelling_pairs", "tail_spike",
    "rising_maximum", "large_mean",       "tiny_spread",
    "very_negative",  "outliers",         "near_overflow",
    "subnormal",      "signed_zeros",     "non_finite_scattered",
    "non_finite_row", "integer_extremes",
};

static_assert(std::size(layout_table) == layout_count);
static_assert(std::size(axis_role_table) == axis_role_count);
static_assert(std::size(value_law_table) == value_law_count);

template <class Enum, size_t size>
std::optional<Enum> find(const std::string_view (&table)[size], std::string_view text) {
  for (size_t i = 0; i < size; ++i) {
    if (table[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::span<const DTypeInfo> dtypes() { return dtype_table; }
const DTypeInfo& info(DType dtype) { return dtype_table[static_cast<size_t>(dtype)]; }

std::string_view name(DType value) { return info(value).name; }
std::string_view name(Layout value) { return layout_table[static_cast<size_t>(value)]; }
std::string_view name(AxisRole value) { return axis_role_table[static_cast<size_t>(value)]; }
std::string_view name(ValueLaw value) { return value_law_table[static_cast<size_t>(value)]; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const DTypeInfo& row : dtype_table) {
    if (row.name == text) return row.dtype;
  }
  return std::nullopt;
}
std::optional<Layout> parse_layout(std::string_view text) {
  return find<Layout>(layout_table, text);
}
std::optional<AxisRole> parse_axis_role(std::string_view text) {
  return find<AxisRole>(axis_role_table, text);
}
std::optional<ValueLaw> parse_value_law(std::string_view text) {
  return find<ValueLaw>(value_law_table, text);
}

std::span<const std::string_view> dtype_names() {
  static constexpr auto names = [] {
    std::array<std::string_view, std::size(dtype_table)> result;
    for (size_t i = 0; i < std::size(dtype_table); ++i) result[i] = dtype_table[i].name;
    return result;
  }();
  return names;
}
std::span<const std::string_view> layout_names() { return layout_table; }
std::span<const std::string_view> axis_role_names() { return axis_role_table; }
std::span<const std::string_view> value_law_names() { return value_law_table; }

}  // namespace warpfuzz
