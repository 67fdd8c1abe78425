#include "seeds/value_law.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "reference/number_format.h"
#include "schemas/check.h"
#include "seeds/law_functions.h"

namespace warpfuzz {
namespace {

struct LawRow {
  ValueLaw law;
  LawFunction fill;
  bool finite;  // elements stay finite after rounding: clamped to the type's range
};

// In enum order.
constexpr LawRow laws[] = {
    {ValueLaw::normal, random_law<ValueLaw::normal>, true},
    {ValueLaw::uniform, random_law<ValueLaw::uniform>, true},
    {ValueLaw::log_uniform, random_law<ValueLaw::log_uniform>, true},
    {ValueLaw::lattice, lattice_law, true},
    {ValueLaw::coarse_lattice, coarse_lattice_law, true},
    {ValueLaw::ramp, ramp_law, true},
    {ValueLaw::constant, constant_law, true},
    {ValueLaw::all_equal, all_equal_law, true},
    {ValueLaw::sorted, sorted_law, true},
    {ValueLaw::one_hot, one_hot_law, true},
    {ValueLaw::cancelling_pairs, cancelling_pairs_law, true},
    {ValueLaw::tail_spike, tail_spike_law, true},
    {ValueLaw::rising_maximum, rising_maximum_law, true},
    {ValueLaw::large_mean, random_law<ValueLaw::large_mean>, true},
    {ValueLaw::tiny_spread, random_law<ValueLaw::tiny_spread>, true},
    {ValueLaw::very_negative, random_law<ValueLaw::very_negative>, true},
    {ValueLaw::outliers, random_law<ValueLaw::outliers>, true},
    {ValueLaw::near_overflow, near_overflow_law, true},
    {ValueLaw::subnormal, subnormal_law, true},
    {ValueLaw::signed_zeros, signed_zeros_law, true},
    {ValueLaw::non_finite_scattered, non_finite_scattered_law, false},
    {ValueLaw::non_finite_row, non_finite_row_law, false},
    {ValueLaw::integer_extremes, integer_extremes_law, true},
};
static_assert(std::size(laws) == value_law_count);
static_assert([] {
  for (size_t i = 0; i < std::size(laws); ++i) {
    if (static_cast<size_t>(laws[i].law) != i) return false;
  }
  return true;
}());

// What the number formats do not say of integer types.
struct IntegerRange {
  DType dtype;
  double largest;
  double exact;
};
constexpr IntegerRange integer_ranges[] = {
    {DType::int64, 0x1p63, 0x1p53}, {DType::int32, 0x7FFFFFFF, 0x7FFFFFFF},
    {DType::int8, 127, 127},        {DType::uint8, 255, 255},
    {DType::boolean, 1, 1},
};
const IntegerRange& integer_range(DType dtype) {
  const auto* row = std::find_if(std::begin(integer_ranges), std::end(integer_ranges),
                                 [&](const IntegerRange& r) { return r.dtype == dtype; });
  WARPFUZZ_CHECK(row != std::end(integer_ranges), "{}", name(dtype));
  return *row;
}

double poke_value(PokeValue value, DType dtype) {
  const bool floating = info(dtype).floating;
  const FormatTraits& format = traits(dtype);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // In enum order.
  const double table[] = {
      0.0,
      -0.0,
      1.0,
      -1.0,
      std::numeric_limits<double>::quiet_NaN(),
      infinity,
      -infinity,
      largest_value(dtype),
      floating ? -largest_value(dtype) : -infinity,
      floating ? format.smallest_normal : 1,
      floating ? format.smallest_subnormal : 1,
      std::min(0x1p10, largest_value(dtype)),
      0x1p-10,
  };
  static_assert(std::size(table) == poke_value_count);
  return table[static_cast<size_t>(value)];
}

// The wide lattice needs elements of more than 12 bits in every operand that takes part, so it is
// decided for the whole call, by the first of them.
bool wide_lattice(const Case& c) {
  bool first = true;
  bool wide = false;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i].law != ValueLaw::lattice) continue;
    if (first) wide = (c.inputs[i].seed & 1) != 0;
    first = false;
    wide = wide && largest_exact_integer(c.dtype(c.schema->inputs[i])) >= 0x1p24;
  }
  return wide;
}

LawArguments law_arguments(const Case& c, size_t input, std::span<const int64_t> shape) {
  const TensorSpec& spec = c.schema->inputs[input];
  LawArguments arguments;
  arguments.seed = c.inputs[input].seed;
  arguments.dtype = c.dtype(spec);
  arguments.pairs_negate = spec.pairs_negate;
  arguments.wide = wide_lattice(c);
  const size_t reduction = spec.reduction_axis.value_or(shape.size() - 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t& part = i < reduction    ? arguments.outer
                    : i == reduction ? arguments.length
                                     : arguments.inner;
    part *= shape[i];
  }
  return arguments;
}

