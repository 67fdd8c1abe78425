#include "reference/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "reference/crew.h"
#include "reference/number_format.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t block_length = 128;
constexpr double up = 1 + few_roundings;
constexpr double down = 1 - few_roundings;

class Judge {
 public:
  Judge(const ComparisonTask& task, std::span<const double> observed)
      : task_(task),
        expected_(task.expectation),
        observed_(observed),
        rounding_(traits(expected_.dtype), task.call.contract().output_roundings),
        one_by_one_(task.minimum_level > 0 || task.errors != nullptr) {}

  Comparison run() {
    if (task_.errors != nullptr) task_.errors->assign(observed_.size(), {});
    if (one_by_one_) {
      judge_blocks(0, observed_.size(), nullptr);
    } else {
      share_blocks();
    }
    std::sort(result_.offences.begin(), result_.offences.end(),
              [](const Offence& a, const Offence& b) { return a.element < b.element; });
    return std::move(result_);
  }

 private:
  // The fast pass goes over parts at the same time; what it leaves is judged afterwards.
  void share_blocks() {
    constexpr size_t length = Crew::elements;
    static_assert(length % block_length == 0);
    struct Part {
      Comparison result;
      std::vector<size_t> open;
    };
    std::vector<Part> parts((observed_.size() + length - 1) / length);
    Crew::share(observed_.size(), length, [&](size_t begin, size_t end) {
      for (size_t at = begin; at < end; at += length) {
        Judge judge(task_, observed_);
        Part& part = parts[at / length];
        judge.judge_blocks(at, std::min(at + length, end), &part.open);
        part.result = std::move(judge.result_);
      }
    });
    for (const Part& part : parts) {
      note_ratio(part.result.worst_element, part.result.worst_ratio);
      result_.worst_share = std::max(result_.worst_share, part.result.worst_share);
    }
    for (const Part& part : parts) {
      for (const size_t begin : part.open) {
        judge_blocks(begin, std::min(begin + block_length, observed_.size()), nullptr);
      }
    }
  }

  void judge_blocks(size_t begin, size_t end, std::vector<size_t>* open) {
    for (; begin < end; begin += block_length) {
      judge_block(begin, std::min(block_length, end - begin), open);
    }
  }

