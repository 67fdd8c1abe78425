// Every element of a huge matrix product judged on the device, and the device's judgement held
// against the host's oracle in the rows that this judges: a finding rests on the oracle, and where
// the two contradict each other nothing is accused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/huge_product.h"
#include "reference/oracle.h"
#include "schemas/case.h"

namespace warpfuzz {

class HugeProductCheck {
 public:
  // Nothing where the rule does not hold: it does not follow all values. `work` and the tensors
  // must live on. Throws DeviceUnavailable.
  static std::optional<HugeProductCheck> judge(const cuda::HugeProduct& work, const Case& c,
                                               std::span<const cuda::DeviceTensor> inputs,
                                               const cuda::DeviceTensor& output);

  // Rows for the oracle, at most so many, ascending: those with elements outside what is accepted,
  // then those with elements that the device's sums leave open.
  std::vector<int64_t> doubtful_rows(size_t most) const;

  // `oracle`, `inputs` and `observed` are of these rows alone. Throws EnvironmentError if the
  // device expects something else of an element, or has decided otherwise.
  void confirm(const Case& c, std::span<const int64_t> rows, std::span<const Tensor> inputs,
               const Oracle& oracle, const Tensor& observed) const;

  struct Count {
    uint64_t elements = 0;  // in all
    uint64_t outside = 0;
    uint64_t rows_outside = 0;  // with any outside
    uint64_t undecided = 0;     // outside or open, in rows other than `seen`
  };
  Count count(std::span<const int64_t> seen) const;

 private:
  HugeProductCheck(const cuda::HugeProduct& work, const cuda::DeviceProduct& product)
      : work_(&work), product_(product) {}
  void compare_expectations(const Case& c, std::span<const int64_t> rows,
                            const ProductRule& of_rows, const OutputExpectation& host) const;

  const cuda::HugeProduct* work_;
  cuda::DeviceProduct product_;
  Magnitudes b_;
  ProductRule rule_;
  std::vector<huge::RowTally> tallies_;
};

}  // namespace warpfuzz
