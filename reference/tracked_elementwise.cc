// Elementwise primitives of the tracked number: the rows of the table in NUMERICS.md, "Primitives".
#include <cmath>
#include <limits>

#include "reference/number_format.h"
#include "reference/tracked.h"
#include "reference/tracked_loops.h"
#include "reference/vector_math.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double library = 1.25;  // allowance for function libraries that nobody has measured
constexpr double two_over_root_pi = 1.1283791670955126;

double product_quantum(double a, double b) { return a > 0 && b > 0 ? a * b : 0; }

// Sums of numbers of at least `floor` are multiples of floor * 2^-23 (in a 24-bit format).
double sum_floor(double a, double b, double roundoff) { return std::min(a, b) * roundoff; }

}  // namespace

Row Tracked::add(const Row& a, const Row& b) {
  const double *x = a.r, *y = b.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, a.bound + b.bound, sum_floor(a.floor, b.floor, u),
                    std::min(a.quantum, b.quantum), a.special || b.special};
  return combine(a, b, facts, 1, 1, [=](size_t i) {
    const double r = x[i] + y[i];
    return Terms{r, 1, 1, u * std::fabs(r), u64 * std::fabs(r)};
  });
}

Row Tracked::add(const Row& a, const Scalar& b) {
  const double* x = a.r;
  const double y = b.r, u = p_.roundoff;
  const double magnitude = std::fabs(y);
  const Facts facts{a.n, a.bound + magnitude,
                    sum_floor(a.floor, magnitude > 0 ? magnitude : infinity, u),
                    std::min(a.quantum, b.quantum), a.special};
  Row plain = a;
  plain.doubt = nullptr;
  Row out = combine(plain, b, facts, 1, 1, [=](size_t i) {
    const double r = x[i] + y;
    return Terms{r, 1, 1, u * std::fabs(r), u64 * std::fabs(r)};
  });
  // An overflow stays one under the addition of something finite.
  if (a.doubt != nullptr) {
    uint8_t* doubt = ensure_doubt(out);
    for (size_t i = 0; i < a.n; ++i) doubt[i] |= a.doubt[i];
  }
  return out;
}

Row Tracked::subtract(const Row& a, const Scalar& b) {
  const double* x = a.r;
  const double y = b.r, u = p_.roundoff;
  const double magnitude = std::fabs(y);
  const Facts facts{a.n, a.bound + magnitude,
                    sum_floor(a.floor, magnitude > 0 ? magnitude : infinity, u),
                    std::min(a.quantum, b.quantum), a.special};
  return combine(a, b, facts, 1, 1, [=](size_t i) {
    const double r = x[i] - y;
    return Terms{r, 1, -1, u * std::fabs(r), u64 * std::fabs(r)};
  });
}

Row Tracked::multiply(const Row& a, const Row& b) {
  const double *x = a.r, *y = b.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, a.bound * b.bound, a.floor * b.floor,
                    product_quantum(a.quantum, b.quantum), a.special || b.special};
  Row out = combine(a, b, facts, 1, 1, [=](size_t i) {
    const double r = x[i] * y[i];
    return Terms{r, y[i], x[i], u * std::fabs(r), u64 * std::fabs(r)};
  });
  if (toleranced(a) && toleranced(b)) {  // second order
    ensure_b(out);
    for (size_t i = 0; i < a.n; ++i) {
      out.lin[i] += a.lin[i] * b.lin[i];
      out.b[i] += a.lin[i] * b.lin[i];
    }
  }
  if (facts.special) {
    for (size_t i = 0; i < a.n; ++i) {
      const bool first = std::isinf(x[i]) && may_vanish(y[i], toleranced(b) ? b.lin[i] : 0);
      const bool second = std::isinf(y[i]) && may_vanish(x[i], toleranced(a) ? a.lin[i] : 0);
      if (first || second) ensure_doubt(out)[i] |= any_non_finite;
    }
  }
  return out;
}

