// `warpfuzz huge` on a driver without a GPU (cuda_fake_driver.cc), with tensors of 100,000 elements
// in the place of 2^31. What is fake goes wrong as a test wants, and is right again after it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuzzers/huge.h"
#include "fuzzers/installation.h"

namespace warpfuzz {

inline std::shared_ptr<const Schema> schema_of(const std::string& op) {
  return Installation::find().schema(op);
}

template <class T>
T& variable(const std::string& library, const char* name) {
  return *static_cast<T*>(dlsym(dlopen(library.c_str(), RTLD_NOW), name));
}

class Huge : public testing::Test {
 protected:
  Huge() { reset(); }
  ~Huge() override { reset(); }

  static int& fault() { return variable<int>(WARPFUZZ_FAKE_KERNEL, "fake_fault"); }
  static const char*& preconditions() {
    return variable<const char*>(WARPFUZZ_FAKE_KERNEL, "fake_preconditions");
  }
  static int& stream() { return variable<int>("libcuda.so.1", "fake_stream_status"); }
  static uint64_t& free_bytes() { return variable<uint64_t>("libcuda.so.1", "fake_free_bytes"); }
  static int& other_values() {
    return variable<int>(WARPFUZZ_FAKE_DRIVER_DIRECTORY "/huge_tensors.so", "fake_other_values");
  }
  static int& of_product(const char* name) {
    return variable<int>(WARPFUZZ_FAKE_DRIVER_DIRECTORY "/huge_product.so", name);
  }
  // Few rows go to the host.
  static HugeOptions product_options() {
    HugeOptions of = options("matmul");
    of.limits.host_elements = 1 << 20;
    of.limits.sample_work = 1;
    return of;
  }
  static void reset() {
    fault() = stream() = other_values() = 0;
    preconditions() = "T == float32 && U == float32";
    of_product("fake_other_sums") = of_product("fake_other_verdicts") = 0;
    free_bytes() = uint64_t{64} << 30;
  }

  static HugeOptions options(const std::string& op = "relu",
                             const std::string& dtypes = "T=float32,U=float32") {
    HugeOptions options;
    options.schema = schema_of(op);
    options.device = {.cuda = true};
    options.kernel = WARPFUZZ_FAKE_KERNEL;
    options.prebuilt = WARPFUZZ_FAKE_DRIVER_DIRECTORY;
    options.dtypes = parse_dtypes(*options.schema, dtypes);
    options.limits.boundary = 100'000;
    options.limits.host_elements = 1000;
    return options;
  }

  HugeReport run(const HugeOptions& options) {
    verdicts_.clear();
    HugeReport report;
    run_huge(
        options, [&](const HugeVerdict& verdict) { verdicts_.push_back(verdict); },
        [&](const HugeReport& at_end) { report = at_end; });
    return report;
  }

  std::vector<HugeVerdict> verdicts_;
};

}  // namespace warpfuzz
