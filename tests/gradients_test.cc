// Backward operators against central differences of their forward formula, in long double: each
// output is the gradient of L = sum of dy * forward(...) with respect to one operand.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "reference/oracle.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

using Wide = std::vector<long double>;
constexpr DType f32 = DType::float32;
constexpr size_t rows = 3, columns = 5;

long double softmax_loss(const Wide& logits, const Wide& dy) {
  long double loss = 0;
  for (size_t row = 0; row < rows * columns; row += columns) {
    long double sum = 0;
    for (size_t j = row; j < row + columns; ++j) sum += std::exp(logits[j]);
    for (size_t j = row; j < row + columns; ++j) loss += dy[j] * std::exp(logits[j]) / sum;
  }
  return loss;
}

long double layernorm_loss(const Wide& x, const Wide& weight, const Wide& bias, const Wide& dy,
                           long double eps) {
  long double loss = 0;
  for (size_t row = 0; row < rows * columns; row += columns) {
    long double mean = 0, variance = 0;
    for (size_t j = 0; j < columns; ++j) mean += x[row + j] / columns;
    for (size_t j = 0; j < columns; ++j) {
      variance += (x[row + j] - mean) * (x[row + j] - mean) / columns;
    }
    for (size_t j = 0; j < columns; ++j) {
      const long double d = (x[row + j] - mean) / std::sqrt(variance + eps);
      loss += dy[row + j] * (d * weight[j] + bias[j]);
    }
  }
  return loss;
}

void expect_gradient(const OutputExpectation& computed, const Wide& at,
                     const std::function<long double(const Wide&)>& loss, const char* output) {
  constexpr long double step = 0x1p-18L;  // error of second order: about 2^-36
  ASSERT_EQ(computed.value.size(), at.size()) << output;
  for (size_t i = 0; i < at.size(); ++i) {
    Wide above = at, below = at;
    above[i] += step;
    below[i] -= step;
    const long double slope = (loss(above) - loss(below)) / (2 * step);
    EXPECT_NEAR(computed.value[i], static_cast<double>(slope), 1e-8) << output << ' ' << i;
  }
}

TEST(Gradients, OfLayernormReachAllThreeOutputs) {
  const double eps = 0.25;
  const Problem p =
      family_problem({"layernorm_backward", f32, f32, {rows, columns}, {{.real = eps}}},
                     schema_of("layernorm_backward"), families[0], 1);
  const Oracle oracle(p.c, p.inputs);
  const Wide dy(p.x[0].begin(), p.x[0].end()), x(p.x[1].begin(), p.x[1].end());
  const Wide weight(p.x[2].begin(), p.x[2].end()), bias(columns, 0.5L);
  const auto loss = [&](const Wide& a, const Wide& w, const Wide& b) {
    return layernorm_loss(a, w, b, dy, static_cast<long double>(eps));
  };
  expect_gradient(
      oracle.expectation(0), x, [&](const Wide& v) { return loss(v, weight, bias); }, "dx");
  expect_gradient(
      oracle.expectation(1), weight, [&](const Wide& v) { return loss(x, v, bias); }, "dweight");
  expect_gradient(
      oracle.expectation(2), bias, [&](const Wide& v) { return loss(x, weight, v); }, "dbias");
}

// A mean that kernels may lose altogether leaves deviations that may be 0 or of either sign; with
// an infinite gradient they become any infinity, or NaN.
TEST(Gradients, OfLayernormAllowAnyClassWhereInfinityMeetsALostMean) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> operands[] = {
      {1, 1, 1, 1}, {1, 0x1p-30, -1, 0}, {infinity, 1, 1, 1}};  // dy, x, weight
  const Problem p = make_problem({"layernorm_backward", f32, f32, {1, 4}, {{.real = 1e-8}}},
                                 schema_of("layernorm_backward"),
                                 [&](size_t input, size_t) { return operands[input]; });
  const OutputExpectation dx = Oracle(p.c, p.inputs).expectation(0);
  const uint8_t any = class_nan | class_positive_infinity | class_negative_infinity;
  EXPECT_EQ(dx.allowed[3] & any, any);
  EXPECT_EQ(dx.allowed[2], class_nan);  // its deviation is -1 whatever the mean: inf - inf
}

TEST(Gradients, OfSoftmax) {
  // The operator takes y: logarithms of it are logits.
  Generator random(2);
  std::vector<double> y(rows * columns), dy(rows * columns);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = 0.1 + uniform(random);
    dy[i] = normal(random);
  }
  for (size_t row = 0; row < y.size(); row += columns) {
    double sum = 0;
    for (size_t j = row; j < row + columns; ++j) sum += y[j];
    for (size_t j = row; j < row + columns; ++j) y[j] /= sum;
  }
  const Problem p =
      make_problem({"softmax_backward", f32, f32, {rows, columns}}, schema_of("softmax_backward"),
                   [&](size_t input, size_t) { return input == 0 ? y : dy; });
  Wide logits;
  for (const float v : p.x[0]) logits.push_back(std::log(static_cast<long double>(v)));
  const Wide g(p.x[1].begin(), p.x[1].end());
  const OutputExpectation computed = Oracle(p.c, p.inputs).expectation(0);
  for (size_t i = 0; i < logits.size(); ++i) {
    Wide above = logits, below = logits;
    above[i] += 0x1p-18L;
    below[i] -= 0x1p-18L;
    const long double slope = (softmax_loss(above, g) - softmax_loss(below, g)) / 0x1p-17L;
    EXPECT_NEAR(computed.value[i], static_cast<double>(slope), 1e-6) << i;  // y is rounded
  }
}

}  // namespace
}  // namespace warpfuzz