Row Tracked::multiply(const Row& a, const Scalar& b) {
  const double* x = a.r;
  const double y = b.r, u = p_.roundoff;
  const double magnitude = std::fabs(y);
  const Facts facts{a.n, a.bound * magnitude, y == 0 ? infinity : a.floor * magnitude,
                    product_quantum(a.quantum, b.quantum), a.special || !std::isfinite(y)};
  if (!toleranced(a) && a.bound == 0 && !facts.special) return a;  // zeros
  const bool scaling = !toleranced(b) && is_power_of_two(y);
  if (scaling && !toleranced(a) && facts.floor >= p_.normal) {
    Row out = fresh(facts, false);
    for (size_t i = 0; i < a.n; ++i) out.r[i] = x[i] * y;
    out.doubt = a.doubt;
    return out;
  }
  const double rounding = scaling ? 0 : 1;
  // Second order: the errors of the row are scaled by b as the kernel has it.
  const double lin_inflation = 1 + (magnitude > 0 ? std::min(b.lin / magnitude, 1.0) : 0);
  const double tau_inflation = 1 + (magnitude > 0 ? std::min(tau(b) / magnitude, 1.0) : 0);
  Row out = combine(a, b, facts, lin_inflation, tau_inflation * tau_inflation, [=](size_t i) {
    const double r = x[i] * y;
    return Terms{r, y, x[i], rounding * u * std::fabs(r), rounding * u64 * std::fabs(r)};
  });
  if (toleranced(a) && b.lin > magnitude) {  // b may be nothing but error
    ensure_b(out);
    for (size_t i = 0; i < a.n; ++i) {
      out.lin[i] += a.lin[i] * b.lin;
      out.b[i] += a.lin[i] * tau(b);
    }
  }
  if (facts.special) {
    const bool vanishing = may_vanish(y, b.lin);
    for (size_t i = 0; i < a.n; ++i) {
      const bool first = vanishing && std::isinf(x[i]);
      const bool second = std::isinf(y) && may_vanish(x[i], toleranced(a) ? a.lin[i] : 0);
      if (first || second) ensure_doubt(out)[i] |= any_non_finite;
    }
  }
  return out;
}

Row Tracked::scale(const Row& a, const Scalar& s, const Row& w) {
  const Row first_product = multiply(a, s);
  Row out = multiply(first_product, w);
  const double size = std::fabs(s.r);
  // Where a s is exact, s w may still be rounded, and then a (s w) once more.
  if (!toleranced(first_product) && toleranced(out) && !is_power_of_two(s.r)) {
    for (size_t i = 0; i < a.n; ++i) {
      const double local = p_.roundoff * std::fabs(out.r[i]);
      if (!std::isfinite(local)) continue;
      out.lin[i] += local;
      out.var[i] += local * local / 3;
    }
  }
  const bool may_overflow = std::max(a.bound, size) * w.bound >= 0.99 * p_.overflow;
  const bool may_underflow = std::min(a.floor, size) * w.floor < 4 * p_.normal;
  for (size_t i = 0; (may_overflow || may_underflow) && i < a.n; ++i) {
    const double first = std::fabs(a.r[i] * w.r[i]), second = std::fabs(s.r * w.r[i]);
    const double large =
        std::isfinite(first) && std::isfinite(second) ? std::max(first, second) : 0;
    if (large * (1 + 4 * p_.roundoff) >= p_.overflow) {
      ensure_doubt(out)[i] |= doubt_undetermined;
    }
    const double lost = (first < 2 * p_.normal ? size : 0) * p_.underflow +
                        (second < 2 * p_.normal ? std::fabs(a.r[i]) : 0) * p_.underflow;
    if (!may_underflow || out.r[i] == 0 || !toleranced(out) || lost == 0) continue;
    ensure_b(out);
    out.lin[i] += lost;
    out.b[i] += lost;
  }
  return out;
}

Row Tracked::square(const Row& a) {
  const double* x = a.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, a.bound * a.bound, a.floor * a.floor,
                    product_quantum(a.quantum, a.quantum), a.special};
  Row out = combine(a, Scalar{}, facts, 1, 1, [=](size_t i) {
    const double r = x[i] * x[i];
    return Terms{r, 2 * x[i], 0, u * r, u64 * r};
  });
  if (toleranced(a)) {  // second order: the square of the error itself
    ensure_b(out);
    double* spread = arena_.doubles(a.n);
    std::copy_n(a.var, a.n, spread);
    for (const double* c : a.c) {
      if (c == nullptr) continue;
#pragma clang loop vectorize(assume_safety)
      for (size_t i = 0; i < a.n; ++i) spread[i] += c[i] * c[i];
    }
    const double* b = a.b != nullptr ? a.b : zeros(a.n);
    const double* lin = a.lin;
    double *out_b = out.b, *out_lin = out.lin;
    const double lambda = lambda_;
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < a.n; ++i) {
      const double tau_a = lambda * std::sqrt(spread[i]) + b[i];
      const double bound = tau_a < lin[i] ? tau_a : lin[i];
      out_b[i] += bound * bound;
      out_lin[i] += lin[i] * lin[i];
    }
  }
  return out;
}

