#include "reference/oracle.h"

#include <immintrin.h>

#include <algorithm>
#include <stdexcept>

#include "reference/audit.h"
#include "reference/comparison.h"
#include "reference/evaluation.h"
#include "reference/number_format.h"
#include "reference/reference.h"
#include "reference/refinement.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

// Round to nearest, and subnormals neither flushed nor read as 0: a library built with -ffast-math
// changes this behind everybody's back.
void check_floating_point_environment() {
  const unsigned mode = _mm_getcsr() & 0xe040u;
  WARPFUZZ_CHECK(mode == 0, "MXCSR rounding or flush bits are set: {:#x}", mode);
}

const Reference& reference_of(const Case& c) {
  const Reference* reference = find_reference(c.schema->name, c.schema->op_type);
  if (reference == nullptr) {
    std::string known;
    for (const std::string_view name : reference_names()) {
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument(
        fmt::format("{}: found no reference for this operator (op_type "
                    "\"{}\"), expected one of: {}",
                    c.schema->name, c.schema->op_type, known));
  }
  return *reference;
}

}  // namespace

void OutputExpectation::reset(DType output_dtype, size_t elements) {
  dtype = output_dtype;
  for (std::vector<double>* column : {&value, &oracle_error, &tolerance, &certain}) {
    column->assign(elements, 0);
  }
  allowed.assign(elements, class_finite);
  exact = false;
}

struct Oracle::State {
  const Reference* reference = nullptr;
  Call call;
  Evaluation evaluation;
  Refinement refinement{call};  // rows recomputed so far
  std::vector<double> observed;
  int minimum_level = 0;

  // `share` of the rows.
  void evaluate(double share) {
    evaluation.reset(*reference, call);
    const size_t rows = reference->geometry(call).rows;
    const auto wanted = static_cast<size_t>(std::max(1.0, share * static_cast<double>(rows)));
    if (wanted >= rows) {
      evaluation.all_rows();
    } else {
      evaluation.some_rows(wanted);
    }
    if (reference->allow != nullptr) reference->allow(call, evaluation.outputs());
    for (OutputExpectation& output : evaluation.outputs()) {
      output.exact = std::all_of(output.tolerance.begin(), output.tolerance.end(),
                                 [](double t) { return t == 0; });
    }
    refinement.reset(*reference);
  }
};

Oracle::Oracle() : state_(std::make_unique<State>()) {}

Oracle::Oracle(const Case& c, std::span<const Tensor> inputs, const OracleOptions& options)
    : Oracle() {
  evaluate(c, inputs, options);
}

Oracle::~Oracle() = default;
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;

void Oracle::evaluate(const Case& c, std::span<const Tensor> inputs, const OracleOptions& options) {
  check_floating_point_environment();
  state_->reference = &reference_of(c);
  state_->call.assign(c, inputs);
  state_->minimum_level = options.minimum_level;
  state_->evaluate(
      std::min(1.0, static_cast<double>(options.most_work) / static_cast<double>(c.work())));
}

const OutputExpectation& Oracle::expectation(size_t output) const {
  const std::span<OutputExpectation> outputs = state_->evaluation.outputs();
  WARPFUZZ_CHECK(output < outputs.size(), "output {} of {}", output, outputs.size());
  return outputs[output];
}

Comparison Oracle::compare(size_t output, const Tensor& observed,
                           std::vector<ElementError>* errors) const {
  check_floating_point_environment();
  State& s = *state_;
  const OutputExpectation& expected = expectation(output);
  WARPFUZZ_CHECK(observed.dtype == expected.dtype &&
                     static_cast<size_t>(observed.size()) == expected.value.size(),
                 "observed output of {} elements, expected {}", observed.size(),
                 expected.value.size());
  decode_tensor(observed, s.observed);
  return compare_output(
      {s.call, output, expected, s.refinement, s.reference->elementwise, s.minimum_level, errors},
      s.observed);
}

std::optional<QuantisationError> Oracle::quantisation(std::span<const Tensor> outputs) const {
  if (state_->reference->approximation == nullptr || outputs.empty()) return std::nullopt;
  std::vector<std::vector<double>> observed;
  for (const Tensor& output : outputs) observed.push_back(decode_tensor(output));
  QuantisationError error;
  error.add(state_->reference->approximation(state_->call, observed, state_->evaluation.outputs()));
  if (error.elements == 0) return std::nullopt;
  return error;
}

void Oracle::audit(uint64_t choice, const std::string& about) const {
  const std::span<OutputExpectation> outputs = state_->evaluation.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string broken = warpfuzz::audit(outputs[i], i, state_->refinement, choice);
    WARPFUZZ_CHECK(broken.empty(), "the oracle's error bound does not hold for {}: {}", about,
                   broken);
  }
}

std::vector<std::string_view> reference_names() {
  std::vector<std::string_view> names;
  for (const Reference* reference : references()) names.push_back(reference->name);
  return names;
}

}  // namespace warpfuzz
