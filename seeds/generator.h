// The counter-based generator behind every value law, and the basic distributions. Element i of a
// stream is a pure function of (seed, stream, i), so any element can be made anywhere, on a GPU
// too: constexpr, which nvcc compiles for the device. For that only integer operations and
// + - * / of doubles are used, never the math library.
//
// The algorithm: SplitMix64 with random access. mix() is the finaliser of SplitMix64 (Stafford's
// variant 13 of MurmurHash3's); bits(i) = mix(state + i * golden), the state being mixed from seed
// and stream so that neighbouring seeds share nothing. A test pins its outputs.
#pragma once

#include <cstdint>

namespace warpfuzz {

constexpr uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

class Generator {
 public:
  constexpr explicit Generator(uint64_t seed, uint64_t stream = 0)
      : state_(mix(seed + (stream + 1) * 0xD1342543DE82EF95u)) {}

  constexpr uint64_t bits(uint64_t counter) const {
    return mix(state_ + counter * 0x9E3779B97F4A7C15u);
  }

  // In [0, 1), a multiple of 2^-53. Rounding to a narrow type may yield 1.
  constexpr double uniform(uint64_t counter) const {
    return static_cast<double>(bits(counter) >> 11) * 0x1p-53;
  }

  // Mean 0, variance 1. A binomial (64 fair bits) smoothed by a triangular dither over two steps:
  // its density interpolates the binomial's linearly. Excess kurtosis -0.03; |x| < 8.21; the tails
  // beyond 3, 4, 5 are 0.92, 0.74, 0.42 times those of a true normal.
  constexpr double normal(uint64_t counter) const {
    const int ones = ones_of(bits(2 * counter));
    const uint64_t dither = bits(2 * counter + 1);
    const auto steps =
        static_cast<int64_t>(dither >> 32) - static_cast<int64_t>(dither & 0xFFFFFFFF);
    // 1 / sqrt(16 + 1/6), the variances of the binomial and of the dither.
    return (static_cast<double>(ones - 32) + static_cast<double>(steps) * 0x1p-32) *
           0.24870800168690346;
  }

 private:
  // std::popcount, which nvcc turns into nothing in device code, without a word.
  static constexpr int ones_of(uint64_t bits) {
    bits -= bits >> 1 & 0x5555'5555'5555'5555;
    bits = (bits & 0x3333'3333'3333'3333) + (bits >> 2 & 0x3333'3333'3333'3333);
    bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
    return static_cast<int>(bits * 0x0101'0101'0101'0101 >> 56);
  }

  uint64_t state_;
};

}  // namespace warpfuzz