Row Tracked::divide(const Row& a, const Row& b) {
  const double *x = a.r, *y = b.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, b.floor > 0 ? a.bound / b.floor : infinity, a.floor / b.bound, 0,
                    a.special || b.special};
  Row divisor = b;
  divisor.doubt = nullptr;
  Row out = combine(a, divisor, facts, 1, 1, [=](size_t i) {
    const double r = x[i] / y[i];
    const double slope = std::isfinite(y[i]) ? 1 / y[i] : 0;
    return Terms{r, slope, -r * slope, 2 * u * std::fabs(r), u64 * std::fabs(r)};
  });
  if (toleranced(b)) {
    for (size_t i = 0; i < a.n; ++i) {
      const double relative = b.lin[i] / std::fabs(y[i]);
      if (relative > 0.5) {
        ensure_doubt(out)[i] = doubt_undetermined;
      } else if (relative > 1e-4) {  // second order
        ensure_b(out);
        const double second = 2 * std::fabs(out.r[i]) * relative * relative;
        out.lin[i] += second;
        out.b[i] += second;
      }
    }
  }
  if (b.bound >= 0.5 / p_.normal || b.doubt != nullptr || b.special) {
    // The reciprocal of a large divisor is subnormal and may be flushed; that of one that overflows
    // is 0 (NUMERICS.md, "Underflow").
    for (size_t i = 0; i < a.n; ++i) {
      const uint8_t doubt = b.doubt != nullptr ? b.doubt[i] : uint8_t{0};
      if (std::fabs(y[i]) * (1 + 8 * u) >= 1 / p_.normal && std::isfinite(y[i])) {
        ensure_b(out);
        out.lin[i] += std::fabs(out.r[i]);
        out.b[i] += std::fabs(out.r[i]);
      }
      const bool one_sided =
          y[i] > 0 ? doubt == class_positive_infinity : doubt == class_negative_infinity;
      if (doubt != 0 && !one_sided) ensure_doubt(out)[i] = doubt_undetermined;
      if (std::isinf(y[i])) {  // of an input, or an overflow of double itself: x / inf is exactly 0
        out.lin[i] = out.var[i] = out.e[i] = 0;
        if (out.b != nullptr) out.b[i] = 0;
      }
    }
  }
  return out;
}

Row Tracked::divide(const Row& a, const Scalar& b) {
  const double* x = a.r;
  const double y = b.r, u = p_.roundoff;
  const double magnitude = std::fabs(y);
  const Facts facts{a.n, a.bound / magnitude, a.floor / magnitude,
                    is_power_of_two(y) ? a.quantum / magnitude : 0, a.special || !std::isfinite(y)};
  if (tau(b) > 0.5 * magnitude) {
    Row out = fresh(facts, true);
    for (size_t i = 0; i < a.n; ++i) {
      out.r[i] = x[i] / y;
      out.lin[i] = out.var[i] = out.e[i] = 0;
    }
    doubt_all(out, doubt_undetermined);
    return out;
  }
  const double rounding = is_power_of_two(y) && !toleranced(b) ? 0 : 2;
  const double lin_relative = std::min(b.lin / magnitude, 0.5);
  const double relative = tau(b) / magnitude;
  const double slope = 1 / y;
  const double second = relative * relative;
  Row out = combine(a, b, facts, 1 + 2 * lin_relative, (1 + 2 * relative) * (1 + 2 * relative),
                    [=](size_t i) {
                      const double r = x[i] / y;
                      return Terms{r, slope, -r * slope, (rounding * u + 2 * second) * std::fabs(r),
                                   u64 * std::fabs(r)};
                    });
  return out;
}

Row Tracked::reciprocal(const Row& a) {
  Row ones = fresh({a.n, 1, 1, 1, false}, false);
  std::fill_n(ones.r, a.n, 1.0);
  return divide(ones, a);
}