  // Accepts most elements without a branch; NaN anywhere fails the test. A block of which it does
  // not accept all goes to `open`, or if that is null has the others judged one by one.
  void judge_block(size_t begin, size_t n, std::vector<size_t>* open_blocks) {
    double ratios[block_length];    // at most 1, or infinite where the element is not accepted
    double excesses[block_length];  // > 0: uses more of its tolerance than any before
    const double* y = observed_.data() + begin;
    const double* r = expected_.value.data() + begin;
    const double* e = expected_.oracle_error.data() + begin;
    const double* t = expected_.tolerance.data() + begin;
    const uint8_t* allowed = expected_.allowed.data() + begin;
    const OutputRounding rounding = rounding_;
    const double used = result_.worst_share;
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < n; ++i) {
      const double magnitude = std::fabs(r[i]);
      const double lowest = magnitude > e[i] ? magnitude - e[i] : 0;
      const double slack = rounding.slack(lowest, t[i]);
      const double error = std::fabs(y[i] - r[i]);
      const bool inside = t[i] > 0 ? error * up + e[i] <= slack * down : y[i] == r[i];
      ratios[i] = inside ? error / slack : infinity;
      excesses[i] = error - slack + (1 - used) * t[i];
    }
    uint8_t other_classes = 0;
    for (size_t i = 0; i < n; ++i) other_classes |= allowed[i] ^ class_finite;
    const double worst = largest(ratios, n);
    const bool open = one_by_one_ || worst > 1 || other_classes != 0;
    if (open && open_blocks != nullptr) {
      open_blocks->push_back(begin);
      return;
    }
    if (!open && worst <= result_.worst_ratio && largest(excesses, n) <= 0) return;
    for (size_t i = 0; i < n; ++i) {
      if (ratios[i] <= 1 && allowed[i] == class_finite && !one_by_one_) {
        note_ratio(begin + i, ratios[i]);
        if (excesses[i] > (result_.worst_share - used) * t[i]) note_share(begin + i);
      } else {
        judge(begin + i);
      }
    }
  }

  // At least 0. In lanes, since the maximum of doubles is not associative to a compiler. Overwrites
  // what lies beyond n.
  static double largest(double (&values)[block_length], size_t n) {
    constexpr size_t lanes = 16;
    static_assert(block_length % lanes == 0);
    double most[lanes] = {};
    std::fill(values + n, values + (n + lanes - 1) / lanes * lanes, 0.0);
    for (size_t i = 0; i < n; i += lanes) {
      for (size_t k = 0; k < lanes; ++k) {
        most[k] = values[i + k] > most[k] ? values[i + k] : most[k];
      }
    }
    return *std::max_element(most, most + lanes);
  }

  // Of an element that the fast pass accepted.
  void note_share(size_t i) {
    const double t = expected_.tolerance[i];
    const double reach = std::max(std::fabs(expected_.value[i]) - expected_.oracle_error[i], 0.0);
    const double error = std::fabs(observed_[i] - expected_.value[i]);
    const double share = ratios_of(error, rounding_.slack(reach, t), t).share;
    result_.worst_share = std::max(result_.worst_share, share);
  }

  void note_ratio(size_t i, double ratio) {
    if (!(ratio > result_.worst_ratio) &&
        !(ratio == result_.worst_ratio && i < result_.worst_element)) {
      return;
    }
    result_.worst_ratio = ratio;
    result_.worst_element = i;
  }

  // Of an element judged by itself.
  struct Ratios {
    double ratio = 0;
    double share = 0;
  };
  static Ratios ratios_of(double error, double slack, double tolerance) {
    return {error / slack, std::max(0.0, (error - (slack - tolerance)) / tolerance)};
  }
  void note(size_t i, const Ratios& ratios) {
    note_ratio(i, ratios.ratio);
    result_.worst_share = std::max(result_.worst_share, ratios.share);
    if (task_.errors == nullptr) return;
    ElementError& error = (*task_.errors)[i];
    error.has_tolerance = true;
    error.ratio = ratios.ratio;
    error.share = ratios.share;
  }

  void set_fate(size_t i, ElementFate fate) {
    if (task_.errors != nullptr) (*task_.errors)[i].fate = fate;
  }

  // The distance from the reference in ulp, to about a hundredth of the larger of it and an ulp.
  void measure(size_t i) {
    if (task_.errors == nullptr) return;
    Refined value{expected_.value[i], 0};
    double e = expected_.oracle_error[i], error = 0, ulp = 0;
    for (int level = 0; level <= 2; ++level) {
      if (level > 0) {
        const std::optional<Refined> finer = task_.refinement.value(level, task_.output, i);
        if (!finer) continue;
        value = *finer;
        e = expected_.oracle_error[i] * Refinement::error_scale(level);
      }
      error = std::fabs((observed_[i] - value.high) - value.low);
      ulp = unit_in_last_place(expected_.dtype, value.high);
      if (e <= std::max(error, ulp) / 128) break;
    }
    (*task_.errors)[i].ulps = error / ulp;
  }

  void judge(size_t i) {
    const uint8_t allowed = expected_.allowed[i];
    if (std::isinf(expected_.tolerance[i])) return undecided(i);
    const uint8_t observed_class = class_of(observed_[i]);
    if (observed_class != class_finite) {
      set_fate(i, observed_class == class_nan ? ElementFate::nan : ElementFate::infinite);
    } else if ((allowed & class_finite) == 0) {
      set_fate(i, ElementFate::unexpected);
    }
    if ((allowed & observed_class) == 0) {
      offend(i, OffenceKind::non_finite, OffenceStrength::certain, infinity);
    } else if (observed_class == class_finite) {
      measure(i);
      if (expected_.tolerance[i] == 0) {
        judge_exact(i);
      } else {
        judge_value(i);
      }
    }
  }

  void undecided(size_t i) {
    ++result_.undecided;
    set_fate(i, ElementFate::undecided);
  }

  // No tolerance: only the nearest element will do.
  void judge_exact(size_t i) {
    const double r = expected_.value[i], e = expected_.oracle_error[i], y = observed_[i];
    const DType dtype = expected_.dtype;
    const double low = decode_element(dtype, encode_element(dtype, r - e));
    const double high = decode_element(dtype, encode_element(dtype, r + e));
    const double extra = rounding_.repeated * std::fabs(r) * 2;
    if (y >= low - extra && y <= high + extra) return;
    offend(i, value_kind(i), OffenceStrength::certain, infinity);
  }

  Decision decision(size_t i, const Refined& value, double e, Ratios* ratios) const {
    const double tolerance = expected_.tolerance[i];
    const double magnitude = std::fabs(value.high);
    const double error = std::fabs((observed_[i] - value.high) - value.low);
    *ratios = ratios_of(error, rounding_.slack(magnitude, tolerance), tolerance);
    return decide(rounding_, error, magnitude, e, tolerance);
  }

  void judge_value(size_t i) {
    Ratios ratios;
    Decision v = decision(i, {expected_.value[i], 0}, expected_.oracle_error[i], &ratios);
    bool escalated = false;
    for (int level = 1; level <= 2; ++level) {
      if (v != Decision::open && level > task_.minimum_level) break;
      const std::optional<Refined> value = task_.refinement.value(level, task_.output, i);
      if (!value) continue;
      escalated = true;
      v = decision(i, *value, expected_.oracle_error[i] * Refinement::error_scale(level), &ratios);
    }
    result_.escalated += escalated;
    if (v == Decision::open) return undecided(i);
    if (v == Decision::outside) {
      exceeded(i, ratios);
    } else {
      note(i, ratios);
    }
  }

  // Beyond the first look's tolerance: the data may be such that rounding errors do not average.
  void exceeded(size_t i, Ratios ratios) {
    OffenceStrength strength = OffenceStrength::firm;
    if (settled_ < max_offences) {  // enough of them make the case; the rest need no excuse
      const Refinement::SecondLook look = task_.refinement.second_look(task_.output, i);
      const double r = expected_.value[i], e = expected_.oracle_error[i];
      const double reach = std::fabs(r) + e;
      const double error = std::fabs(observed_[i] - r) * down - e;
      const double slack = rounding_.slack(reach, look.tolerance);
      ratios = ratios_of(error, slack, look.tolerance);
      if (error <= slack) return note(i, {std::min(1.0, ratios.ratio), ratios.share});
      if (error <= rounding_.slack(reach, look.hard)) strength = OffenceStrength::marginal;
      if (error > rounding_.slack(reach, look.certain)) strength = OffenceStrength::certain;
      settled_ += strength != OffenceStrength::marginal;
    }
    note(i, ratios);
    offend(i, value_kind(i), strength, ratios.ratio);
  }

  OffenceKind value_kind(size_t i) const {
    if (task_.call.flush_allowed()) return OffenceKind::value;
    const double magnitude = std::fabs(expected_.value[i]);
    if (magnitude > 0 && magnitude < traits(expected_.dtype).smallest_normal) {
      return OffenceKind::subnormal;
    }
    if (!task_.elementwise) return OffenceKind::value;
    const Operand& x = task_.call.input(0);
    const double input = std::fabs(x.values[i]);
    return input > 0 && input < traits(x.dtype).smallest_normal ? OffenceKind::subnormal
                                                                : OffenceKind::value;
  }

  void offend(size_t i, OffenceKind kind, OffenceStrength strength, double ratio) {
    result_.offending.push_back(i);
    if (task_.errors != nullptr) (*task_.errors)[i].wrong = true;
    std::vector<Offence>& details = result_.offences;
    if (details.size() == max_offences) {
      // Full: a stronger offence takes the place of a marginal one.
      if (strength == OffenceStrength::marginal) return;
      const auto marginal = std::find_if(details.rbegin(), details.rend(), [](const Offence& o) {
        return o.strength == OffenceStrength::marginal;
      });
      if (marginal == details.rend()) return;
      details.erase(std::next(marginal).base());
    }
    const double r = expected_.value[i], t = expected_.tolerance[i];
    const double slack = t > 0 ? rounding_.slack(std::fabs(r), t) : 0;
    const double centre =
        t > 0 ? r : decode_element(expected_.dtype, encode_element(expected_.dtype, r));
    details.push_back({i, kind, strength, observed_[i], r, centre - slack, centre + slack, ratio,
                       expected_.allowed[i]});
  }

  const ComparisonTask& task_;
  const OutputExpectation& expected_;
  std::span<const double> observed_;
  OutputRounding rounding_;
  bool one_by_one_;     // no fast pass
  size_t settled_ = 0;  // offences that are not marginal
  Comparison result_;
};

}  // namespace

Decision first_look(const OutputExpectation& expected, size_t i, const OutputRounding& rounding,
                    double y) {
  const uint8_t observed = class_of(y);
  const double r = expected.value[i], e = expected.oracle_error[i], t = expected.tolerance[i];
  if (std::isinf(t)) return Decision::open;
  if ((expected.allowed[i] & observed) == 0) return Decision::outside;
  if (observed != class_finite) return Decision::inside;
  if (t > 0) return decide(rounding, std::fabs(y - r), std::fabs(r), e, t);
  if (e > 0) return Decision::open;
  const double nearest = decode_element(expected.dtype, encode_element(expected.dtype, r));
  return y == nearest ? Decision::inside : Decision::outside;
}

Comparison compare_output(const ComparisonTask& task, std::span<const double> observed) {
  return Judge(task, observed).run();
}

}  // namespace warpfuzz