void apply_pokes(const TensorCase& tensor_case, Tensor& tensor) {
  const auto size = static_cast<uint64_t>(tensor.size());
  if (size == 0) return;
  const size_t bytes = info(tensor.dtype).bytes;
  for (const Poke& poke : tensor_case.pokes) {
    const uint64_t bits = encode_element(tensor.dtype, poke_value(poke.value, tensor.dtype));
    std::memcpy(tensor.data.data() + poke.position % size * bytes, &bits, bytes);
  }
}

// Positions along an axis: whatever the law gave, modulo its length.
void wrap_indices(int64_t length, Tensor& tensor) {
  std::vector<double> values = decode_tensor(tensor);
  for (double& value : values) {
    value = std::fmod(value, static_cast<double>(length));
    if (value < 0) value += static_cast<double>(length);
  }
  encode_tensor(values, tensor);
}

}  // namespace

double largest_exact_integer(DType dtype) {
  return info(dtype).floating ? power_of_two(traits(dtype).precision) : integer_range(dtype).exact;
}

double largest_value(DType dtype) {
  return info(dtype).floating ? traits(dtype).largest : integer_range(dtype).largest;
}

uint64_t random_bits(uint64_t seed, uint64_t counter) { return Generator(seed).bits(counter); }

void generate(ValueLaw law, const LawArguments& arguments, std::span<double> values) {
  WARPFUZZ_CHECK(
      values.size() == static_cast<size_t>(arguments.outer * arguments.length * arguments.inner),
      "{} values", values.size());
  if (values.empty()) return;
  const LawRow& row = laws[static_cast<size_t>(law)];
  row.fill(arguments, values);
  if (!row.finite || !info(arguments.dtype).floating) return;
  const double largest = largest_value(arguments.dtype);
  for (double& value : values) value = std::min(std::max(value, -largest), largest);
}

Tensor make_input(const Case& c, size_t input) {
  const TensorSpec& spec = c.schema->inputs[input];
  const TensorCase& tensor_case = c.inputs[input];
  Tensor tensor;
  tensor.dtype = c.dtype(spec);
  tensor.shape = c.shape(spec);
  // A broadcast tensor is one slice that stands for all along its first axis.
  const int64_t copies = tensor_case.layout == Layout::broadcast ? tensor.shape[0] : 1;
  if (tensor_case.layout == Layout::broadcast) tensor.shape[0] = std::min<int64_t>(copies, 1);
  // Kept between calls: campaigns make thousands of inputs per second.
  thread_local std::vector<double> values;
  values.assign(static_cast<size_t>(tensor.size()), 0);
  generate(tensor_case.law, law_arguments(c, input, tensor.shape), values);
  encode_tensor(values, tensor);
  apply_pokes(tensor_case, tensor);
  if (spec.index_axis) wrap_indices(c.axes[*spec.index_axis], tensor);
  if (copies > 1) {
    const size_t slice = tensor.data.size();
    tensor.shape[0] = copies;
    tensor.data.resize(slice * static_cast<size_t>(copies));
    for (size_t i = slice; i < tensor.data.size(); i += slice) {
      std::memcpy(tensor.data.data() + i, tensor.data.data(), slice);
    }
  }
  return tensor;
}

RandomLaw random_law_of(const Case& c, size_t input) {
  const TensorCase& tensor_case = c.inputs[input];
  WARPFUZZ_CHECK(is_random(tensor_case.law) && tensor_case.pokes.empty(), "{}", describe(c));
  return make_random_law(tensor_case.law, tensor_case.seed, c.dtype(c.schema->inputs[input]));
}

Tensor make_input_rows(const Case& c, size_t input, std::span<const int64_t> rows) {
  const TensorCase& tensor_case = c.inputs[input];
  WARPFUZZ_CHECK(is_random(tensor_case.law) && tensor_case.pokes.empty(), "{}", describe(c));
  Tensor tensor;
  tensor.dtype = c.dtype(c.schema->inputs[input]);
  tensor.shape = c.shape(c.schema->inputs[input]);
  tensor.shape[0] = 1;
  LawArguments arguments;
  arguments.seed = tensor_case.seed;
  arguments.dtype = tensor.dtype;
  arguments.length = tensor.size();
  const auto length = static_cast<size_t>(arguments.length);
  std::vector<double> values(rows.size() * length);
  for (size_t i = 0; i < rows.size(); ++i) {
    arguments.first = static_cast<uint64_t>(rows[i]) * length;
    generate(tensor_case.law, arguments, std::span(values).subspan(i * length, length));
  }
  tensor.shape[0] = static_cast<int64_t>(rows.size());
  encode_tensor(values, tensor);
  return tensor;
}

std::vector<Tensor> make_inputs(const Case& c) {
  std::vector<Tensor> inputs;
  inputs.reserve(c.inputs.size());
  for (size_t i = 0; i < c.inputs.size(); ++i) inputs.push_back(make_input(c, i));
  return inputs;
}

}  // namespace warpfuzz
