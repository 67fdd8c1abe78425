// Number formats: every pattern of the 8- and 16-bit formats, every tie between neighbours and its
// two neighbours in double, and the batch paths against the element paths.
#include "reference/number_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Narrow {
  DType dtype;
  int bits;
  uint64_t largest;
  uint64_t overflow;  // bits of what +overflow becomes
  uint64_t nan;
};
constexpr Narrow narrow_formats[] = {
    {DType::float16, 16, 0x7bff, 0x7c00, 0x7e00},
    {DType::bfloat16, 16, 0x7f7f, 0x7f80, 0x7fc0},
    {DType::float8_e4m3fn, 8, 0x7e, 0x7f, 0x7f},
    {DType::float8_e5m2, 8, 0x7b, 0x7c, 0x7e},
};

class NarrowFormat : public testing::TestWithParam<Narrow> {};
INSTANTIATE_TEST_SUITE_P(All, NarrowFormat, testing::ValuesIn(narrow_formats));

TEST_P(NarrowFormat, EveryPatternRoundTrips) {
  const Narrow& f = GetParam();
  for (uint64_t bits = 0; bits < uint64_t{1} << f.bits; ++bits) {
    const double value = decode_element(f.dtype, bits);
    const uint64_t expected = std::isnan(value) ? f.nan : bits;
    ASSERT_EQ(encode_element(f.dtype, value), expected) << std::hex << bits;
  }
}

TEST_P(NarrowFormat, PositivePatternsIncreaseInSteps) {
  const Narrow& f = GetParam();
  for (uint64_t bits = 0; bits < f.largest; ++bits) {
    const double low = decode_element(f.dtype, bits);
    const double high = decode_element(f.dtype, bits + 1);
    ASSERT_LT(low, high);
    ASSERT_EQ(unit_in_last_place(f.dtype, low), high - low) << std::hex << bits;
  }
}

TEST_P(NarrowFormat, EveryTieRoundsToEvenAndItsNeighboursToTheNearest) {
  const Narrow& f = GetParam();
  const uint64_t sign = uint64_t{1} << (f.bits - 1);
  for (uint64_t bits = 0; bits <= f.largest; ++bits) {
    const double low = decode_element(f.dtype, bits);
    const double tie = low + 0.5 * unit_in_last_place(f.dtype, low);
    const uint64_t next = bits == f.largest ? f.overflow : bits + 1;
    const uint64_t even = bits % 2 == 0 ? bits : next;
    ASSERT_EQ(encode_element(f.dtype, tie), even) << std::hex << bits;
    ASSERT_EQ(encode_element(f.dtype, std::nextafter(tie, 0)), bits) << std::hex << bits;
    ASSERT_EQ(encode_element(f.dtype, std::nextafter(tie, infinity)), next) << std::hex << bits;
    ASSERT_EQ(encode_element(f.dtype, -tie), even | sign) << std::hex << bits;
  }
}

TEST_P(NarrowFormat, TraitsAgreeWithThePatterns) {
  const Narrow& f = GetParam();
  const FormatTraits& t = traits(f.dtype);
  EXPECT_EQ(t.largest, decode_element(f.dtype, f.largest));
  EXPECT_EQ(t.smallest_subnormal, decode_element(f.dtype, 1));
  EXPECT_EQ(t.smallest_normal, decode_element(f.dtype, uint64_t{1} << (t.precision - 1)));
  EXPECT_EQ(t.has_infinity, std::isinf(decode_element(f.dtype, f.overflow)));
  EXPECT_EQ(encode_element(f.dtype, t.overflow_edge), f.overflow);
  EXPECT_EQ(encode_element(f.dtype, std::nextafter(t.overflow_edge, 0)), f.largest);
  EXPECT_EQ(encode_element(f.dtype, infinity), f.overflow);
  EXPECT_EQ(encode_element(f.dtype, -nan), f.nan);
  EXPECT_EQ(unit_roundoff(f.dtype), std::ldexp(1.0, -t.precision));
}

