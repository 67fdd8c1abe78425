// The sketch of error distributions against sorted samples.
#include "fuzzers/error_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace warpfuzz {
namespace {

constexpr double shares[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};

double sorted_percentile(std::vector<double> samples, double q) {
  std::sort(samples.begin(), samples.end());
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(samples.size())));
  return samples[std::max<size_t>(rank, 1) - 1];
}

struct Row {
  const char* name;
  size_t samples;
  std::function<double(std::mt19937_64&)> draw;
};

std::vector<Row> rows() {
  const auto lognormal = [](double mean, double deviation) {
    return [=](std::mt19937_64& random) {
      return std::lognormal_distribution<double>(mean, deviation)(random);
    };
  };
  return {{"lognormal", 200'000, lognormal(0, 2)},
          {"lognormal of tiny errors", 200'000, lognormal(-20, 1)},
          {"lognormal of vast errors", 200'000, lognormal(150, 10)},
          {"uniform, as rounding gives", 200'000,
           [](std::mt19937_64& random) {
             return std::uniform_real_distribution<double>(0, 0.5)(random);
           }},
          {"whole numbers", 50'000,
           [](std::mt19937_64& random) { return static_cast<double>(random() % 50); }},
          {"a constant", 1000, [](std::mt19937_64&) { return 3.3; }},
          {"nothing but zero", 1000, [](std::mt19937_64&) { return 0.0; }},
          {"a single error", 1, [](std::mt19937_64&) { return 1e-9; }},
          {"beyond all octaves", 1000,
           [](std::mt19937_64& random) { return random() % 2 == 0 ? 1e-300 : 1e300; }}};
}

TEST(ErrorSketch, PercentilesAreWithinTwoPercentOfSortedSamples) {
  for (const Row& row : rows()) {
    std::mt19937_64 random(1);
    ErrorSketch sketch;
    std::vector<double> samples;
    for (size_t i = 0; i < row.samples; ++i) {
      samples.push_back(row.draw(random));
      sketch.add(samples.back());
    }
    EXPECT_EQ(sketch.count(), samples.size());
    EXPECT_EQ(sketch.maximum(), *std::max_element(samples.begin(), samples.end()));
    for (const double q : shares) {
      const double exact = sorted_percentile(samples, q);
      EXPECT_NEAR(sketch.percentile(q), exact, 0.02 * exact) << row.name << " " << q;
    }
  }
}

TEST(ErrorSketch, ConstantsAndSmallWholeNumbersAreExact) {
  ErrorSketch constant, whole;
  for (int i = 0; i < 1000; ++i) {
    constant.add(3.3);
    whole.add(i % 64);
  }
  for (const double q : shares) EXPECT_EQ(constant.percentile(q), 3.3);
  EXPECT_EQ(whole.percentile(0.5), 31);
  EXPECT_EQ(whole.percentile(1), 63);
}

TEST(ErrorSketch, MergedPartsAreTheWhole) {
  for (const Row& row : rows()) {
    std::mt19937_64 random(2);
    ErrorSketch whole;
    std::vector<ErrorSketch> parts(3);
    for (size_t i = 0; i < row.samples; ++i) {
      const double error = row.draw(random);
      whole.add(error);
      parts[i % 3].add(error);
    }
    ErrorSketch merged;
    for (const size_t part : {2u, 0u, 1u}) merged.merge(parts[part]);
    EXPECT_EQ(merged.count(), whole.count());
    EXPECT_EQ(merged.maximum(), whole.maximum());
    for (const double q : shares) {
      EXPECT_EQ(merged.percentile(q), whole.percentile(q)) << row.name << " " << q;
    }
  }
}

TEST(ErrorSketch, StepsAscendAndHoldEveryError) {
  ErrorSketch sketch;
  for (const double error : {0.0, 0.25, 0.26, 7.0, 7.1, 1e30}) sketch.add(error);
  uint64_t count = 0;
  double last = 0;
  for (const ErrorSketch::Step& step : sketch.steps()) {
    EXPECT_LE(step.low, step.high);
    EXPECT_LE(last, step.high);
    last = step.high;
    count += step.count;
  }
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(last, 1e30);
}

TEST(ErrorSketch, OfNothing) {
  const ErrorSketch sketch;
  EXPECT_EQ(sketch.count(), 0u);
  EXPECT_EQ(sketch.percentile(0.5), 0);
  EXPECT_EQ(sketch.maximum(), 0);
}

}  // namespace
}  // namespace warpfuzz
