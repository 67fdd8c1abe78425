// The distribution of errors without the errors: 64 exact counters for whole numbers below 64 and
// 16 buckets per octave for everything else, each with the least and the largest error it has seen.
// A percentile is never off by more than the width of a bucket, 6 percent, and on distributions
// without gaps within 2 percent; it is exact where an error is a whole number below 64 or the only
// one of its bucket. The order of additions and of merges does not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpfuzz {

class ErrorSketch {
 public:
  void add(double error);  // finite, not negative
  void merge(const ErrorSketch& other);

  uint64_t count() const { return count_; }
  double maximum() const { return maximum_; }
  // The smallest error that at least the share `q` of them do not exceed; 0 if there is none.
  double percentile(double q) const;

  // Errors that lie between two values, both seen.
  struct Step {
    double low, high;
    uint64_t count;
  };
  std::vector<Step> steps() const;  // ascending

 private:
  static constexpr size_t exact_values = 64;
  static constexpr size_t buckets_per_octave = 16;
  // Beyond them: the last bucket of each end. The spacing of float32 spans 277 octaves.
  static constexpr int lowest_octave = -40, highest_octave = 320;

  struct Bucket {
    uint64_t count = 0;
    double low = 0, high = 0;

    void merge(const Bucket& other);
  };
  using Octave = std::vector<Bucket>;  // empty, or buckets_per_octave of them

  std::array<uint64_t, exact_values> exact_{};
  std::vector<Octave> octaves_;
  uint64_t count_ = 0;
  double maximum_ = 0;
};

}  // namespace warpfuzz
