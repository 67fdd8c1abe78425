#include "reference/evaluation.h"

#include "reference/reference.h"
#include "schemas/check.h"

namespace warpfuzz {

void Evaluation::reset(const Reference& reference, const Call& call, double lambda, bool careful) {
  const size_t count = call.output_count();
  WARPFUZZ_CHECK(reference.outputs.size() == count, "{}: {} outputs of {}", reference.name,
                 reference.outputs.size(), count);
  reference_ = &reference;
  call_ = &call;
  lambda_ = lambda;
  careful_ = careful;
  outputs_.resize(count);
  sums_.resize(count);
  targets_.assign(count, {});
  for (size_t i = 0; i < count; ++i) {
    const size_t length = reference.length(call, i);
    const bool summed = reference.outputs[i] == OutputForm::sums;
    outputs_[i].reset(call.output_dtype(i), call.output_size(i));
    if (summed) sums_[i].reset(call.output_size(i), length, careful);
    targets_[i] = {&outputs_[i], length, summed ? &sums_[i] : nullptr};
  }
}

void Evaluation::all_rows() {
  Tracked tracked(*call_, targets_, arena_, lambda_, careful_);
  const size_t rows = reference_->geometry(*call_).rows;
  for (size_t row = 0; row < rows; ++row) {
    tracked.reset();
    reference_->tracked(tracked, *call_, row);
  }
  for (size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].sums != nullptr) tracked.finish(i);
  }
}

void Evaluation::one_row(size_t row) {
  Tracked tracked(*call_, targets_, arena_, lambda_, careful_);
  reference_->tracked(tracked, *call_, row);
}

}  // namespace warpfuzz
