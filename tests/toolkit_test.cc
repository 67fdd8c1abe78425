// Where NVIDIA defines the bits - conversions, arithmetic of 8- and 16-bit numbers, random
// generators, names of errors - our headers must agree with those of a CUDA toolkit, whose
// host-side functions a plain C++ compiler can compile. Skipped where no toolkit is installed;
// $CUDA_HOME names another place than /usr/local/cuda.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>

#include "kernels/compile.h"
#include "kernels/subprocess.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

const fs::path source = fs::path(WARPFUZZ_SOURCE_DIR) / "tests/cuda/toolkit_functions.cu";
const fs::path cache = fs::temp_directory_path() / "warpfuzz-toolkit-test";

fs::path toolkit() {
  const char* home = std::getenv("CUDA_HOME");
  return home != nullptr ? home : "/usr/local/cuda";
}

void* open(const fs::path& object) {
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  return handle;
}

void* open_ours() {
  CompileRequest request;
  request.source = source;
  request.instrumentation = {.coverage = false, .address = false, .undefined = false};
  request.cache_directory = cache;
  request.include_directory = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels/simt/include";
  request.kernel_directory = fs::path(WARPFUZZ_SOURCE_DIR) / "kernels";
  return open(compile_for_cpu(request));
}

void* open_theirs() {
  fs::create_directories(cache);
  const fs::path object = cache / ("toolkit." + std::to_string(getpid()) + ".so");
  const ProcessResult result =
      run_process({"clang++-19", "-x", "c++", "-std=c++17", "-w", "-O1", "-shared", "-fPIC",
                   // For nvcc alone.
                   "-D__forceinline__=inline", "-DQUALIFIERS=static inline", "-I",
                   toolkit() / "include", "-o", object, source},
                  std::chrono::minutes(2));
  if (result.exit_code != 0) throw std::runtime_error(result.errors);
  void* handle = open(object);
  fs::remove(object);
  return handle;
}

template <class Function>
Function* find(void* handle, const std::string& name) {
  void* symbol = dlsym(handle, name.c_str());
  if (symbol == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function*>(symbol);
}

class ToolkitTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(toolkit() / "include/cuda_fp8.h")) {
      GTEST_SKIP() << "SKIPPED: no CUDA toolkit in " << toolkit()
                   << "; set CUDA_HOME to compare with one";
    }
    static void* const both[] = {open_ours(), open_theirs()};
    ours_ = both[0];
    theirs_ = both[1];
  }

  template <class In, class Out>
  void compare(const std::string& name, const std::vector<In>& in) const {
    using Function = void(const In*, Out*, size_t);
    std::vector<Out> ours(in.size()), theirs(in.size());
    find<Function>(ours_, name)(in.data(), ours.data(), in.size());
    find<Function>(theirs_, name)(in.data(), theirs.data(), in.size());
    int shown = 0;
    for (size_t i = 0; i < in.size() && shown < 5; ++i) {
      if (ours[i] == theirs[i]) continue;
      ++shown;
      ADD_FAILURE() << name << "(" << std::hexfloat << +in[i] << ") is " << std::hex << +ours[i]
                    << ", the toolkit's is " << +theirs[i];
    }
  }

  void* ours_ = nullptr;
  void* theirs_ = nullptr;
};

template <class T>
std::vector<T> every_pattern() {
  std::vector<T> patterns;
  for (unsigned i = 0; i <= std::numeric_limits<T>::max(); ++i) {
    patterns.push_back(static_cast<T>(i));
  }
  return patterns;
}

// Of a 16-bit format. As floats, NaN keep their payload here and lose it there.
std::vector<uint16_t> patterns_without_nan(int fraction_bits) {
  std::vector<uint16_t> patterns;
  const unsigned infinity = 0x7fffu >> fraction_bits << fraction_bits;
  for (const uint16_t bits : every_pattern<uint16_t>()) {
    if ((bits & 0x7fffu) <= infinity) patterns.push_back(bits);
  }
  return patterns;
}

