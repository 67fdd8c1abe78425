// The CUDA device's host side on a driver without a GPU (cuda_fake_driver.cc): image there and
// back, arguments, counters, reports, and what errors become.
#include "kernels/cuda/cuda_device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/cuda/session.h"
#include "schemas/schema.h"
#include "seeds/value_law.h"

namespace warpfuzz::cuda {
namespace {

using ::testing::ElementsAre;

template <class T>
T& variable(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return *static_cast<T*>(dlsym(handle, name));
}
template <class T>
T& of_driver(const char* name) {
  return variable<T>("libcuda.so.1", name);
}
template <class T>
T& of_kernel(const char* name) {
  return variable<T>(WARPFUZZ_FAKE_KERNEL, name);
}

class CudaDevice : public testing::Test {
 protected:
  void load(size_t mapped_limit) {
    schema_ = load_schema(std::string(WARPFUZZ_SOURCE_DIR) + "/schemas/relu.json");
    image_.reset();
    kernel_.reset();
    device_ = make_device({.mapped_limit = mapped_limit});
    kernel_ = device_->load(WARPFUZZ_FAKE_KERNEL, nullptr);
    image_.emplace(kernel_->image_memory());
    of_kernel<int>("fake_fault") = 0;
    of_driver<int>("fake_stream_status") = 0;
  }

  Case make_case(int64_t rows, int64_t columns) const {
    Case c = decode(schema_, {}, {});
    c.axes = {rows, columns};
    c.inputs[0].law = ValueLaw::normal;
    c.inputs[0].layout = Layout::row_strided;
    c.inputs[0].row_padding = 3;
    c.inputs[0].offset = 5;
    return c;
  }

  RunResult run(const Case& c) {
    inputs_ = make_inputs(c);
    image_->compose(c, inputs_, kernel_->workspace_bytes(c), nan_fill, 1);
    RunOptions options;
    options.time_limit = std::chrono::milliseconds(20);
    return kernel_->run(c, *image_, options);
  }

  bool output_is_relu() const {
    const Tensor output = image_->gather_output(0);
    std::vector<float> x(static_cast<size_t>(output.size())), y(x.size());
    std::memcpy(x.data(), inputs_[0].data.data(), 4 * x.size());
    std::memcpy(y.data(), output.data.data(), 4 * y.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (y[i] != std::max(x[i], 0.0f)) return false;
    }
    return true;
  }

