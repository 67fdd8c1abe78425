#include "reference/number_format.h"

#include <immintrin.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/crew.h"
#include "reference/float_encoding.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr size_t dtype_count = std::size(encodings);

constexpr bool in_enum_order() {
  for (size_t i = 0; i < dtype_count; ++i) {
    if (encodings[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order());

const Encoding& encoding(DType dtype) { return encodings[static_cast<size_t>(dtype)]; }

double decode_floating(const Encoding& f, uint64_t bits) {
  if (f.dtype == DType::float64) return std::bit_cast<double>(bits);
  const uint64_t magnitude = bits & (sign_bit(f) - 1);
  const bool negative = (bits & sign_bit(f)) != 0;
  double value;
  if (magnitude > f.largest) {
    value = f.has_infinity && magnitude == f.infinity ? std::numeric_limits<double>::infinity()
                                                      : std::numeric_limits<double>::quiet_NaN();
  } else {
    const uint64_t fraction = magnitude & ((uint64_t{1} << f.fraction_bits) - 1);
    const int exponent = static_cast<int>(magnitude >> f.fraction_bits);
    value = exponent == 0
                ? std::ldexp(static_cast<double>(fraction), minimum_exponent(f) - f.fraction_bits)
                : std::ldexp(static_cast<double>(fraction | (uint64_t{1} << f.fraction_bits)),
                             exponent - bias(f) - f.fraction_bits);
  }
  return negative ? -value : value;
}

template <class Integer>
uint64_t encode_integer(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  Integer result;
  if (rounded >= std::ldexp(1.0, std::numeric_limits<Integer>::digits)) {
    result = std::numeric_limits<Integer>::max();
  } else if (rounded <= static_cast<double>(std::numeric_limits<Integer>::min())) {
    result = std::numeric_limits<Integer>::min();
  } else {
    result = static_cast<Integer>(rounded);
  }
  return static_cast<uint64_t>(static_cast<std::make_unsigned_t<Integer>>(result));
}

struct IntegerCodec {
  double (*decode)(uint64_t);
  uint64_t (*encode)(double);
};
template <class Integer>
constexpr IntegerCodec integer_codec = {
    [](uint64_t bits) { return static_cast<double>(static_cast<Integer>(bits)); },
    encode_integer<Integer>};
constexpr IntegerCodec boolean_codec = {
    [](uint64_t bits) { return (bits & 0xff) != 0 ? 1.0 : 0.0; },
    [](double value) -> uint64_t { return value != 0; }};

const IntegerCodec& integers(DType dtype) {
  static constexpr IntegerCodec codecs[] = {integer_codec<int64_t>, integer_codec<int32_t>,
                                            integer_codec<int8_t>, integer_codec<uint8_t>,
                                            boolean_codec};
  return codecs[static_cast<size_t>(dtype) - static_cast<size_t>(DType::int64)];
}

FormatTraits make_traits(DType dtype) {
  const Encoding& f = encoding(dtype);
  if (f.exponent_bits == 0) {
    const double largest = integers(dtype).decode(integers(dtype).encode(1e300));
    return {0, 0, largest, std::numeric_limits<double>::infinity(), 1, 1, false};
  }
  const double largest = decode_floating(f, f.largest);
  const int precision = f.fraction_bits + 1;
  const double top = power_of_two_below(largest);
  double edge = largest + std::ldexp(top, -precision);  // float64: rounds to infinity, as it should
  // The tie beyond an even largest value rounds back to it.
  if ((f.largest & 1) == 0) edge = std::nextafter(edge, std::numeric_limits<double>::infinity());
  const int emin = minimum_exponent(f);
  return {precision,
          emin,
          largest,
          edge,
          std::ldexp(1.0, emin),
          std::ldexp(1.0, emin - f.fraction_bits),
          f.has_infinity};
}

template <class Word>
void decode_each(DType dtype, const std::byte* data, std::span<double> values, size_t from) {
  for (size_t i = from; i < values.size(); ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof(Word), sizeof(Word));
    values[i] = decode_element(dtype, word);
  }
}

template <class Word>
void encode_each(DType dtype, std::span<const double> values, std::byte* data, size_t from) {
  for (size_t i = from; i < values.size(); ++i) {
    const Word word = static_cast<Word>(encode_element(dtype, values[i]));
    std::memcpy(data + i * sizeof(Word), &word, sizeof(Word));
  }
}

// Vector decoders: eight (four) elements a step, the number done returned. A float conversion to
// double is exact; denormals-are-zero would break that, so callers check the mode.
size_t decode_float32(const std::byte* data, std::span<double> values) {
  size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {
    const __m128 narrow = _mm_loadu_ps(reinterpret_cast<const float*>(data + 4 * i));
    _mm256_storeu_pd(&values[i], _mm256_cvtps_pd(narrow));
  }
  return i;
}

void store_widened(__m256 narrow, double* to) {
  _mm256_storeu_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128(narrow)));
  _mm256_storeu_pd(to + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(narrow, 1)));
}

size_t decode_float16(const std::byte* data, std::span<double> values) {
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 2 * i));
    store_widened(_mm256_cvtph_ps(half), &values[i]);
  }
  return i;
}

size_t decode_bfloat16(const std::byte* data, std::span<double> values) {
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 2 * i));
    const __m256i wide = _mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16);
    store_widened(_mm256_castsi256_ps(wide), &values[i]);
  }
  return i;
}

