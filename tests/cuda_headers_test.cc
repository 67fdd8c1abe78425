// The device functions of kernels/simt/include against independent arithmetic: half and bfloat16
// against exact rationals of 640 bits, the others row by row (the rows are in cuda/*.cu, which also
// compile with nvcc).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/compile.h"

namespace warpfuzz {
namespace {

using Exact = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<640, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

// A 16-bit binary format, from its definition.
struct Format {
  std::string name;
  int significand_bits;  // with the implicit one
  int exponent_bias;

  int fraction_bits() const { return significand_bits - 1; }
  uint16_t infinity() const {
    return static_cast<uint16_t>(0x7fff >> fraction_bits() << fraction_bits());
  }

  double value(uint16_t bits) const {
    const int exponent = (bits & 0x7fff) >> fraction_bits();
    const int fraction = bits & ((1 << fraction_bits()) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == infinity() >> fraction_bits()) {
      return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
    }
    const int significand = exponent == 0 ? fraction : fraction | 1 << fraction_bits();
    const int scale = (exponent == 0 ? 1 : exponent) - exponent_bias - fraction_bits();
    return sign * std::ldexp(significand, scale);
  }

  enum Direction { nearest, zero, up, down };

  // The bits of a finite number that is not zero. Number is Exact, or double for what double holds.
  template <class Number>
  uint16_t round(const Number& exact, Direction direction) const {
    using std::abs, std::frexp, std::ldexp, std::floor;
    const bool negative = exact < 0;
    const Number magnitude = abs(exact);
    int exponent = 0;
    frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
    const int quantum = std::max(exponent - significand_bits, 1 - exponent_bias - fraction_bits());
    const Number units = ldexp(magnitude, -quantum);
    Number whole = floor(units);
    const Number rest = units - whole;
    const bool odd = floor(whole / 2) * 2 != whole;
    const bool away = direction == nearest ? rest > 0.5 || (rest == 0.5 && odd)
                                           : rest > 0 && direction == (negative ? down : up);
    if (away) whole += 1;
    const uint16_t sign = negative ? 0x8000 : 0;
    const Number rounded = ldexp(whole, quantum);
    const uint16_t largest = static_cast<uint16_t>(infinity() - 1);
    if (rounded > value(largest)) {
      const bool to_infinity = direction == nearest || direction == (negative ? down : up);
      return sign | (to_infinity ? infinity() : largest);
    }
    // A format's finite bits count its magnitudes in order.
    uint16_t low = 0, high = largest;
    while (low < high) {
      const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
      if (value(middle) < rounded) {
        low = static_cast<uint16_t>(middle + 1);
      } else {
        high = middle;
      }
    }
    return sign | low;
  }
};

const Format half{"half", 11, 15};
const Format bfloat16{"bfloat16", 8, 127};

// A shared object of a source under tests/cuda, without instrumentation.
class Object {
 public:
  explicit Object(const std::string& source) {
    CompileRequest request;
    request.source = std::filesystem::path(WARPFUZZ_SOURCE_DIR) / "tests/cuda" / source;
    request.instrumentation = {.coverage = false, .address = false, .undefined = false};
    request.cache_directory = std::filesystem::temp_directory_path() / "warpfuzz-cuda-headers-test";
    request.include_directory = std::filesystem::path(WARPFUZZ_SOURCE_DIR) / "kernels/simt/include";
    request.kernel_directory = std::filesystem::path(WARPFUZZ_SOURCE_DIR) / "kernels";
    handle_ = ::dlopen(compile_for_cpu(request).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  }
  // Stays loaded: sanitizers want to look into it at exit.
  template <class Function>
  Function* find(const std::string& name) const {
    void* symbol = ::dlsym(handle_, name.c_str());
    if (symbol == nullptr) throw std::runtime_error(::dlerror());
    Function* function = nullptr;
    std::memcpy(&function, &symbol, sizeof function);
    return function;
  }

 private:
  void* handle_ = nullptr;
};

const Object& small_floats() {
  static const Object object("small_floats.cu");
  return object;
}

template <class In, class Out>
std::vector<Out> call(const std::string& name, const std::vector<In>& in, size_t results) {
  std::vector<Out> out(results);
  small_floats().find<void(const In*, Out*, int)>(name)(in.data(), out.data(),
                                                        static_cast<int>(results));
  return out;
}

class SmallFloatTest : public testing::TestWithParam<Format> {
 protected:
  const Format& format() const { return GetParam(); }

