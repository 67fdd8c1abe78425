#include "reference/second_look.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace warpfuzz {
namespace {

constexpr size_t lanes = 32;

// Sums in float, in the orders that kernels use.
float sequential(const float* p, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; ++i) s += p[i];
  return s;
}

float reversed(const float* p, size_t n) {
  float s = 0;
  for (size_t i = n; i-- > 0;) s += p[i];
  return s;
}

float tree(const float* p, size_t n) {
  if (n <= 2) return n == 0 ? 0.0f : n == 1 ? p[0] : p[0] + p[1];
  const size_t half = n / 2;
  return tree(p, half) + tree(p + half, n - half);
}

float lane_sum(const float* p, size_t n) {
  std::array<float, lanes> partial = {};
  for (size_t i = 0; i < n; ++i) partial[i % lanes] += p[i];
  return tree(partial.data(), lanes);
}

float split_sum(const float* p, size_t n) {
  constexpr size_t splits = 8;
  std::array<float, splits> partial = {};
  for (size_t s = 0; s < splits; ++s) {
    const size_t begin = n * s / splits;
    partial[s] = sequential(p + begin, n * (s + 1) / splits - begin);
  }
  return sequential(partial.data(), splits);
}

using FloatSum = float (*)(const float*, size_t);
constexpr FloatSum float_sums[] = {sequential, reversed, lane_sum, split_sum, tree};

// Sums of squares of the partial sums.
double forward_squares(const double* p, size_t n) {
  double s = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) {
    s += p[i];
    squares += s * s;
  }
  return squares;
}

double backward_squares(const double* p, size_t n) {
  double s = 0, squares = 0;
  for (size_t i = n; i-- > 0;) {
    s += p[i];
    squares += s * s;
  }
  return squares;
}

double lane_squares(const double* p, size_t n) {
  std::array<double, lanes> partial = {};
  double squares = 0;
  for (size_t i = 0; i < n; ++i) {
    double& s = partial[i % lanes];
    s += p[i];
    squares += s * s;
  }
  for (size_t width = lanes / 2; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) {
      partial[i] += partial[i + width];
      squares += partial[i] * partial[i];
    }
  }
  return squares;
}

}  // namespace

namespace {

// Equal addends round equally, in whatever order, and so do those that differ by less than the
// roundoff of the sum: where many are, their errors do not average out but add up to as much as the
// roundoff of every partial sum. Returns the sum of |partial sums| then, 0 where addends differ. A
// float simulation cannot stand in: it has another rounding of the addend.
double coherent_reach(const double* addends, size_t n, double roundoff) {
  constexpr size_t fewest = 8;  // alike, and at least a quarter of all
  double forward = 0, backward = 0, s = 0, t = 0, largest = 0;
  for (size_t i = 0; i < n; ++i) {
    s += addends[i];
    t += addends[n - 1 - i];
    forward += std::fabs(s);
    backward += std::fabs(t);
    largest = std::max({largest, std::fabs(s), std::fabs(t)});
  }
  if (!std::isfinite(s)) return 0;  // the class of such a sum is all there is
  const double alike = roundoff * largest;
  std::vector<double> sorted(addends, addends + n);
  std::sort(sorted.begin(), sorted.end());
  size_t longest = 0;
  for (size_t first = 0, last = 0; last < n; ++last) {
    while (sorted[last] - sorted[first] > alike) ++first;
    if (sorted[first] != 0 || sorted[last] != 0) longest = std::max(longest, last - first + 1);
  }
  return longest >= fewest && longest * 4 >= n ? std::max(forward, backward) : 0;
}

}  // namespace

double summation_variance(const double* addends, size_t n, double exact,
                          const SummationOrder& order) {
  const double squares = std::max(
      {forward_squares(addends, n), backward_squares(addends, n), lane_squares(addends, n)});
  double variance = order.roundoff * order.roundoff * squares;
  const double coherent =
      order.roundoff * coherent_reach(addends, n, order.roundoff) / order.lambda;
  if (std::isfinite(coherent)) variance = std::max(variance, coherent * coherent);
  if (order.roundoff != 0x1p-24) return variance;  // the trials below are in float
  std::vector<float> narrow(n);
  for (size_t i = 0; i < n; ++i) narrow[i] = static_cast<float>(addends[i]);
  double worst = 0;
  for (const FloatSum sum : float_sums) {
    worst = std::max(worst, std::fabs(static_cast<double>(sum(narrow.data(), n)) - exact));
  }
  const double sigma = 2 / order.lambda * worst;
  return std::isfinite(sigma) ? std::max(variance, sigma * sigma) : variance;
}

