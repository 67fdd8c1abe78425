#include "fuzzers/huge_product_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuzzers/installation.h"
#include "reference/comparison.h"
#include "reference/number_format.h"
#include "seeds/random_laws.h"

namespace warpfuzz {
namespace {

Magnitudes magnitudes_of(const Tensor& tensor) {
  Magnitudes found{std::numeric_limits<double>::infinity(), 0};
  for (const double value : decode_tensor(tensor)) {
    const double size = std::fabs(value);
    if (size != 0) found.smallest = std::min(found.smallest, size);
    found.largest = std::max(found.largest, size);
  }
  return found;
}

std::optional<ProductRule> rule_of(const Case& c, const Magnitudes& a, const Magnitudes& b) {
  const Schema& schema = *c.schema;
  return product_rule(schema.contract, c.dtype(schema.inputs[0]), c.dtype(schema.outputs[0]),
                      c.shape(schema.inputs[1])[0], a, b);
}

}  // namespace

std::optional<HugeProductCheck> HugeProductCheck::judge(const cuda::HugeProduct& work,
                                                        const Case& c,
                                                        std::span<const cuda::DeviceTensor> inputs,
                                                        const cuda::DeviceTensor& output) {
  // Other laws may lie on lattices, where sums are exact, or have specials.
  const auto follows = [](const TensorCase& input) { return is_random(input.law); };
  if (!std::all_of(c.inputs.begin(), c.inputs.end(), follows)) return std::nullopt;
  const std::vector<int64_t> a = c.shape(c.schema->inputs[0]), b = c.shape(c.schema->inputs[1]);
  HugeProductCheck check(work, {inputs[0], inputs[1], output, a[0], b[1], b[0]});
  const std::optional<Magnitudes> of_a = work.magnitudes(inputs[0]);
  const std::optional<Magnitudes> of_b = work.magnitudes(inputs[1]);
  if (!of_a || !of_b) return std::nullopt;
  const std::optional<ProductRule> rule = rule_of(c, *of_a, *of_b);
  if (!rule) return std::nullopt;
  check.b_ = *of_b;
  check.rule_ = *rule;
  check.tallies_ = work.judge(check.product_, *rule);
  return check;
}

std::vector<int64_t> HugeProductCheck::doubtful_rows(size_t most) const {
  std::vector<int64_t> rows;
  const auto take = [&](auto wanted) {
    for (size_t row = 0; row < tallies_.size() && rows.size() < most; ++row) {
      if (wanted(tallies_[row])) rows.push_back(static_cast<int64_t>(row));
    }
  };
  take([](const huge::RowTally& t) { return t.outside > 0; });
  take([](const huge::RowTally& t) { return t.outside == 0 && t.open > 0; });
  std::sort(rows.begin(), rows.end());
  return rows;
}

void HugeProductCheck::compare_expectations(const Case& c, std::span<const int64_t> rows,
                                            const ProductRule& of_rows,
                                            const OutputExpectation& host) const {
  const auto columns = static_cast<size_t>(product_.columns);
  const size_t step = std::max<size_t>(1, (size_t{1} << 20) / std::max<size_t>(columns, 1));
  for (size_t begin = 0; begin < rows.size(); begin += step) {
    const auto some = rows.subspan(begin, std::min(step, rows.size() - begin));
    const std::vector<ProductExpectation> device = work_->expect(product_, of_rows, some);
    for (size_t i = 0; i < device.size(); ++i) {
      const ProductExpectation& x = device[i];
      const size_t at = begin * columns + i;
      const double r = host.value[at], e = host.oracle_error[at], t = host.tolerance[at];
      const uint8_t allowed = host.allowed[at];
      // NaN is no agreement.
      if (std::fabs(x.value - r) <= x.error + e &&
          std::fabs(x.tolerance - t) <= of_rows.margin * t &&
          std::fabs(x.error - e) <= of_rows.margin * e && (x.always & ~allowed) == 0 &&
          (allowed & ~x.possibly) == 0) {
        continue;
      }
      throw EnvironmentError(fmt::format(
          "the device expects {}[{},{}] to be {:.17g} within {:.9g}, the host {:.17g} within "
          "{:.9g}; nothing can be judged with it",
          c.schema->outputs[0].name, some[i / columns], i % columns, x.value, x.tolerance, r, t));
    }
  }
}

void HugeProductCheck::confirm(const Case& c, std::span<const int64_t> rows,
                               std::span<const Tensor> inputs, const Oracle& oracle,
                               const Tensor& observed) const {
  const OutputExpectation& host = oracle.expectation(0);
  // The oracle knows the magnitudes of these rows only, which may leave less to underflow.
  const std::optional<ProductRule> of_rows = rule_of(c, magnitudes_of(inputs[0]), b_);
  if (!of_rows) throw EnvironmentError("the device misses subnormal elements of an input");
  compare_expectations(c, rows, *of_rows, host);

  const bool same_rule = of_rows->tolerance.lost == rule_.tolerance.lost;
  const OutputRounding& rounding = rule_.rounding;
  const std::vector<double> values = decode_tensor(observed);
  const auto columns = static_cast<size_t>(product_.columns);
  for (size_t row = 0; row < rows.size(); ++row) {
    size_t inside = 0, outside = 0;
    for (size_t i = row * columns; i < (row + 1) * columns; ++i) {
      const Decision decision = first_look(host, i, rounding, values[i]);
      inside += decision == Decision::inside;
      outside += decision == Decision::outside;
    }
    const huge::RowTally& tally = tallies_[static_cast<size_t>(rows[row])];
    const size_t device_outside = tally.outside, device_open = tally.open;
    // Each leaves open what it is not certain of. What only underflow excuses is not outside for
    // the device, but may be for the oracle, which does not know of it.
    if (device_outside + inside <= columns &&
        (!same_rule || outside <= device_outside + device_open)) {
      continue;
    }
    throw EnvironmentError(fmt::format(
        "in row {} of {} the device finds {} elements outside what is accepted and {} open, the "
        "host {} outside and {} inside of {}; nothing can be judged with it",
        rows[row], c.schema->outputs[0].name, device_outside, device_open, outside, inside,
        columns));
  }
}

HugeProductCheck::Count HugeProductCheck::count(std::span<const int64_t> seen) const {
  Count count;
  count.elements = static_cast<uint64_t>(product_.rows) * static_cast<uint64_t>(product_.columns);
  for (size_t row = 0; row < tallies_.size(); ++row) {
    const huge::RowTally& tally = tallies_[row];
    count.outside += tally.outside;
    count.rows_outside += tally.outside > 0;
    if (std::binary_search(seen.begin(), seen.end(), static_cast<int64_t>(row))) continue;
    count.undecided += uint64_t{tally.outside} + tally.open;
  }
  return count;
}

}  // namespace warpfuzz
