#include "fuzzers/usual_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "fuzzers/plain_case.h"
#include "reference/number_format.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr uint32_t draws = 5;
constexpr int64_t largest_batch = 16;
// "Or 128 where the work demands", then whatever a kernel still admits.
constexpr std::array<int64_t, 9> axis_sizes = {1024, 128, 64, 32, 16, 8, 4, 2, 1};
// A product of 128 x 128 matrices and one of two attention heads: about what a second allows.
constexpr int64_t most_work = int64_t{1} << 23;

Tolerances one_percent(DType) { return {.relative = 1e-2, .absolute = 1e-2}; }

// The defaults of torch.testing.assert_close.
Tolerances torch_defaults(DType output) {
  switch (output) {
    case DType::float16:
      return {.relative = 1e-3, .absolute = 1e-5};
    case DType::bfloat16:
      return {.relative = 1.6e-2, .absolute = 1e-5};
    case DType::float32:
      return {.relative = 1.3e-6, .absolute = 1e-5};
    case DType::float64:
      return {.relative = 1e-7, .absolute = 1e-7};
    default:
      return {};
  }
}

constexpr std::array<AllcloseTable, allclose_table_count> tables = {{
    {"1e-2", "at rtol = atol = 1e-2", one_percent},
    {"torch", "with PyTorch's default table", torch_defaults},
}};

bool is_close(double observed, double expected, const Tolerances& tolerances) {
  if (observed == expected) return true;
  if (!std::isfinite(expected)) return false;
  return std::abs(observed - expected) <=
         tolerances.absolute + tolerances.relative * std::abs(expected);
}

int64_t power_of_two_axis(int64_t wanted, const Axis& axis) {
  const int64_t bounded = std::clamp(wanted, int64_t{1}, std::max<int64_t>(axis.maximum, 1));
  return std::max(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bounded))),
                  axis.minimum);
}

void set_axes(Case& c, int64_t batch, int64_t others) {
  for (size_t i = 0; i < c.axes.size(); ++i) {
    const Axis& axis = c.schema->axes[i];
    if (axis.constant) continue;
    c.axes[i] = axis.derived
                    ? axis.derived->evaluate(c.expression_values())
                    : power_of_two_axis(axis.role == AxisRole::batch ? batch : others, axis);
  }
}

bool is_possible(const Case& c, const Preconditions& preconditions) {
  return c.work() <= most_work && constraints_hold(c) && preconditions.admit(c);
}

void draw_values(Case& c, uint32_t draw) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    c.inputs[i].seed = draw * static_cast<uint32_t>(c.inputs.size()) + static_cast<uint32_t>(i) + 1;
  }
}

// What the operator gives in the output's type, as a framework would hold it.
std::vector<double> reference_values(const OutputExpectation& expectation) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = expectation.value;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint8_t allowed = expectation.allowed[i];
    if ((allowed & class_finite) != 0) {
      values[i] = decode_element(expectation.dtype, encode_element(expectation.dtype, values[i]));
    } else if ((allowed & class_nan) != 0) {
      values[i] = std::numeric_limits<double>::quiet_NaN();
    } else {
      values[i] = (allowed & class_positive_infinity) != 0 ? infinity : -infinity;
    }
  }
  return values;
}

// The calls of one kernel, judged one by one.
class Judge {
 public:
  explicit Judge(Kernel& kernel) : kernel_(kernel), image_(kernel.image_memory()) {
    accepts_.fill(true);
  }

  void run(const Case& c) {
    const std::vector<Tensor> inputs = make_inputs(c);
    image_.compose(c, inputs, kernel_.workspace_bytes(c), nan_fill, 0);
    if (kernel_.run(c, image_, {}).status != RunStatus::ok) {
      accepts_.fill(false);
      return;
    }
    oracle_.evaluate(c, inputs);
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      const std::vector<double> observed = decode_tensor(image_.gather_output(i));
      const OutputExpectation& expectation = oracle_.expectation(i);
      const std::vector<double> expected = reference_values(expectation);
      for (size_t table = 0; table < tables.size(); ++table) {
        accepts_[table] = accepts_[table] &&
                          allclose(observed, expected, tables[table].tolerances(expectation.dtype));
      }
    }
  }

  const std::array<bool, allclose_table_count>& accepts() const { return accepts_; }

 private:
  Kernel& kernel_;
  MemoryImage image_;
  Oracle oracle_;
  std::array<bool, allclose_table_count> accepts_{};
};

// Of the everyday dtype combinations; of the first other one where the kernel admits none of them.
std::vector<Case> benchmark_cases(const std::shared_ptr<const Schema>& schema,
                                  const Preconditions& preconditions) {
  std::vector<Case> everyday;
  std::optional<Case> other;
  for (size_t i = 0; i < schema->dtype_combinations.size(); ++i) {
    std::optional<Case> c = benchmark_case(schema, i, preconditions);
    if (!c) continue;
    if (schema->dtype_combinations[i].tier == Tier::everyday) {
      everyday.push_back(std::move(*c));
    } else if (!other) {
      other = std::move(c);
    }
  }
  if (everyday.empty() && other) everyday.push_back(std::move(*other));
  return everyday;
}

}  // namespace

std::span<const AllcloseTable, allclose_table_count> allclose_tables() { return tables; }

bool allclose(std::span<const double> observed, std::span<const double> expected,
              const Tolerances& tolerances) {
  return std::equal(observed.begin(), observed.end(), expected.begin(), expected.end(),
                    [&](double o, double e) { return is_close(o, e, tolerances); });
}

std::optional<Case> benchmark_case(const std::shared_ptr<const Schema>& schema,
                                   size_t dtype_combination, const Preconditions& preconditions) {
  Case c = plain_case(schema, dtype_combination);
  for (const int64_t others : axis_sizes) {
    for (int64_t batch = largest_batch; batch >= 1; batch /= 2) {
      set_axes(c, batch, others);
      if (is_possible(c, preconditions)) return c;
    }
  }
  return std::nullopt;
}

UsualVerdict ask_usual_oracle(const std::shared_ptr<const Schema>& schema, Kernel& kernel) {
  const Preconditions preconditions(*schema, kernel.preconditions());
  Judge judge(kernel);
  UsualVerdict verdict;
  for (Case& c : benchmark_cases(schema, preconditions)) {
    for (uint32_t draw = 0; draw < draws; ++draw) {
      draw_values(c, draw);
      if (draw == 0) verdict.calls.push_back(describe(c));
      judge.run(c);
    }
  }
  if (verdict.asked()) verdict.accepts = judge.accepts();
  return verdict;
}

}  // namespace warpfuzz
