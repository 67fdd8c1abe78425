#include "reference/oracle.h"

#include <immintrin.h>

#include <algorithm>
#include <stdexcept>

#include "reference/comparison.h"
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

OutputExpectation evaluate(const Call& call, const Reference& reference) {
  OutputExpectation y;
  const size_t size = call.output_size();
  y.dtype = call.output_dtype();
  y.value.resize(size);
  y.oracle_error.resize(size);
  y.tolerance.resize(size);
  y.certain.resize(size);
  y.allowed.resize(size, class_finite);
  const Geometry geometry = reference.geometry(call);
  Tracked tracked(call, y, geometry.length);
  for (size_t row = 0; row < geometry.rows; ++row) {
    tracked.reset();
    reference.tracked(tracked, call, row);
  }
  if (reference.allow != nullptr) reference.allow(call, y);
  y.exact = std::all_of(y.tolerance.begin(), y.tolerance.end(), [](double t) { return t == 0; });
  return y;
}

}  // namespace

struct Oracle::State {
  State(const Case& c, std::span<const Tensor> inputs, const OracleOptions& o)
      : reference(reference_of(c)),
        call(c, inputs),
        expectation(evaluate(call, reference)),
        refinement(call, reference),
        options(o) {}

  const Reference& reference;
  Call call;
  OutputExpectation expectation;
  Refinement refinement;  // rows recomputed so far
  OracleOptions options;
};

Oracle::Oracle(const Case& c, std::span<const Tensor> inputs, const OracleOptions& options) {
  check_floating_point_environment();
  state_ = std::make_unique<State>(c, inputs, options);
}

Oracle::~Oracle() = default;
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;

const OutputExpectation& Oracle::expectation(size_t output) const {
  WARPFUZZ_CHECK(output == 0, "output {} of one", output);
  return state_->expectation;
}

Comparison Oracle::compare(size_t output, const Tensor& observed) const {
  check_floating_point_environment();
  WARPFUZZ_CHECK(output == 0, "output {} of one", output);
  State& s = *state_;
  return compare_output(
      {s.call, s.expectation, s.refinement, s.reference.elementwise, s.options.minimum_level},
      observed);
}

std::vector<std::string_view> reference_names() {
  std::vector<std::string_view> names;
  for (const Reference* reference : references()) names.push_back(reference->name);
  return names;
}

}  // namespace warpfuzz
