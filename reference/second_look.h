// The second look at a reduction: what the first look takes for independent rounding errors may be
// correlated (sorted data, few distinct values, constants), so the order of summation is tried out
// (reference/NUMERICS.md, "Second look"). Costs several passes; only for rows that have exceeded.
#pragma once

#include <cstddef>
#include <vector>

namespace warpfuzz {

struct SummationOrder {
  double roundoff;  // u of the accumulator
  double lambda;
};

// A variance that covers the honest orders of summing addends[0..n) to `exact`: from the partial
// sums of three orders, and from float sums actually taken in five.
double summation_variance(const double* addends, size_t n, double exact,
                          const SummationOrder& order);

// The same for each prefix sum of a scan: from the partial sums of the sequential one, and from
// float scans taken sequentially, in warps of 32 and in 8 chunks.
std::vector<double> scan_variances(const double* addends, size_t n, const double* exact,
                                   const SummationOrder& order);

struct WelfordDeviation {
  double mean;      // |Welford's float mean - mean|
  double variance;  // |Welford's float variance - variance|
};
WelfordDeviation welford_deviation(const double* x, size_t n, double mean, double variance);

// An online softmax multiplies its partial sums whenever the running maximum rises: the sum over
// those moments of (relative error of the factor) * |prefix - share * whole prefix weight|, where
// prefix sums run over w_j v_j and share = 0 gives the error of a plain sum. `shift` holds x - max.
double rescaling_error(const double* shift, const double* w, const double* v, size_t stride,
                       size_t n, double share, double roundoff);

// An online softmax carried out in float, key by key and in blocks of 32: the weights relative to
// the running maximum round differently from the final ones.
class OnlineTrial {
 public:
  OnlineTrial(const double* shift, size_t n);
  // |sum of the weights - exact|, and |weighted mean of v - exact|: the larger of the two styles.
  double sum_error(double exact) const;
  double mean_error(const double* v, size_t stride, double exact) const;

 private:
  struct Style {
    std::vector<float> weight;  // relative to the running maximum
    std::vector<float> factor;  // applied to the sums before the element is added
    float sum;
  };
  static Style style(const double* shift, size_t n, size_t block);
  Style styles_[2];
};

}  // namespace warpfuzz
