#include "reference/oracle.h"

#include <immintrin.h>

#include <algorithm>
#include <stdexcept>

#include "reference/comparison.h"
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
  OutputExpectation expectation;
  Refinement refinement{call};  // rows recomputed so far
  Arena arena;
  std::vector<double> observed;
  int minimum_level = 0;

  void evaluate() {
    expectation.reset(call.output_dtype(), call.output_size());
    const Geometry geometry = reference->geometry(call);
    Tracked tracked(call, expectation, arena, geometry.length);
    for (size_t row = 0; row < geometry.rows; ++row) {
      tracked.reset();
      reference->tracked(tracked, call, row);
    }
    if (reference->allow != nullptr) reference->allow(call, expectation);
    expectation.exact = std::all_of(expectation.tolerance.begin(), expectation.tolerance.end(),
                                    [](double t) { return t == 0; });
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
  state_->evaluate();
}

const OutputExpectation& Oracle::expectation(size_t output) const {
  WARPFUZZ_CHECK(output == 0, "output {} of one", output);
  return state_->expectation;
}

Comparison Oracle::compare(size_t output, const Tensor& observed) const {
  check_floating_point_environment();
  WARPFUZZ_CHECK(output == 0, "output {} of one", output);
  State& s = *state_;
  WARPFUZZ_CHECK(observed.dtype == s.expectation.dtype &&
                     static_cast<size_t>(observed.size()) == s.expectation.value.size(),
                 "observed output of {} elements, expected {}", observed.size(),
                 s.expectation.value.size());
  decode_tensor(observed, s.observed);
  return compare_output(
      {s.call, s.expectation, s.refinement, s.reference->elementwise, s.minimum_level}, s.observed);
}

std::vector<std::string_view> reference_names() {
  std::vector<std::string_view> names;
  for (const Reference* reference : references()) names.push_back(reference->name);
  return names;
}

}  // namespace warpfuzz