TEST(NumberFormat, OverflowEdgesAreThoseOfTheFormats) {
  EXPECT_EQ(traits(DType::float16).overflow_edge, 65520);
  EXPECT_EQ(traits(DType::float8_e5m2).overflow_edge, 61440);
  EXPECT_EQ(traits(DType::float8_e4m3fn).overflow_edge, std::nextafter(464.0, infinity));
  EXPECT_EQ(traits(DType::bfloat16).overflow_edge, std::ldexp(511.0, 119));
}

// float32 against the hardware conversion, which rounds once; near ties and subnormals included.
TEST(NumberFormat, Float32AgreesWithTheHardware) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const uint32_t word = static_cast<uint32_t>(random());
    const float low = std::bit_cast<float>(word);
    ASSERT_EQ(encode_element(DType::float32, static_cast<double>(low)),
              std::isnan(low) ? 0x7fc0'0000u : word);
    if (!std::isfinite(low)) continue;
    const double tie = low + 0.5 * unit_in_last_place(DType::float32, static_cast<double>(low));
    for (const double value :
         {tie, std::nextafter(tie, -infinity), std::nextafter(tie, infinity)}) {
      ASSERT_EQ(encode_element(DType::float32, value),
                std::bit_cast<uint32_t>(static_cast<float>(value)))
          << value;
    }
  }
}

TEST(NumberFormat, BatchesAgreeWithElements) {
  std::mt19937_64 random(2);
  for (const DTypeInfo row : {DTypeInfo{DType::float32, "", 4, true},
                              {DType::float16, "", 2, true},
                              {DType::bfloat16, "", 2, true},
                              {DType::float64, "", 8, true},
                              {DType::float8_e4m3fn, "", 1, true},
                              {DType::int8, "", 1, false},
                              {DType::int32, "", 4, false}}) {
    for (const size_t size : {0u, 1u, 3u, 7u, 8u, 9u, 70'001u}) {
      Tensor tensor{row.dtype, {static_cast<int64_t>(size)}, {}};
      tensor.data.resize(size * row.bytes);
      for (std::byte& byte : tensor.data) byte = static_cast<std::byte>(random());
      const std::vector<double> values = decode_tensor(tensor);
      Tensor back{row.dtype, tensor.shape, {}};
      encode_tensor(values, back);
      for (size_t i = 0; i < size; ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, &tensor.data[i * row.bytes], row.bytes);
        const double expected = decode_element(row.dtype, bits);
        ASSERT_TRUE(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)));
        uint64_t encoded = 0;
        std::memcpy(&encoded, &back.data[i * row.bytes], row.bytes);
        ASSERT_EQ(encoded, encode_element(row.dtype, expected));
      }
    }
  }
}

struct IntegerRow {
  DType dtype;
  double value;
  double expected;
};
class IntegerFormat : public testing::TestWithParam<IntegerRow> {};
INSTANTIATE_TEST_SUITE_P(
    All, IntegerFormat,
    testing::Values(IntegerRow{DType::int8, 2.5, 2}, IntegerRow{DType::int8, 3.5, 4},
                    IntegerRow{DType::int8, -1e9, -128}, IntegerRow{DType::int8, 127.5, 127},
                    IntegerRow{DType::uint8, -3, 0}, IntegerRow{DType::uint8, infinity, 255},
                    IntegerRow{DType::int32, nan, 0}, IntegerRow{DType::int32, -0.5, 0},
                    IntegerRow{DType::int64, 1e30, 9223372036854775807.0},
                    IntegerRow{DType::int64, -infinity, -9223372036854775808.0},
                    IntegerRow{DType::boolean, 0.25, 1}, IntegerRow{DType::boolean, 0, 0}));
TEST_P(IntegerFormat, RoundsToEvenAndSaturates) {
  const IntegerRow& row = GetParam();
  EXPECT_EQ(decode_element(row.dtype, encode_element(row.dtype, row.value)), row.expected);
}

}  // namespace
}  // namespace warpfuzz
