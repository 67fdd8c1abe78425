// huge_product.cu for the fake driver: the same rule, loops on the host.
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "kernels/cuda/huge_product_task.h"
#include "kernels/warpfuzz_kernel.h"

namespace {

using namespace warpfuzz;

const float* floats(const DLTensor& tensor) { return static_cast<const float*>(tensor.data); }

}  // namespace

extern "C" {

int fake_other_sums = 0;      // set: the device does not take the host's sums
int fake_other_verdicts = 0;  // set: it takes element 0 of row 0 for wrong; 2: no element

// Of float32 tensors, as is the fake kernel.
WfStatus warpfuzz_kernel(const WfCall* call) {
  const DLTensor& a = call->inputs[0];
  const auto task = static_cast<huge::ProductTask>(call->attributes[0].integer);
  auto* const words = static_cast<uint64_t*>(call->outputs[0].data);
  if (task == huge::ProductTask::magnitudes) {
    double smallest = std::numeric_limits<double>::infinity(), largest = 0;
    for (int64_t i = 0; i < a.shape[1]; ++i) {
      const double size = std::fabs(floats(a)[i]);
      if (size > 0 && size < smallest) smallest = size;
      if (size > largest) largest = size;
    }
    words[0] = std::bit_cast<uint64_t>(smallest);
    words[1] = std::bit_cast<uint64_t>(largest);
    words[2] = 0;
    return WF_OK;
  }
  const DLTensor &b = call->inputs[1], &c = call->inputs[2], &chosen = call->inputs[4];
  const ProductRule& rule = *static_cast<const ProductRule*>(call->inputs[3].data);
  const bool judges = task == huge::ProductTask::judge;
  const int64_t columns = b.shape[1];
  for (int64_t i = 0; i < (judges ? a.shape[0] : chosen.shape[1]); ++i) {
    const int64_t row = judges ? i : static_cast<const int64_t*>(chosen.data)[i];
    huge::RowTally tally;
    for (int64_t j = 0; j < columns; ++j) {
      ProductSums sums;
      for (int64_t k = fake_other_sums; k < b.shape[0]; ++k) {
        sums.add(floats(a)[row * b.shape[0] + k], floats(b)[k * columns + j]);
      }
      const ErrorTerms terms = rule.terms(sums);
      const ProductExpectation x = rule.expectation(sums, terms, std::sqrt(terms.var));
      if (judges) {
        const Decision decision = rule.decide(x, floats(c)[row * columns + j]);
        tally.outside += decision == Decision::outside;
        tally.open += decision == Decision::open;
        continue;
      }
      double* const element = reinterpret_cast<double*>(words) + (i * columns + j) * 4;
      element[0] = x.value;
      element[1] = x.error;
      element[2] = x.tolerance;
      element[3] = huge::pack_classes(x.always, x.possibly);
    }
    if (fake_other_verdicts == 1 && row == 0) tally.outside = 1;
    if (fake_other_verdicts == 2) tally = {};
    if (judges) words[row] = std::bit_cast<uint64_t>(tally);
  }
  return WF_OK;
}
}
