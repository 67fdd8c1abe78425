// One call that is too large for a memory image on the host: placed, filled and checked on the
// device, with the same layout as a memory image has (guards between tensors, poison in outputs).
#pragma once

#include <vector>

#include "fuzzers/huge.h"
#include "fuzzers/huge_product_check.h"
#include "kernels/cuda/device_arguments.h"
#include "kernels/cuda/huge_tensors.h"
#include "kernels/cuda/kernel_code.h"

namespace warpfuzz {

inline constexpr unsigned char huge_poison = 0xFF;  // guards, outputs and workspace before a call

class HugeTrial {
 public:
  // `product_work` is there for an operator that is a matrix product, else null.
  HugeTrial(const cuda::Session& session, cuda::KernelCode& kernel, const cuda::HugeTensors& work,
            const cuda::HugeProduct* product_work, const HugeLimits& limits)
      : session_(session),
        kernel_(kernel),
        work_(work),
        product_work_(product_work),
        limits_(limits) {}
  ~HugeTrial() { give_back(); }
  HugeTrial(const HugeTrial&) = delete;
  HugeTrial& operator=(const HugeTrial&) = delete;

  // Throws DeviceUnavailable where the device fails at our own work, and EnvironmentError where it
  // makes other values than the host. What the call took on the device is given back by the next
  // one or the end: with a lost device that may wait for ever.
  HugeVerdict run(const HugeCall& call);

 private:
  struct Placed {
    const TensorSpec* spec;
    cuda::DeviceTensor tensor;
    size_t begin;  // bytes in the block
    size_t bytes;
    bool has_rows;
    std::optional<RandomLaw> law;  // an input made on the device
    Tensor host;                   // any other input
  };

  // An output of integers, as the first call left it.
  struct Integers {
    const Placed* placed;
    cuda::ElementCount poisoned;
    cuda::ElementCount marked;
  };

  void give_back();
  void place(const Case& c);
  void make_inputs(const Case& c);
  Tensor rows_of_input(const Case& c, size_t input) const;
  Tensor rows_on_device(const Placed& placed) const;
  void check_values(const Case& c) const;
  void call_kernel(const Case& c, HugeVerdict& verdict);
  void check_memory(HugeVerdict& verdict) const;
  void check_integers_written(const Case& c, HugeVerdict& verdict);
  void judge_product(const Case& c);
  void judge(const Case& c, HugeVerdict& verdict) const;
  void copy_to_host(void* to, cuda::DevicePointer from, size_t bytes) const;

  const cuda::Session& session_;
  cuda::KernelCode& kernel_;
  const cuda::HugeTensors& work_;
  const cuda::HugeProduct* product_work_;
  const HugeLimits& limits_;

  cuda::DeviceArguments arguments_;
  std::vector<Placed> inputs_;
  std::vector<Placed> outputs_;
  size_t workspace_ = 0;  // where it begins
  size_t workspace_bytes_ = 0;
  size_t size_ = 0;  // of the block
  cuda::DevicePointer block_ = 0;
  std::optional<HugeProductCheck> product_;
  std::vector<int64_t> rows_;  // judged by the oracle
  int64_t extent_ = 1;         // of the rows' axis
};

}  // namespace warpfuzz
