// Exact arithmetic (NUMERICS 3.3): integers so small that the sum of all |a b| stays within 2^24
// quanta, hence every order of summation in float32 is exact and any difference is a defect. The
// amplitudes shrink with the length. Pairs cancel, so the result is a small number while partial
// sums are not: that is what a narrower accumulator cannot follow.
#include <algorithm>

#include "seeds/law_functions.h"
#include "seeds/pairs.h"

namespace warpfuzz {
namespace {

// Of 2^24 quanta, a few are left to the unpaired elements.
constexpr uint64_t paired_budget = (1u << 24) - (1u << 15);
constexpr uint64_t first_amplitude = 127;    // the operand whose pairs negate: 7 bits
constexpr uint64_t second_amplitude = 63;    // the others: 6 bits
constexpr uint64_t unpaired_amplitude = 31;  // 8 of them, times 1: results fit 8 bits
constexpr uint64_t wide_amplitude = 4095;    // 12 bits: more than tf32 and bfloat16 inputs hold

uint64_t square_root(uint64_t x) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= x) root |= bit;
  }
  return root;
}

struct Amplitudes {
  uint64_t paired = 1;
  uint64_t unpaired = 1;
  uint64_t stride = 1;  // only every stride-th pair is not zero
};

Amplitudes amplitudes(const LawArguments& arguments, uint64_t paired, uint64_t length) {
  const auto limit = static_cast<uint64_t>(largest_exact_integer(arguments.dtype));
  Amplitudes result;
  result.stride = 1 + paired / paired_budget;
  if (arguments.wide) {
    if (arguments.pairs_negate) {
      result.paired = std::min({wide_amplitude, paired_budget / length, limit});
      result.paired = std::max<uint64_t>(result.paired, 1);
      result.unpaired = std::min(wide_amplitude, limit);
    }
    return result;
  }
  uint64_t first = first_amplitude;
  uint64_t second = second_amplitude;
  if (paired * first * second > paired_budget) {
    second = std::clamp<uint64_t>(square_root(paired_budget / 2 / paired), 1, second);
    first = std::clamp<uint64_t>(paired_budget / (paired * second), 1, first);
  }
  result.paired = std::min(arguments.pairs_negate ? first : second, limit);
  if (arguments.pairs_negate) result.unpaired = std::min(unpaired_amplitude, limit);
  return result;
}

// A nonzero integer of at most this magnitude; odd ones use all bits of the significand.
double integer(uint64_t bits, uint64_t amplitude, bool odd) {
  uint64_t magnitude = (bits >> 32) * amplitude >> 32;  // below the amplitude
  magnitude = odd ? magnitude | 1 : magnitude + 1;
  magnitude = std::min(magnitude, amplitude);
  return flip_sign(static_cast<double>(static_cast<int64_t>(magnitude)), bits);
}

}  // namespace

void lattice_law(const LawArguments& arguments, std::span<double> values) {
  const Generator generator(arguments.seed);
  const PairPlan plan(arguments.length);
  RankCursor rank_of(plan);
  const auto length = static_cast<uint64_t>(arguments.length);
  const Amplitudes amplitude = amplitudes(arguments, plan.paired(), length);
  // Locals, so that the loop holds them in registers.
  const uint64_t negate = arguments.pairs_negate ? 1 : 0;
  const uint64_t paired = plan.paired();
  const bool odd = arguments.wide;
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t lane) {
    const uint64_t rank = rank_of(position);
    const uint64_t first = lane * length;
    if (rank >= paired) {
      values[index] = integer(generator.bits(first + rank), amplitude.unpaired, true);
    } else if (amplitude.stride > 1 && rank / 2 % amplitude.stride != 0) {
      values[index] = 0;
    } else {
      const uint64_t bits = generator.bits(first + rank / 2);
      values[index] = integer(bits ^ (rank & negate), amplitude.paired, odd);
    }
  });
}

// -1, 0 or 1, nonzero in at most 128 places of each lane, the same places in every operand: sums
// and sums of products stay below 2^8, exact in any accumulator of 8 bits.
void coarse_lattice_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr uint64_t most_places = 128;
  const auto length = static_cast<uint64_t>(arguments.length);
  const uint64_t stride = std::max<uint64_t>((length + most_places - 1) / most_places, 1);
  const Generator places(length, 1);
  const Generator generator(arguments.seed);
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t) {
    const bool chosen =
        stride == 1 || position % stride == (places.bits(position / stride) >> 16) % stride;
    const uint64_t bits = generator.bits(index);
    values[index] = chosen && (bits & 6) != 0 ? random_sign(bits) : 0;
  });
}

// Pairs of opposite sign and of magnitudes over three decades; the rest is a few normal elements,
// which are all that is left of the sum.
void cancelling_pairs_law(const LawArguments& arguments, std::span<double> values) {
  const Generator generator(arguments.seed);
  const Generator scales(arguments.seed, 1);
  const PairPlan plan(arguments.length);
  RankCursor rank_of(plan);
  const auto length = static_cast<uint64_t>(arguments.length);
  const uint64_t paired = plan.paired();
  const bool negate = arguments.pairs_negate;
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t lane) {
    const uint64_t rank = rank_of(position);
    const uint64_t key = lane * length + (rank < paired ? rank / 2 : rank);
    double value = generator.normal(key);
    if (rank < paired && negate) {
      const auto exponent = static_cast<int>((scales.bits(key) >> 32) * 11 >> 32);
      value = flip_sign(value * power_of_two(exponent), rank);
    }
    values[index] = value;
  });
}

}  // namespace warpfuzz
