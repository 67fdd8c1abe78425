#include "reference/evaluation.h"

#include <algorithm>

#include "reference/crew.h"
#include "reference/reference.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

// As reset() leaves elements.
void close(OutputExpectation& y, size_t begin, size_t count) {
  const size_t end = std::min(begin + count, y.value.size());
  for (size_t i = begin; i < end; ++i) {
    y.allowed[i] = class_finite;
    y.tolerance[i] = y.certain[i] = 0;
  }
}

}  // namespace

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
  const Geometry shape = reference_->geometry(*call_);
  const auto is_sum = [](const OutputTarget& target) { return target.sums != nullptr; };
  if (std::none_of(targets_.begin(), targets_.end(), is_sum)) {
    const size_t part = std::max<size_t>(1, Crew::elements / 4 / std::max<size_t>(1, shape.length));
    Crew::share(shape.rows, part, [&](size_t begin, size_t end) {
      thread_local Arena arena;
      rows(begin, end, arena);
    });
    return;
  }
  // Sums are added to in the order of the rows.
  rows(0, shape.rows, arena_);
  Tracked tracked(*call_, targets_, arena_, lambda_, careful_);
  for (size_t i = 0; i < targets_.size(); ++i) {
    if (is_sum(targets_[i])) tracked.finish(i);
  }
}

void Evaluation::rows(size_t begin, size_t end, Arena& arena) const {
  Tracked tracked(*call_, targets_, arena, lambda_, careful_);
  for (size_t row = begin; row < end; ++row) {
    tracked.reset();
    reference_->tracked(tracked, *call_, row);
  }
}

void Evaluation::some_rows(size_t count) {
  const size_t rows = reference_->geometry(*call_).rows;
  for (OutputExpectation& output : outputs_) leave_open(output, 0, output.value.size());
  Tracked tracked(*call_, targets_, arena_, lambda_, careful_);
  for (size_t i = 0; i < count; ++i) {
    // One of each stretch of rows; which one must not follow a pattern that a kernel may have too.
    const size_t begin = rows * i / count, end = rows * (i + 1) / count;
    const size_t inside = i == 0           ? 0
                          : i + 1 == count ? end - begin - 1
                                           : i * 0x9E3779B1 % (end - begin);
    const size_t row = begin + inside;
    for (size_t output = 0; output < outputs_.size(); ++output) {
      if (targets_[output].sums == nullptr) {
        const size_t length = reference_->length(*call_, output);
        close(outputs_[output], row * length, length);
      }
    }
    tracked.reset();
    reference_->tracked(tracked, *call_, row);
  }
}

void Evaluation::one_row(size_t row) {
  Tracked tracked(*call_, targets_, arena_, lambda_, careful_);
  reference_->tracked(tracked, *call_, row);
}

}  // namespace warpfuzz
