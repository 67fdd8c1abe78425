#include "reference/crew.h"
#include "seeds/law_functions.h"

namespace warpfuzz {

RandomLaw make_random_law(ValueLaw law, uint64_t seed, DType dtype) {
  const int lowest = info(dtype).floating ? traits(dtype).minimum_exponent : 0;
  return {law, seed, lowest, largest_value(dtype)};
}

template <ValueLaw law>
void random_law(const LawArguments& arguments, std::span<double> values) {
  const RandomLaw elements = make_random_law(law, arguments.seed, arguments.dtype);
  Crew::share(values.size(), Crew::elements / 2, [&](size_t begin, size_t end) {
    // A copy: of constants that the loop keeps in registers.
    const RandomLaw own = elements;
    for (size_t i = begin; i < end; ++i) {
      values[i] = own.element<law>(arguments.first + i);
    }
  });
}

template void random_law<ValueLaw::normal>(const LawArguments&, std::span<double>);
template void random_law<ValueLaw::uniform>(const LawArguments&, std::span<double>);
template void random_law<ValueLaw::log_uniform>(const LawArguments&, std::span<double>);
template void random_law<ValueLaw::large_mean>(const LawArguments&, std::span<double>);
template void random_law<ValueLaw::tiny_spread>(const LawArguments&, std::span<double>);
template void random_law<ValueLaw::very_negative>(const LawArguments&, std::span<double>);
template void random_law<ValueLaw::outliers>(const LawArguments&, std::span<double>);

}  // namespace warpfuzz