size_t encode_float32(std::span<const double> values, std::byte* data) {
  const __m128 canonical = _mm_castsi128_ps(_mm_set1_epi32(0x7fc0'0000));
  size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {
    const __m128 narrow = _mm256_cvtpd_ps(_mm256_loadu_pd(&values[i]));
    const __m128 nan = _mm_cmpunord_ps(narrow, narrow);
    _mm_storeu_ps(reinterpret_cast<float*>(data + 4 * i), _mm_blendv_ps(narrow, canonical, nan));
  }
  return i;
}

// Round to nearest, subnormals kept on input and output.
bool plain_mode() { return (_mm_getcsr() & 0xe040u) == 0; }

size_t decode_vectors(DType dtype, const std::byte* data, std::span<double> values) {
  using Decoder = size_t (*)(const std::byte*, std::span<double>);
  static constexpr Decoder decoders[] = {decode_float32, decode_float16, decode_bfloat16};
  const size_t row = static_cast<size_t>(dtype);
  return row < std::size(decoders) && plain_mode() ? decoders[row](data, values) : 0;
}

}  // namespace

const FormatTraits& traits(DType dtype) {
  static const std::array<FormatTraits, dtype_count> table = [] {
    std::array<FormatTraits, dtype_count> all;
    for (size_t i = 0; i < dtype_count; ++i) all[i] = make_traits(static_cast<DType>(i));
    return all;
  }();
  return table[static_cast<size_t>(dtype)];
}

double decode_element(DType dtype, uint64_t bits) {
  const Encoding& f = encoding(dtype);
  return f.exponent_bits == 0 ? integers(dtype).decode(bits) : decode_floating(f, bits);
}

uint64_t encode_element(DType dtype, double value) {
  const Encoding& f = encoding(dtype);
  return f.exponent_bits == 0 ? integers(dtype).encode(value) : encode_floating(f, value);
}

void decode_elements(DType dtype, std::span<const std::byte> data, std::span<double> values) {
  using Decoder = void (*)(DType, const std::byte*, std::span<double>, size_t);
  const size_t bytes = encoding(dtype).bytes;
  WARPFUZZ_CHECK(data.size() == bytes * values.size(), "{} bytes for {} elements", data.size(),
                 values.size());
  static constexpr Decoder by_width[] = {decode_each<uint8_t>, decode_each<uint16_t>,
                                         decode_each<uint32_t>, decode_each<uint64_t>};
  const size_t done = decode_vectors(dtype, data.data(), values);
  by_width[std::countr_zero(bytes)](dtype, data.data(), values, done);
}

void encode_elements(DType dtype, std::span<const double> values, std::span<std::byte> data) {
  using Encoder = void (*)(DType, std::span<const double>, std::byte*, size_t);
  const size_t bytes = encoding(dtype).bytes;
  WARPFUZZ_CHECK(data.size() == bytes * values.size(), "{} bytes for {} elements", data.size(),
                 values.size());
  static constexpr Encoder by_width[] = {encode_each<uint8_t>, encode_each<uint16_t>,
                                         encode_each<uint32_t>, encode_each<uint64_t>};
  const bool vectors = dtype == DType::float32 && plain_mode();
  const size_t done = vectors ? encode_float32(values, data.data()) : 0;
  by_width[std::countr_zero(bytes)](dtype, values, data.data(), done);
}

std::vector<double> decode_tensor(const Tensor& tensor) {
  std::vector<double> values;
  decode_tensor(tensor, values);
  return values;
}

void decode_tensor(const Tensor& tensor, std::vector<double>& values) {
  values.resize(static_cast<size_t>(tensor.size()));
  const size_t bytes = encoding(tensor.dtype).bytes;
  const std::span<const std::byte> data = tensor.data;
  WARPFUZZ_CHECK(data.size() == bytes * values.size(), "{} bytes for {} elements", data.size(),
                 values.size());
  Crew::share(values.size(), Crew::elements, [&](size_t begin, size_t end) {
    decode_elements(tensor.dtype, data.subspan(begin * bytes, (end - begin) * bytes),
                    std::span(values).subspan(begin, end - begin));
  });
}

void encode_tensor(std::span<const double> values, Tensor& tensor) {
  WARPFUZZ_CHECK(values.size() == static_cast<size_t>(tensor.size()), "{} values for {} elements",
                 values.size(), tensor.size());
  const size_t bytes = encoding(tensor.dtype).bytes;
  tensor.data.resize(values.size() * bytes);
  const std::span<std::byte> data = tensor.data;
  Crew::share(values.size(), Crew::elements, [&](size_t begin, size_t end) {
    encode_elements(tensor.dtype, values.subspan(begin, end - begin),
                    data.subspan(begin * bytes, (end - begin) * bytes));
  });
}

double unit_in_last_place(DType dtype, double value) {
  const FormatTraits& t = traits(dtype);
  if (t.precision == 0) return 1;
  if (!std::isfinite(value)) value = t.largest;
  if (dtype == DType::float64) {  // power_of_two_below does not reach down there
    const int exponent = value == 0 ? t.minimum_exponent : std::ilogb(value);
    return std::ldexp(1.0, std::max(exponent, t.minimum_exponent) - 52);
  }
  return std::max(std::ldexp(power_of_two_below(value), 1 - t.precision), t.smallest_subnormal);
}

double unit_roundoff(DType dtype) {
  const FormatTraits& t = traits(dtype);
  return t.precision == 0 ? 0 : std::ldexp(1.0, -t.precision);
}

}  // namespace warpfuzz
