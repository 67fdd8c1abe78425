#include "fuzzers/error_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "schemas/check.h"

namespace warpfuzz {

void ErrorSketch::Bucket::merge(const Bucket& other) {
  if (other.count == 0) return;
  low = count == 0 ? other.low : std::min(low, other.low);
  high = std::max(high, other.high);
  count += other.count;
}

void ErrorSketch::add(double error) {
  WARPFUZZ_CHECK(error >= 0 && std::isfinite(error), "an error of {}", error);
  ++count_;
  maximum_ = std::max(maximum_, error);
  if (error < exact_values && error == std::floor(error)) {
    ++exact_[static_cast<size_t>(error)];
    return;
  }
  const auto bits = std::bit_cast<uint64_t>(error);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const int octave = std::clamp(exponent, lowest_octave, highest_octave);
  const size_t bucket = exponent < octave   ? 0
                        : exponent > octave ? buckets_per_octave - 1
                                            : bits >> 48 & (buckets_per_octave - 1);
  if (octaves_.empty()) octaves_.resize(highest_octave - lowest_octave + 1);
  Octave& buckets = octaves_[static_cast<size_t>(octave - lowest_octave)];
  if (buckets.empty()) buckets.resize(buckets_per_octave);
  buckets[bucket].merge({1, error, error});
}

void ErrorSketch::merge(const ErrorSketch& other) {
  count_ += other.count_;
  maximum_ = std::max(maximum_, other.maximum_);
  for (size_t i = 0; i < exact_values; ++i) exact_[i] += other.exact_[i];
  octaves_.resize(std::max(octaves_.size(), other.octaves_.size()));
  for (size_t i = 0; i < other.octaves_.size(); ++i) {
    if (other.octaves_[i].empty()) continue;
    octaves_[i].resize(buckets_per_octave);
    for (size_t k = 0; k < buckets_per_octave; ++k) octaves_[i][k].merge(other.octaves_[i][k]);
  }
}

std::vector<ErrorSketch::Step> ErrorSketch::steps() const {
  std::vector<Step> steps;
  for (size_t i = 0; i < exact_values; ++i) {
    const auto value = static_cast<double>(i);
    if (exact_[i] > 0) steps.push_back({value, value, exact_[i]});
  }
  for (const Octave& buckets : octaves_) {
    for (const Bucket& bucket : buckets) {
      if (bucket.count > 0) steps.push_back({bucket.low, bucket.high, bucket.count});
    }
  }
  // A whole number inside a bucket comes before or after all of it: wrong by less than its width.
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.low + a.high < b.low + b.high; });
  return steps;
}

double ErrorSketch::percentile(double q) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(q * static_cast<double>(count_));
  const auto rank = std::clamp(static_cast<uint64_t>(std::max(wanted, 1.0)), uint64_t{1}, count_);
  if (rank == count_) return maximum_;
  uint64_t before = 0;
  for (const Step& step : steps()) {
    if (before + step.count < rank) {
      before += step.count;
      continue;
    }
    // As if the errors of a bucket lay evenly between its ends.
    const auto gaps = static_cast<double>(step.count - 1);
    const auto place = static_cast<double>(rank - before - 1);
    return gaps == 0 ? step.low : step.low + (step.high - step.low) * (place / gaps);
  }
  return maximum_;
}

}  // namespace warpfuzz