  std::shared_ptr<const Schema> schema_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Tensor> inputs_;
  std::optional<MemoryImage> image_;
};

TEST_F(CudaDevice, ImageThereAndBack) {
  for (const size_t mapped_limit : {size_t{0}, size_t{1} << 30}) {
    load(mapped_limit);
    auto& copied = of_driver<uint64_t>("fake_copied_bytes");
    for (const int64_t columns : {1, 40, 7, 3000, 2, 120'000, 3}) {
      copied = 0;
      const RunResult result = run(make_case(9, columns));
      EXPECT_EQ(result.status, RunStatus::ok);
      EXPECT_EQ(result.launches, 1u);
      EXPECT_TRUE(output_is_relu());
      EXPECT_TRUE(image_->find_damage(inputs_).empty());
      // Stores of the collector bring it back, unless it is large.
      const size_t size = image_->bytes().size();
      const size_t ways = columns > 100'000 ? 2 : 1;
      EXPECT_EQ(copied, mapped_limit == 0 ? ways * size : 0);
    }
    EXPECT_EQ(of_kernel<int>("fake_device_type"), kDLCUDA);
    EXPECT_NE(of_kernel<void*>("fake_stream_of_call"), nullptr);
  }
  image_.reset();
  kernel_.reset();
  device_.reset();
  EXPECT_EQ(of_driver<uint64_t>("fake_live_allocations"), 0u);
}

TEST_F(CudaDevice, TheKernelLoadedAgainRemembersNothing) {
  load(0);
  ::setenv("FAKE_KERNEL_REMEMBERS", "1", 1);
  Case c = make_case(5, 71);
  run(c);
  EXPECT_TRUE(output_is_relu());
  c.inputs[0].seed = 1;
  run(c);
  EXPECT_FALSE(output_is_relu());
  image_.reset();
  kernel_ = kernel_->load_again();
  ASSERT_NE(kernel_, nullptr);
  image_.emplace(kernel_->image_memory());
  EXPECT_EQ(run(c).status, RunStatus::ok);
  EXPECT_TRUE(output_is_relu());
  int copies = 0;
  while (kernel_->load_again() != nullptr && copies < 1000) ++copies;
  EXPECT_GT(copies, 10);
  EXPECT_LT(copies, 1000);
  ::unsetenv("FAKE_KERNEL_REMEMBERS");
}

TEST_F(CudaDevice, CountersAreThoseOfTheRun) {
  for (const size_t mapped_limit : {size_t{0}, size_t{1} << 30}) {
    load(mapped_limit);
    EXPECT_EQ(kernel_->counters(), 40u);
    for (const auto& [columns, counter] : {std::pair{2, 7}, {20, 39}, {2, 7}}) {
      std::vector<uint8_t> expected(40);
      expected[static_cast<size_t>(counter)] = 1;
      EXPECT_EQ(run(make_case(2, columns)).coverage, expected);
    }
  }
}

TEST_F(CudaDevice, WhatKernelsDoWrongIsSeen) {
  load(0);
  int& fault = of_kernel<int>("fake_fault");
  fault = 1;
  EXPECT_EQ(run(make_case(2, 2)).status, RunStatus::error);
  fault = 2;
  RunResult result = run(make_case(2, 2));
  EXPECT_EQ(result.status, RunStatus::error);
  EXPECT_EQ(result.message, "the kernel threw: no luck");
  fault = 3;
  EXPECT_EQ(run(make_case(2, 2)).status, RunStatus::ok);
  ASSERT_EQ(image_->find_damage(inputs_).size(), 1u);
  EXPECT_EQ(image_->find_damage(inputs_)[0].where, "the guard after output y");
  fault = 4;
  result = run(make_case(2, 2));
  EXPECT_EQ(result.device_use->foreign_launches, 1u);
  EXPECT_EQ(result.device_use->registers, 32u);
  fault = 5;
  result = run(make_case(2, 2));
  EXPECT_EQ(result.status, RunStatus::ok);
  EXPECT_EQ(result.failed_launches, 1u);
  EXPECT_EQ(result.message, "invalid configuration argument");
  EXPECT_FALSE(result.device_lost);
}

TEST_F(CudaDevice, FaultsCostTheDevice) {
  load(0);
  of_driver<int>("fake_stream_status") = 700;
  RunResult result = run(make_case(2, 2));
  EXPECT_EQ(result.status, RunStatus::fault);
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults[0].kind, FaultKind::wild_access);
  EXPECT_EQ(result.faults[0].message, "the device reports: illegal address (CUDA error 700)");
  EXPECT_TRUE(result.device_lost);
  EXPECT_TRUE(result.coverage.empty());
  of_driver<int>("fake_stream_status") = 0;
  result = run(make_case(2, 2));
  EXPECT_EQ(result.status, RunStatus::error);
  EXPECT_EQ(result.message, "an earlier fault has ended this process's use of the device");
  EXPECT_TRUE(result.device_lost);
}

TEST_F(CudaDevice, KernelsThatDoNotEndAreLeft) {
  load(0);
  of_driver<int>("fake_stream_status") = not_ready;
  const RunResult result = run(make_case(2, 2));
  EXPECT_EQ(result.status, RunStatus::fault);
  EXPECT_EQ(result.faults[0].kind, FaultKind::time_limit);
  EXPECT_EQ(result.faults[0].message, "the kernel does not end within 20 ms");
  EXPECT_TRUE(result.device_lost);
}

TEST_F(CudaDevice, OtherErrorsAreDescribed) {
  load(0);
  of_driver<int>("fake_stream_status") = 2;
  const RunResult result = run(make_case(2, 2));
  EXPECT_EQ(result.status, RunStatus::error);
  EXPECT_EQ(result.message, "a fake error (CUDA_ERROR_FAKE)");
}

TEST_F(CudaDevice, DevicesThatAreNotThere) {
  EXPECT_EQ(architecture_of(0), "sm_90a");
  try {
    make_cuda_device(3);
    FAIL();
  } catch (const DeviceUnavailable& error) {
    EXPECT_STREQ(error.what(),
                 "no CUDA device 3: this process sees 1 (CUDA_VISIBLE_DEVICES selects)");
  }
}

}  // namespace
}  // namespace warpfuzz::cuda