// Floats from a sweep over all patterns, and around everything that the small formats hold. With
// one NaN: which payload survives is nobody's promise.
std::vector<float> floats() {
  std::vector<float> numbers = {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, std::nanf("")};
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 9973) {
    const auto word = static_cast<uint32_t>(bits);
    float number;
    std::memcpy(&number, &word, sizeof number);
    if (!std::isnan(number)) numbers.push_back(number);
  }
  for (int exponent = -30; exponent <= 18; ++exponent) {
    for (int significand = 32; significand < 64; ++significand) {
      const float number = std::ldexp(static_cast<float>(significand), exponent - 5);
      for (const float near : {std::nextafter(number, 0.0f), number, number * (1 + 0x1p-23f)}) {
        numbers.push_back(near);
        numbers.push_back(-near);
      }
    }
  }
  return numbers;
}
std::vector<double> doubles() {
  std::vector<double> numbers;
  for (const float number : floats()) {
    numbers.push_back(number);
    if (std::isfinite(number)) numbers.push_back(std::nextafter(double{number}, 0.0));
  }
  return numbers;
}
std::vector<uint32_t> words() {
  std::mt19937 random(1);
  std::vector<uint32_t> words;
  for (int i = 0; i < 200000; ++i) words.push_back(static_cast<uint32_t>(random()));
  return words;
}
std::vector<int32_t> integers() {
  std::vector<int32_t> numbers;
  for (const uint32_t word : words()) {
    numbers.push_back(static_cast<int32_t>(word) >> (word % 31));
  }
  return numbers;
}

TEST_F(ToolkitTest, Fp8Conversions) {
  for (const std::string kind : {"e4m3", "e5m2"}) {
    for (const std::string mode : {"saturated", "unsaturated"}) {
      const std::string to = "_to_" + kind + "_" + mode;
      compare<float, uint8_t>("float" + to, floats());
      compare<double, uint8_t>("double" + to, doubles());
      compare<uint16_t, uint8_t>("half" + to, every_pattern<uint16_t>());
      compare<uint16_t, uint8_t>("bfloat16" + to, every_pattern<uint16_t>());
      compare<float, uint16_t>("pair" + to, floats());
    }
    compare<uint8_t, uint16_t>(kind + "_to_half", every_pattern<uint8_t>());
    const std::string name = "class_" + kind;
    compare<float, uint8_t>(name + "_of_float", floats());
    compare<int32_t, uint8_t>(name + "_of_int", integers());
    compare<uint8_t, uint32_t>(name + "_as_float", every_pattern<uint8_t>());
    compare<uint8_t, uint16_t>(name + "_as_bfloat16", every_pattern<uint8_t>());
    compare<uint8_t, int32_t>(name + "_as_int", every_pattern<uint8_t>());
    compare<uint8_t, int8_t>(name + "_as_char", every_pattern<uint8_t>());
  }
}

TEST_F(ToolkitTest, SmallFloats) {
  for (const std::string name : {"half", "bfloat16"}) {
    for (const std::string rounding : {"_rn", "_rz", "_ru", "_rd"}) {
      compare<float, uint16_t>("float_to_" + name + rounding, floats());
    }
    compare<double, uint16_t>("double_to_" + name, doubles());
    compare<int32_t, uint16_t>("int_to_" + name + "_rn", integers());
    compare<uint16_t, uint32_t>(name + "_to_float", patterns_without_nan(name == "half" ? 10 : 7));
    compare<uint16_t, int32_t>(name + "_to_int_rz", every_pattern<uint16_t>());
    compare<uint16_t, int16_t>(name + "_to_short_rz", every_pattern<uint16_t>());
    compare<uint16_t, uint32_t>(name + "_to_uint_rz", every_pattern<uint16_t>());
    for (const std::string operation :
         {"_add", "_sub", "_mul", "_div", "_max", "_min", "_max_nan"}) {
      compare<uint32_t, uint16_t>(name + operation, words());
    }
    compare<uint32_t, uint8_t>(name + "_less", words());
    compare<uint32_t, uint8_t>(name + "_equal", words());
  }
}

TEST_F(ToolkitTest, RandomGenerators) {
  std::vector<uint32_t> seeds = words();
  seeds.resize(2000);
  compare<uint32_t, uint32_t>("philox", seeds);
  seeds.resize(500);
  compare<uint32_t, uint32_t>("xorwow", seeds);
}

}  // namespace
}  // namespace warpfuzz