Row Tracked::negate(const Row& a) {
  Row out = a;
  out.r = arena_.doubles(a.n);
  for (size_t i = 0; i < a.n; ++i) out.r[i] = -a.r[i];
  for (double*& c : out.c) {
    if (c == nullptr) continue;
    double* flipped = arena_.doubles(a.n);
    for (size_t i = 0; i < a.n; ++i) flipped[i] = -c[i];
    c = flipped;
  }
  return out;
}

Row Tracked::relu(const Row& a) {
  Row out = a;  // tolerances stay those of the element, at worst
  out.r = arena_.doubles(a.n);
  for (size_t i = 0; i < a.n; ++i) out.r[i] = a.r[i] > 0 || std::isnan(a.r[i]) ? a.r[i] : 0.0;
  if (!toleranced(a)) return out;
  out.lin = arena_.doubles(a.n);
  for (size_t i = 0; i < a.n; ++i) out.lin[i] = a.r[i] + a.lin[i] < 0 ? 0 : a.lin[i];
  return out;
}

Row Tracked::exp(const Row& a) {
  const double* x = a.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, std::exp(a.bound), std::exp(-a.bound), 0, a.special};
  double* values = arena_.doubles(a.n);
  vector_exp(x, values, a.n);
  Row plain = a;
  plain.doubt = nullptr;  // below: an argument that overflows gives 0 or an overflow
  Row out = combine(plain, Scalar{}, facts, 1, 1, [=](size_t i) {
    const double r = values[i];
    const double size = std::min(std::fabs(x[i]), 1100.0);
    return Terms{r, r, 0, library * u * (4 + 2 * size) * r, 2 * vector_function_error * r};
  });
  if (toleranced(a)) {  // beyond first order
    for (size_t i = 0; i < a.n; ++i) {
      if (!(a.lin[i] > 1e-6)) continue;
      const double reach = std::expm1(std::min(a.lin[i], 700.0)) / a.lin[i];
      out.lin[i] += out.r[i] * a.lin[i] * (reach - 1);
      out.var[i] += out.r[i] * out.r[i] * a.var[i] * (reach * reach - 1);
    }
  }
  if (facts.bound >= p_.overflow) {
    for (size_t i = 0; i < a.n; ++i) {
      if (std::isinf(out.r[i]) && std::isfinite(x[i])) {
        ensure_doubt(out)[i] |= class_positive_infinity;
      }
    }
  }
  if (a.special) {
    for (size_t i = 0; i < a.n; ++i) {
      if (x[i] == -infinity) out.lin[i] = out.var[i] = out.e[i] = 0;
    }
  }
  return out;
}

Row Tracked::one_plus_erf(const Row& a) {
  const double* x = a.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, 2, std::erfc(a.bound), 0, a.special};
  double* values = arena_.doubles(a.n);
  double* slopes = arena_.doubles(a.n);
  for (size_t i = 0; i < a.n; ++i) slopes[i] = -x[i] * x[i];
  vector_exp(slopes, slopes, a.n);
  vector_erf(x, values, a.n);
  Row plain = a;
  plain.doubt = nullptr;  // saturates
  return combine(plain, Scalar{}, facts, 1, 1, [=](size_t i) {
    const double r = 1 + values[i];
    const double size = std::fabs(values[i]);
    // CUDA's erfcf errs by 4 units in the last place: of a result beyond 1, as much as 8u.
    const double by_erf = library * 4 * u * size + u * r;
    const double by_erfc = 8 * u * power_of_two_below(r);
    return Terms{r, two_over_root_pi * slopes[i], 0, std::max(by_erf, by_erfc),
                 2 * vector_function_error * size + u64 * r};
  });
}

Row Tracked::tanh(const Row& a) {
  const double* x = a.r;
  const double u = p_.roundoff;
  const Facts facts{a.n, 1, std::min(a.floor, 0.5), 0, a.special};
  double* values = arena_.doubles(a.n);
  vector_tanh(x, values, a.n);
  const double local = call_.slack().tanh_approx ? 0x1p-11 : library * 4 * u;
  Row plain = a;
  plain.doubt = nullptr;  // saturates
  return combine(plain, Scalar{}, facts, 1, 1, [=](size_t i) {
    const double r = values[i];
    const double slope = (1 - r) * (1 + r);
    return Terms{r, slope, 0, local * std::fabs(r), 2 * vector_function_error * std::fabs(r)};
  });
}

}  // namespace warpfuzz
