#include "reference/crew.h"
#include "seeds/law_functions.h"

namespace warpfuzz {
namespace {

// value = function of the generator and the element's index.
template <class Function>
void fill(const LawArguments& arguments, std::span<double> values, Function f) {
  const Generator generator(arguments.seed);
  Crew::share(values.size(), Crew::elements / 2, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) values[i] = f(generator, i);
  });
}

}  // namespace

void normal_law(const LawArguments& arguments, std::span<double> values) {
  fill(arguments, values, [](const Generator& g, size_t i) { return g.normal(i); });
}

void uniform_law(const LawArguments& arguments, std::span<double> values) {
  fill(arguments, values, [](const Generator& g, size_t i) { return g.uniform(i); });
}

// Random sign, an exponent uniform over those of the type's normal values, a uniform significand.
void log_uniform_law(const LawArguments& arguments, std::span<double> values) {
  const bool floating = info(arguments.dtype).floating;
  const int lowest = floating ? traits(arguments.dtype).minimum_exponent : 0;
  const auto top = static_cast<int>(std::bit_cast<uint64_t>(largest_value(arguments.dtype)) >> 52);
  const int binades = top - 1023 - lowest + 1;
  const auto count = static_cast<uint64_t>(binades);
  fill(arguments, values, [=](const Generator& g, size_t i) {
    const uint64_t bits = g.bits(i);
    const double significand = 1 + static_cast<double>(bits >> 32) * 0x1p-32;
    // 15 bits for the exponent, so that sign and significand are independent of it.
    const auto exponent = static_cast<int>((bits >> 1 & 0x7FFF) * count >> 15);
    return random_sign(bits) * significand * power_of_two(lowest + exponent);
  });
}

// Standard deviation 1 around one mean in [100, 1000) for the whole tensor.
void large_mean_law(const LawArguments& arguments, std::span<double> values) {
  const double mean = 100 + 900 * Generator(arguments.seed, 1).uniform(0);
  fill(arguments, values, [=](const Generator& g, size_t i) { return mean + g.normal(i); });
}

// Around 0, with a variance below, near or little above the usual eps (1e-5, 1e-6).
void tiny_spread_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double spreads[] = {1e-3, 3e-3, 1e-4, 1e-2};
  const double spread = spreads[arguments.seed % 4];
  fill(arguments, values, [=](const Generator& g, size_t i) { return spread * g.normal(i); });
}

// A leak of zeros into a maximum or a sum of exponentials dwarfs these.
void very_negative_law(const LawArguments& arguments, std::span<double> values) {
  const double mean = arguments.seed % 2 == 0 ? -20 : -100;
  fill(arguments, values, [=](const Generator& g, size_t i) { return mean + g.normal(i); });
}

// Normal; one element in a hundred is 10 to 10,000 times larger.
void outliers_law(const LawArguments& arguments, std::span<double> values) {
  static constexpr double factors[] = {10, 100, 1000, 10000};
  const Generator choice(arguments.seed, 1);
  fill(arguments, values, [&](const Generator& g, size_t i) {
    const uint64_t bits = choice.bits(i);
    const bool outlier = (bits >> 32) * 100 >> 32 == 0;
    return g.normal(i) * (outlier ? factors[bits & 3] : 1);
  });
}

}  // namespace warpfuzz