namespace {

void sequential_scan(const float* p, size_t n, float carry, float* result) {
  for (size_t i = 0; i < n; ++i) result[i] = carry += p[i];
}

// Blocks of 32 by doubling strides, each added to the sum of those before it.
void warp_scan(const float* p, size_t n, float* result) {
  float carry = 0;
  for (size_t begin = 0; begin < n; begin += lanes) {
    const size_t width = std::min(lanes, n - begin);
    std::array<float, lanes> s = {};
    std::copy_n(p + begin, width, s.begin());
    for (size_t step = 1; step < width; step *= 2) {
      for (size_t i = width; i-- > step;) s[i] += s[i - step];
    }
    for (size_t i = 0; i < width; ++i) result[begin + i] = carry + s[i];
    carry += s[width - 1];
  }
}

// Each chunk alone, then the sum of the chunks before it is added.
void chunk_scan(const float* p, size_t n, float* result) {
  constexpr size_t chunks = 8;
  float carry = 0;
  for (size_t c = 0; c < chunks; ++c) {
    const size_t begin = n * c / chunks, end = n * (c + 1) / chunks;
    sequential_scan(p + begin, end - begin, 0, result + begin);
    const float total = begin < end ? result[end - 1] : 0;
    for (size_t i = begin; i < end; ++i) result[i] += carry;
    carry += total;
  }
}

}  // namespace

std::vector<double> scan_variances(const double* addends, size_t n, const double* exact,
                                   const SummationOrder& order) {
  std::vector<float> narrow(addends, addends + n), scanned[3];
  for (std::vector<float>& s : scanned) s.resize(n);
  sequential_scan(narrow.data(), n, 0, scanned[0].data());
  warp_scan(narrow.data(), n, scanned[1].data());
  chunk_scan(narrow.data(), n, scanned[2].data());
  std::vector<double> variances(n);
  double squares = 0, forward = 0, worst = 0;
  size_t examined = 0;  // the prefix whose addends have been compared, a power of two
  bool coherent = false;
  for (size_t i = 0; i < n; ++i) {
    squares += exact[i] * exact[i];
    forward += std::fabs(exact[i]);
    if (i >= examined) {
      examined = std::min(n, std::max<size_t>(2 * examined, 8));
      coherent = coherent_reach(addends, examined, order.roundoff) > 0;
    }
    for (const std::vector<float>& s : scanned) {
      const double deviation = std::fabs(static_cast<double>(s[i]) - exact[i]);
      if (std::isfinite(deviation)) worst = std::max(worst, deviation);
    }
    const double sigma =
        std::max(2 * worst, coherent ? order.roundoff * forward : 0) / order.lambda;
    variances[i] = std::max(order.roundoff * order.roundoff * squares, sigma * sigma);
  }
  return variances;
}

WelfordDeviation welford_deviation(const double* x, size_t n, double mean, double variance) {
  float m = 0, s = 0;
  for (size_t i = 0; i < n; ++i) {
    const float value = static_cast<float>(x[i]);
    const float delta = value - m;
    m += delta / static_cast<float>(i + 1);
    s += delta * (value - m);
  }
  const double count = static_cast<double>(n);
  return {std::fabs(static_cast<double>(m) - mean),
          std::fabs(static_cast<double>(s) / count - variance)};
}

double rescaling_error(const double* shift, const double* w, const double* v, size_t stride,
                       size_t n, double share, double roundoff) {
  double error = 0, weight = 0, sum = 0;
  double highest = shift[0];
  for (size_t i = 0; i < n; ++i) {
    if (shift[i] > highest) {
      const double rise = std::min(shift[i] - highest, 1100.0);
      highest = shift[i];
      const double factor = 1.25 * roundoff * (4 + 2 * rise);  // of exp(old - new)
      // Numerator and denominator share the factor, and each rounds its own product.
      error += factor * std::fabs(sum - share * weight) +
               roundoff * (std::fabs(sum) + std::fabs(share) * weight);
    }
    weight += w[i];
    sum += w[i] * v[i * stride];
  }
  return error;
}

OnlineTrial::Style OnlineTrial::style(const double* shift, size_t n, size_t block) {
  Style s{std::vector<float>(n), std::vector<float>(n, 1.0f), 0};
  double highest = -std::numeric_limits<double>::infinity();
  for (size_t begin = 0; begin < n; begin += block) {
    const size_t end = std::min(begin + block, n);
    const double next = std::max(highest, *std::max_element(shift + begin, shift + end));
    s.factor[begin] = begin == 0 ? 0 : std::exp(static_cast<float>(highest - next));
    highest = next;
    for (size_t i = begin; i < end; ++i) {
      s.weight[i] = std::exp(static_cast<float>(shift[i] - highest));
      s.sum = s.sum * s.factor[i] + s.weight[i];
    }
  }
  return s;
}

OnlineTrial::OnlineTrial(const double* shift, size_t n)
    : styles_{style(shift, n, 1), style(shift, n, lanes)} {}

double OnlineTrial::sum_error(double exact) const {
  double worst = 0;
  for (const Style& s : styles_) {
    worst = std::max(worst, std::fabs(static_cast<double>(s.sum) - exact));
  }
  return worst;
}

double OnlineTrial::mean_error(const double* v, size_t stride, double exact) const {
  double worst = 0;
  for (const Style& s : styles_) {
    float sum = 0;
    for (size_t i = 0; i < s.weight.size(); ++i) {
      sum = sum * s.factor[i] + s.weight[i] * static_cast<float>(v[i * stride]);
    }
    worst = std::max(worst, std::fabs(static_cast<double>(sum / s.sum) - exact));
  }
  return worst;
}

}  // namespace warpfuzz
