#include "seeds/value_law.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <numeric>
#include <set>

#include "reference/number_format.h"
#include "schemas/mutation.h"
#include "seeds/generator.h"
#include "tests/law_fixture.h"
#include "tests/schema_fixture.h"

namespace warpfuzz {
namespace {

// Changing any of these makes stored seeds mean something else.
TEST(Generator, IsPinned) {
  EXPECT_EQ(random_bits(0, 0), 0x1057AB534FC11138u);
  EXPECT_EQ(random_bits(0, 1), 0x5CFCC391B726F0D3u);
  EXPECT_EQ(random_bits(1, 0), 0x0F9BF81AB2A0EFFCu);
  EXPECT_EQ(random_bits(4294967295, 1'000'000), 0x07D1F5BDCF244304u);
  EXPECT_EQ(Generator(7, 1).bits(3), 0x283C95DE4D6AF896u);
  EXPECT_EQ(Generator(1).uniform(2), 0x1.978fe50bbd3d8p-2);
  EXPECT_EQ(Generator(1).normal(2), 0x1.d3fdffaf3c680p-2);
}

TEST(Generator, NormalHasItsMoments) {
  const Generator generator(1);
  constexpr int count = 1'000'000;
  double sum = 0, squares = 0, fourth = 0;
  int beyond3 = 0;
  for (int i = 0; i < count; ++i) {
    const double x = generator.normal(static_cast<uint64_t>(i));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    beyond3 += std::fabs(x) > 3;
  }
  EXPECT_NEAR(sum / count, 0, 0.004);
  EXPECT_NEAR(squares / count, 1, 0.006);
  EXPECT_NEAR(fourth / count, 2.97, 0.05);
  EXPECT_NEAR(beyond3, 2 * 0.001248 * count, 300);
}

// Bits of neighbouring seeds and counters agree in half of the places.
TEST(Generator, NeighboursShareNothing) {
  for (uint64_t i = 0; i < 1000; ++i) {
    int near_seed = 0, near_counter = 0;
    for (uint64_t k = 0; k < 64; ++k) {
      near_seed += std::popcount(random_bits(i, k) ^ random_bits(i + 1, k));
      near_counter += std::popcount(random_bits(i, k) ^ random_bits(i, k + 1));
    }
    ASSERT_NEAR(near_seed, 2048, 200);
    ASSERT_NEAR(near_counter, 2048, 200);
  }
}

// Every law in every element type: reproducible, every element written, finite where it must be.
TEST(ValueLaw, FiniteLawsStayFiniteAfterRounding) {
  for (size_t i = 0; i < value_law_count; ++i) {
    const auto law = static_cast<ValueLaw>(i);
    const bool may_be_special =
        law == ValueLaw::non_finite_scattered || law == ValueLaw::non_finite_row;
    for (const DTypeInfo& type : dtypes()) {
      for (uint64_t seed = 0; seed < 12; ++seed) {
        LawArguments arguments = row(seed, 37, type.dtype);
        arguments.outer = 3;
        arguments.inner = 5;
        const std::vector<double> values = values_of(law, arguments);
        const std::vector<double> again = values_of(law, arguments);
        bool special = false;
        for (size_t k = 0; k < values.size(); ++k) {
          const uint64_t bits = encode_element(type.dtype, values[k]);
          ASSERT_EQ(bits, encode_element(type.dtype, again[k]));
          ASSERT_NE(values[k], unwritten) << name(law);
          const double element = decode_element(type.dtype, bits);
          special |= !std::isfinite(element);
          ASSERT_TRUE(may_be_special || std::isfinite(element))
              << name(law) << " " << type.name << " seed " << seed << ": " << values[k];
        }
        if (may_be_special && type.floating) ASSERT_TRUE(special) << name(law);
      }
    }
  }
}

TEST(ValueLaw, EmptyAndSingleElements) {
  for (size_t i = 0; i < value_law_count; ++i) {
    const auto law = static_cast<ValueLaw>(i);
    LawArguments arguments = row(3, 0);
    EXPECT_TRUE(values_of(law, arguments).empty());
    arguments.length = 1;
    EXPECT_NE(values_of(law, arguments)[0], unwritten);
    arguments.outer = 0;
    EXPECT_TRUE(values_of(law, arguments).empty());
  }
}

// What each law promises of one lane, for a reduction axis in the last and in an inner place.
struct LaneRow {
  ValueLaw law;
  uint64_t seed;
  bool (*holds)(const std::vector<double>& lane);
};

bool is_sorted_ascending(const std::vector<double>& lane) {
  return std::is_sorted(lane.begin(), lane.end());
}

const LaneRow lane_rows[] = {
    {ValueLaw::sorted, 2, is_sorted_ascending},
    {ValueLaw::sorted, 3,
     [](const std::vector<double>& lane) { return std::is_sorted(lane.rbegin(), lane.rend()); }},
    {ValueLaw::one_hot, 0,
     [](const std::vector<double>& lane) {
       return std::count(lane.begin(), lane.end(), 1.0) == 1 &&
              std::count(lane.begin(), lane.end(), 0.0) + 1 == std::ssize(lane);
     }},
    {ValueLaw::tail_spike, 1,
     [](const std::vector<double>& lane) {
       return lane.back() == 64 && *std::max_element(lane.begin(), lane.end() - 1) < 9;
     }},
    {ValueLaw::rising_maximum, 0,
     [](const std::vector<double>& lane) {
       int rises = 0;
       for (size_t i = 32; i < lane.size(); i += 32) {
         rises += *std::max_element(&lane[i], &lane[i] + std::min<size_t>(32, lane.size() - i)) >
                  *std::max_element(lane.begin(), lane.begin() + static_cast<std::ptrdiff_t>(i));
       }
       return rises == 3;
     }},
    {ValueLaw::large_mean, 5,
     [](const std::vector<double>& lane) {
       const double mean =
           std::accumulate(lane.begin(), lane.end(), 0.0) / static_cast<double>(lane.size());
       return mean > 99 && mean < 1001 && std::fabs(lane[0] - mean) < 9;
     }},
    {ValueLaw::tiny_spread, 0,
     [](const std::vector<double>& lane) {
       return std::all_of(lane.begin(), lane.end(),
                          [](double x) { return x != 0 && std::fabs(x) < 0.009; });
     }},
    {ValueLaw::very_negative, 0,
     [](const std::vector<double>& lane) {
       return std::all_of(lane.begin(), lane.end(), [](double x) { return x < -11 && x > -29; });
     }},
    {ValueLaw::constant, 0,
     [](const std::vector<double>& lane) {
       return std::count(lane.begin(), lane.end(), 0.0) == std::ssize(lane);
     }},
    {ValueLaw::all_equal, 9,
     [](const std::vector<double>& lane) {
       return std::count(lane.begin(), lane.end(), lane[0]) == std::ssize(lane);
     }},
    {ValueLaw::subnormal, 4,
     [](const std::vector<double>& lane) {
       return std::all_of(lane.begin(), lane.end(),
                          [](double x) { return x != 0 && std::fabs(x) < 0x1p-126; });
     }},
    {ValueLaw::near_overflow, 0,
     [](const std::vector<double>& lane) {
       return std::all_of(lane.begin(), lane.end(),
                          [](double x) { return std::fabs(x) >= 0x1.fffffep126; });
     }},
    {ValueLaw::signed_zeros, 0,
     [](const std::vector<double>& lane) {
       const auto negative = std::count_if(lane.begin(), lane.end(),
                                           [](double x) { return x == 0 && std::signbit(x); });
       return negative > 20 && negative < 80;
     }},
    {ValueLaw::ramp, 0,
     [](const std::vector<double>& lane) { return is_sorted_ascending(lane) && lane[0] < 15; }},
};

TEST(ValueLaw, LanesRunAlongTheReductionAxis) {
  for (const LaneRow& r : lane_rows) {
    for (const bool inner : {false, true}) {
      LawArguments arguments = row(r.seed, 100);
      (inner ? arguments.inner : arguments.outer) = 3;
      const std::vector<double> values = values_of(r.law, arguments);
      const size_t lanes = r.law == ValueLaw::ramp && !inner ? 1 : 3;
      for (size_t lane = 0; lane < lanes; ++lane) {
        std::vector<double> elements;
        for (size_t i = 0; i < 100; ++i) {
          elements.push_back(values[inner ? i * 3 + lane : lane * 100 + i]);
        }
        EXPECT_TRUE(r.holds(elements)) << name(r.law) << " lane " << lane << " inner " << inner;
      }
    }
  }
}

TEST(ValueLaw, LanesDiffer) {
  LawArguments arguments = row(0, 64);
  arguments.outer = 2;
  for (ValueLaw law : {ValueLaw::normal, ValueLaw::lattice, ValueLaw::coarse_lattice,
                       ValueLaw::cancelling_pairs, ValueLaw::one_hot, ValueLaw::sorted}) {
    const std::vector<double> values = values_of(law, arguments);
    EXPECT_FALSE(std::equal(values.begin(), values.begin() + 64, values.begin() + 64)) << name(law);
  }
}

TEST(ValueLaw, OutliersAreOneInAHundred) {
  const std::vector<double> values = values_of(ValueLaw::outliers, row(1, 100'000));
  const auto large =
      std::count_if(values.begin(), values.end(), [](double x) { return std::fabs(x) > 8.3; });
  EXPECT_GT(large, 500);
  EXPECT_LT(large, 1'100);
}

TEST(ValueLaw, LogUniformCoversTheRange) {
  for (DType dtype : float_types) {
    std::set<double> binades;
    for (double x : values_of(ValueLaw::log_uniform, row(1, 100'000, dtype))) {
      binades.insert(power_of_two_below(std::fabs(x)));
    }
    EXPECT_EQ(*binades.begin(), traits(dtype).smallest_normal) << name(dtype);
    EXPECT_EQ(*binades.rbegin(), power_of_two_below(traits(dtype).largest)) << name(dtype);
  }
}

Case matmul_case(std::vector<int64_t> axes) {
  Case c = decode(find_schema("matmul"), {}, {Tier::exotic, 3});
  c.size_class = 3;
  c.axes = std::move(axes);
  return c;
}

TEST(MakeInput, LatticeProductsOfACaseAreExact) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    for (size_t combination = 0; combination < 3; ++combination) {
      Case c = matmul_case({3, 4, 70});
      c.dtype_combination = combination;
      c.inputs[0].law = c.inputs[1].law = ValueLaw::lattice;
      c.inputs[0].seed = seed;
      c.inputs[1].seed = 3 - seed;
      const std::vector<double> a = decode_tensor(make_input(c, 0));
      const std::vector<double> b = decode_tensor(make_input(c, 1));
      double largest = 0;
      for (double x : a) largest = std::max(largest, std::fabs(x));
      EXPECT_EQ(largest > 127, combination == 0 && seed % 2 == 1);
      for (size_t m = 0; m < 3; ++m) {
        for (size_t n = 0; n < 4; ++n) {
          double total = 0, magnitude = 0;
          for (size_t k = 0; k < 70; ++k) {
            total += a[m * 70 + k] * b[k * 4 + n];
            magnitude += std::fabs(a[m * 70 + k] * b[k * 4 + n]);
          }
          EXPECT_LE(std::fabs(total), combination == 0 && seed % 2 == 1 ? 8 * 4095 : 248);
          EXPECT_GT(magnitude, 1000);
          EXPECT_LE(magnitude, 0x1p24);
        }
      }
    }
  }
}

TEST(MakeInput, PokesOverwriteSingleElements) {
  Case c = matmul_case({2, 1, 3});
  c.inputs[0].law = ValueLaw::constant;
  c.inputs[0].seed = 1;
  c.inputs[0].pokes = {{1, PokeValue::nan},
                       {6 + 2, PokeValue::negative_zero},
                       {3, PokeValue::largest},
                       {4, PokeValue::smallest_subnormal}};
  const std::vector<double> a = decode_tensor(make_input(c, 0));
  EXPECT_EQ(a[0], 1);
  EXPECT_TRUE(std::isnan(a[1]));
  EXPECT_TRUE(a[2] == 0 && std::signbit(a[2]));
  EXPECT_EQ(a[3], 0x1.fffffep127);
  EXPECT_EQ(a[4], 0x1p-149);
  EXPECT_EQ(a[5], 1);
}

TEST(MakeInput, EveryPokeValueEncodes) {
  Case c = matmul_case({1, 1, 13});
  for (size_t combination = 0; combination < 3; ++combination) {
    c.dtype_combination = combination;
    for (unsigned i = 0; i < poke_value_count; ++i) {
      c.inputs[0].pokes = {{i, static_cast<PokeValue>(i)}};
      const double value = decode_tensor(make_input(c, 0))[i];
      const std::string expected(name(static_cast<PokeValue>(i)));
      if (expected == "nan" || expected.find("inf") != std::string::npos) {
        EXPECT_FALSE(std::isfinite(value)) << expected;
      } else {
        EXPECT_TRUE(std::isfinite(value)) << expected;
      }
    }
  }
}

TEST(MakeInput, BroadcastRepeatsTheFirstSlice) {
  Case c = matmul_case({5, 2, 4});
  c.inputs[0].layout = Layout::broadcast;
  c.inputs[0].pokes = {{5, PokeValue::one}};  // modulo the slice
  const Tensor tensor = make_input(c, 0);
  EXPECT_EQ(tensor.shape, (std::vector<int64_t>{5, 4}));
  const std::vector<double> a = decode_tensor(tensor);
  ASSERT_EQ(a.size(), 20u);
  EXPECT_EQ(a[1], 1);
  for (size_t i = 4; i < 20; ++i) EXPECT_EQ(a[i], a[i - 4]);
}

TEST(MakeInput, AnyCaseMakesItsInputs) {
  Random random(43);
  for (const auto& schema : schemas()) {
    for (int i = 0; i < test_effort(150); ++i) {
      const Case c = random_case(schema, random, {Tier::exotic, 2});
      const std::vector<Tensor> inputs = make_inputs(c);
      ASSERT_EQ(inputs.size(), c.inputs.size());
      for (size_t k = 0; k < inputs.size(); ++k) {
        ASSERT_EQ(inputs[k].shape, c.shape(schema->inputs[k]));
        ASSERT_EQ(inputs[k].data.size(),
                  static_cast<size_t>(inputs[k].size()) * info(inputs[k].dtype).bytes);
        ASSERT_TRUE(inputs[k] == make_input(c, k));
      }
    }
  }
}

TEST(MakeInput, IndicesArePositionsOnTheirAxis) {
  Random random(44);
  const auto schema = find_schema("embedding");
  std::set<double> seen;
  for (int i = 0; i < test_effort(300); ++i) {
    const Case c = random_case(schema, random, {Tier::exotic, 2});
    for (const double index : decode_tensor(make_input(c, 0))) {
      ASSERT_GE(index, 0);
      ASSERT_LT(index, static_cast<double>(c.axes[1])) << describe(c);
      seen.insert(index);
    }
  }
  EXPECT_GT(seen.size(), 10u);
}

TEST(ValueLaw, IsFast) {
  constexpr int64_t length = 1 << 16;
  std::vector<double> values(static_cast<size_t>(length));
  std::string report;
  for (size_t i = 0; i < value_law_count; ++i) {
    const auto law = static_cast<ValueLaw>(i);
    const std::clock_t begin = std::clock();
    for (int k = 0; k < 8; ++k) generate(law, row(1, length), values);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    report += fmt::format(" {} {:.1f}", name(law), seconds * 1e9 / (8.0 * length));
  }
  fmt::print("ns per element:{}\n", report);
}

}  // namespace
}  // namespace warpfuzz