  // Every value of the format, every tie between two, the neighbours of both, and a sweep.
  std::vector<double> interesting_numbers(bool as_float) const {
    std::vector<double> numbers;
    const auto add = [&](double x) {
      const float f = static_cast<float>(x);
      for (const float neighbour :
           {std::nextafter(f, -HUGE_VALF), f, std::nextafter(f, HUGE_VALF)}) {
        numbers.push_back(neighbour);
      }
      if (as_float) return;
      for (const double neighbour :
           {std::nextafter(x, -HUGE_VAL), x, std::nextafter(x, HUGE_VAL)}) {
        numbers.push_back(neighbour);
      }
    };
    for (uint16_t bits = 0; bits < format().infinity(); ++bits) {
      const double x = format().value(bits);
      const uint16_t above = static_cast<uint16_t>(bits + 1);
      const double next =
          above == format().infinity() ? x + (x - format().value(bits - 1)) : format().value(above);
      for (const double sign : {1.0, -1.0}) {
        add(sign * x);
        add(sign * (x + (next - x) / 2));
      }
    }
    for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 65521) {
      const uint32_t word = static_cast<uint32_t>(bits);
      float x;
      std::memcpy(&x, &word, sizeof x);
      numbers.push_back(x);
    }
    return numbers;
  }

  bool is_nan(uint16_t bits) const { return (bits & 0x7fff) > format().infinity(); }

  uint16_t expected(double x, Format::Direction direction) const {
    if (std::isnan(x)) return 0x7fff;
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    if (x == 0) return sign;
    if (std::isinf(x)) return sign | format().infinity();
    return format().round(x, direction);
  }

