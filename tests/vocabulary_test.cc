#include "schemas/vocabulary.h"

#include <gtest/gtest.h>

#include <set>

namespace warpfuzz {
namespace {

// Every name parses back to the value at its position, and no other text does.
template <class Enum>
void expect_round_trip(std::span<const std::string_view> names,
                       std::optional<Enum> (*parse)(std::string_view)) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(parse(names[i]), value);
    EXPECT_EQ(name(value), names[i]);
    EXPECT_TRUE(seen.insert(names[i]).second) << names[i];
  }
  EXPECT_EQ(parse(""), std::nullopt);
  EXPECT_EQ(parse("Contiguous"), std::nullopt);
}

TEST(Vocabulary, NamesRoundTrip) {
  expect_round_trip<DType>(dtype_names(), parse_dtype);
  expect_round_trip<Layout>(layout_names(), parse_layout);
  expect_round_trip<AxisRole>(axis_role_names(), parse_axis_role);
  expect_round_trip<ValueLaw>(value_law_names(), parse_value_law);
}

TEST(Vocabulary, KnowsElementTypes) {
  EXPECT_EQ(dtypes().size(), 11u);
  EXPECT_EQ(info(DType::bfloat16).bytes, 2);
  EXPECT_TRUE(info(DType::float8_e5m2).floating);
  EXPECT_FALSE(info(DType::boolean).floating);
  EXPECT_EQ(name(DType::float8_e4m3fn), "float8_e4m3fn");
  EXPECT_EQ(name(ValueLaw::integer_extremes), "integer_extremes");
}

}  // namespace
}  // namespace warpfuzz
