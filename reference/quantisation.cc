#include "reference/quantisation.h"

#include <fmt/format.h>

#include <cmath>

namespace warpfuzz {
namespace {

// Room above the expectation, for few elements and errors that are not quite independent.
constexpr double allowance = 1.3;
constexpr double mean_magnitude =
    0.7978845608028654;  // sqrt(2 / pi): of a normal variable, sigma 1

}  // namespace

void QuantisationError::add(const Approximation& a) {
  for (size_t i = 0; i < a.exact.size(); ++i) {
    const double y = a.observed[i], r = a.exact[i], error = y - r;
    if (!std::isfinite(error * error) || !std::isfinite(y * r) || !std::isfinite(a.variance[i])) {
      continue;
    }
    merge({1, y * r, y * y, r * r, std::fabs(r), std::fabs(error), error * error, a.variance[i]});
  }
}

void QuantisationError::merge(const QuantisationError& other) {
  elements += other.elements;
  product += other.product;
  observed_squares += other.observed_squares;
  exact_squares += other.exact_squares;
  exact_magnitude += other.exact_magnitude;
  error_magnitude += other.error_magnitude;
  error_squares += other.error_squares;
  variance += other.variance;
}

double QuantisationError::cosine() const {
  return product / std::sqrt(observed_squares) / std::sqrt(exact_squares);
}
double QuantisationError::relative_l1() const { return error_magnitude / exact_magnitude; }
double QuantisationError::rmse() const {
  return std::sqrt(error_squares / static_cast<double>(elements));
}
double QuantisationError::least_cosine() const {
  return 1 - allowance * allowance * variance / (2 * exact_squares);
}
double QuantisationError::most_relative_l1() const {
  const auto n = static_cast<double>(elements);
  return allowance * mean_magnitude * std::sqrt(variance * n) / exact_magnitude;
}
double QuantisationError::most_rmse() const {
  return allowance * std::sqrt(variance / static_cast<double>(elements));
}

std::string describe(const QuantisationError& error) {
  return fmt::format(
      "cosine {:.6g} (codes alone: at least {:.6g}), relative L1 {:.3g} (at most {:.3g}), RMSE "
      "{:.3g} (at most {:.3g})",
      error.cosine(), error.least_cosine(), error.relative_l1(), error.most_relative_l1(),
      error.rmse(), error.most_rmse());
}

}  // namespace warpfuzz