  template <class Number>
  void check_conversion(const std::string& suffix, Format::Direction direction) {
    const std::vector<double> numbers = interesting_numbers(std::is_same_v<Number, float>);
    std::vector<Number> in;
    for (const double x : numbers) in.push_back(static_cast<Number>(x));
    const auto out = call<Number, uint16_t>(format().name + suffix, in, in.size());
    int shown = 0;
    for (size_t i = 0; i < in.size() && shown < 5; ++i) {
      const uint16_t want = expected(in[i], direction);
      if (out[i] == want) continue;
      // A GPU keeps a NaN's payload where the source is a double.
      if (std::isnan(in[i]) && std::is_same_v<Number, double> && is_nan(out[i])) continue;
      ++shown;
      ADD_FAILURE() << format().name << suffix << "(" << std::hexfloat << in[i] << ") is "
                    << std::hex << out[i] << ", expected " << want;
    }
  }
};

TEST_P(SmallFloatTest, ToFloatIsExactForEveryPattern) {
  std::vector<uint16_t> in(65536);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint16_t>(i);
  const auto out = call<uint16_t, float>(format().name + "_to_float", in, in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const double want = format().value(in[i]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(out[i])) << std::hex << i;
    } else {
      EXPECT_EQ(out[i], want) << std::hex << i;
      EXPECT_EQ(std::signbit(out[i]), std::signbit(want)) << std::hex << i;
    }
  }
}
TEST_P(SmallFloatTest, FromFloat) { check_conversion<float>("_from_float", Format::nearest); }
TEST_P(SmallFloatTest, FromFloatToZero) { check_conversion<float>("_from_float_rz", Format::zero); }
TEST_P(SmallFloatTest, FromFloatUp) { check_conversion<float>("_from_float_ru", Format::up); }
TEST_P(SmallFloatTest, FromFloatDown) { check_conversion<float>("_from_float_rd", Format::down); }
TEST_P(SmallFloatTest, FromDouble) { check_conversion<double>("_from_double", Format::nearest); }

struct Operation {
  std::string name;
  Exact (*exact)(const Exact&, const Exact&, const Exact&);
  double (*special)(double, double, double);  // for zeros, infinities and NaN
};
const std::vector<Operation> operations = {
    {"add", [](const Exact& a, const Exact& b, const Exact&) -> Exact { return a + b; },
     [](double a, double b, double) { return a + b; }},
    {"sub", [](const Exact& a, const Exact& b, const Exact&) -> Exact { return a - b; },
     [](double a, double b, double) { return a - b; }},
    {"mul", [](const Exact& a, const Exact& b, const Exact&) -> Exact { return a * b; },
     [](double a, double b, double) { return a * b; }},
    {"div", [](const Exact& a, const Exact& b, const Exact&) -> Exact { return a / b; },
     [](double a, double b, double) { return a / b; }},
    {"fma", [](const Exact& a, const Exact& b, const Exact& c) -> Exact { return a * b + c; },
     [](double a, double b, double c) { return a * b + c; }},
};

// Patterns that provoke ties, cancellation, subnormal results and overflow.
std::vector<uint16_t> operands(const Format& format, size_t triples) {
  std::mt19937 random(1);
  std::vector<uint16_t> in;
  const auto pattern = [&] { return static_cast<uint16_t>(random()); };
  const auto simple = [&] {  // few bits set in the fraction
    const unsigned fraction_bit = random() % static_cast<unsigned>(format.fraction_bits());
    const unsigned bits = (random() & ~((1u << format.fraction_bits()) - 1)) | 1u << fraction_bit;
    return static_cast<uint16_t>(bits | (random() & 1u));
  };
  for (size_t i = 0; i < triples; ++i) {
    for (int j = 0; j < 3; ++j) in.push_back(i % 2 == 0 ? pattern() : simple());
    if (i % 4 == 3) {  // c near -a * b
      const double product = format.value(in[3 * i]) * format.value(in[3 * i + 1]);
      if (product != 0 && std::isfinite(product)) {
        in[3 * i + 2] = static_cast<uint16_t>(format.round(-product, Format::nearest) + i % 3);
      }
    }
  }
  return in;
}

TEST_P(SmallFloatTest, ArithmeticRoundsOnce) {
  const std::vector<uint16_t> in = operands(format(), 8000);
  for (const Operation& operation : operations) {
    const auto out =
        call<uint16_t, uint16_t>(format().name + "_" + operation.name, in, in.size() / 3);
    int shown = 0;
    for (size_t i = 0; i < out.size() && shown < 5; ++i) {
      const double a = format().value(in[3 * i]);
      const double b = format().value(in[3 * i + 1]);
      const double c = format().value(in[3 * i + 2]);
      const double special = operation.special(a, b, c);
      const bool finite =
          std::isfinite(a) && std::isfinite(b) && std::isfinite(c) && std::isfinite(special);
      const Exact exact = finite ? operation.exact(a, b, c) : Exact(0);
      const uint16_t want =
          exact == 0 ? expected(special, Format::nearest) : format().round(exact, Format::nearest);
      if (out[i] == want) continue;
      ++shown;
      ADD_FAILURE() << format().name << " " << operation.name << " of " << std::hexfloat << a
                    << ", " << b << ", " << c << " is " << std::hex << out[i] << ", expected "
                    << want;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloatTest, testing::Values(half, bfloat16),
                         [](const auto& info) { return info.param.name; });

TEST(CudaHeadersTest, Intrinsics) {
  EXPECT_STREQ(Object("intrinsics.cu").find<const char*()>("first_failure")(), "");
}
TEST(CudaHeadersTest, CooperativeGroups) {
  EXPECT_STREQ(Object("groups.cu").find<const char*()>("first_failure")(), "");
}

}  // namespace
}  // namespace warpfuzz
