#include <algorithm>

#include "seeds/law_functions.h"

namespace warpfuzz {

// The row-major index, modulo what the type counts exactly, at one of four scales: an output shows
// which elements it was made of.
void ramp_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double scales[] = {1, 0x1p-4, 0x1p-10, -1};
  const double scale = scales[arguments.seed % 4];
  const auto period = static_cast<uint64_t>(largest_exact_integer(arguments.dtype));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % period) * scale;
}

void constant_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double constants[] = {0, 1, 0.1, -1, 100, 0.5, -20, 1e-3};
  std::fill(values.begin(), values.end(), constants[arguments.seed % std::size(constants)]);
}

void all_equal_law(const LawArguments& arguments, std::span<double> values) {
  std::fill(values.begin(), values.end(), Generator(arguments.seed).normal(0));
}

// From -3 to 3 along the reduction axis, each element random within its step; odd seeds descend.
void sorted_law(const LawArguments& arguments, std::span<double> values) {
  const Generator generator(arguments.seed);
  const double step = 6 / static_cast<double>(arguments.length);
  const double sign = arguments.seed % 2 == 0 ? 1 : -1;
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t) {
    const double place = static_cast<double>(position) + generator.uniform(index);
    values[index] = sign * (place * step - 3);
  });
}

// One nonzero element per lane, at a random position.
void one_hot_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double heights[] = {1, 64, -1, 1000};
  const Generator generator(arguments.seed);
  const double height = heights[arguments.seed % 4];
  const auto length = static_cast<uint64_t>(arguments.length);
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t lane) {
    values[index] = position == (generator.bits(lane) >> 16) % length ? height : 0;
  });
}

// Normal, but the last element of each lane dominates maximum and sum.
void tail_spike_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double spikes[] = {16, 64, 256, 1024};
  const Generator generator(arguments.seed);
  const double spike = spikes[arguments.seed % 4];
  const auto last = static_cast<uint64_t>(arguments.length - 1);
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t) {
    values[index] = position == last ? spike : generator.normal(index);
  });
}

// Rises along the reduction axis with a little noise: every block of an online algorithm brings a
// new maximum.
void rising_maximum_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double ranges[] = {20, 60, 8, 200};
  const Generator generator(arguments.seed);
  const double range = ranges[arguments.seed % 4];
  const double step = range / static_cast<double>(arguments.length);
  for_each_place(arguments, [&](uint64_t index, uint64_t position, uint64_t) {
    values[index] =
        static_cast<double>(position) * step - range / 2 + 0.25 * generator.normal(index);
  });
}

}  // namespace warpfuzz
