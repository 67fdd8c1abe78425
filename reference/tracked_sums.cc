// Outputs that rows add to (NUMERICS.md, "Sums over rows").
#include <algorithm>
#include <cmath>

#include "reference/second_look.h"
#include "reference/sums.h"
#include "reference/tracked.h"
#include "reference/tracked_loops.h"
#include "schemas/check.h"

namespace warpfuzz {

void Tracked::add_to(size_t output, size_t target, const Row& a) {
  Sums& s = *outputs_[output].sums;
  WARPFUZZ_CHECK(a.n == s.lane && target < s.additions.size(), "{} elements to lane {} of {}", a.n,
                 target, s.additions.size());
  ++s.additions[target];
  s.quantum = std::min(s.quantum, toleranced(a) ? 0 : a.quantum);
  s.floor = std::min(s.floor, a.floor);
  s.special = s.special || a.special;
  s.inexact = s.inexact || toleranced(a);
  const size_t begin = target * s.lane;
  for (size_t i = 0; i < a.n; ++i) {
    const double x = a.r[i];
    const size_t at = begin + i;
    s.value[at] += x;
    if (a.doubt != nullptr) s.doubt[at] |= inherited(a.doubt[i]);
    if (!std::isfinite(x)) continue;
    s.magnitude[at] += std::fabs(x);
    if (x > 0) s.positive[at] += x;
    s.squares[at] += x * x;
    if (!toleranced(a)) continue;
    double variance = a.var[i];
    for (const double* c : a.c) variance += c != nullptr ? c[i] * c[i] : 0;
    const double b = a.b != nullptr ? a.b[i] : 0;
    s.lin[at] += a.lin[i];
    s.e[at] += a.e[i];
    if (careful_) {
      // Equal rows err equally.
      s.b[at] += std::min(a.lin[i], lambda_ * std::sqrt(variance) + b);
    } else {
      s.var[at] += variance;
      s.b[at] += b;
    }
  }
  if (!s.keep) return;
  s.addends.insert(s.addends.end(), a.r, a.r + a.n);
  s.addend_targets.push_back(target);
}

void Tracked::finish(size_t output) {
  const Sums& s = *outputs_[output].sums;
  const double u = p_.roundoff;
  const bool underflows = s.floor * u < 4 * p_.normal && p_.flush;
  std::vector<std::vector<size_t>> kept(s.keep ? s.additions.size() : 0);  // additions per lane
  for (size_t i = 0; i < s.addend_targets.size(); ++i) kept[s.addend_targets[i]].push_back(i);
  for (size_t target = 0; target < s.additions.size(); ++target) {
    reset();
    const size_t begin = target * s.lane;
    const double n = static_cast<double>(s.additions[target]);
    double bound = 0;
    for (size_t i = 0; i < s.lane; ++i) bound = std::max(bound, s.magnitude[begin + i]);
    Row out = fresh({s.lane, bound, 0, 0, s.special}, true);
    ensure_b(out);
    double* addends = s.keep ? arena_.doubles(kept[target].size()) : nullptr;
    for (size_t i = 0; i < s.lane; ++i) {
      const size_t at = begin + i;
      const double magnitude = s.magnitude[at];
      const bool exact = n <= 1 || is_exact(magnitude, s.quantum);
      const double lost = !exact && underflows && magnitude > 0 ? n * p_.underflow : 0;
      out.r[i] = s.value[at];
      out.lin[i] = s.lin[at] + (exact ? 0 : n * u * magnitude) + lost;
      out.var[i] = s.var[at] + (exact ? 0 : order_variance(s.value[at], s.squares[at], n));
      out.e[i] = s.e[at] + (exact ? 0 : (n + 2) * u64 * magnitude);
      out.b[i] = s.b[at] + lost;
      if (s.doubt[at] != 0) ensure_doubt(out)[i] = s.doubt[at];
      if (s.keep && !exact) {
        const std::vector<size_t>& mine = kept[target];
        for (size_t k = 0; k < mine.size(); ++k) addends[k] = s.addends[mine[k] * s.lane + i];
        out.var[i] = std::max(out.var[i],
                              summation_variance(addends, mine.size(), s.value[at], {u, lambda_}));
      }
      // Every partial sum lies between minus the negative and the positive addends.
      const double edge = p_.overflow / (1 + n * u);
      if (magnitude < edge) continue;
      if (s.positive[at] >= edge) ensure_doubt(out)[i] |= class_positive_infinity;
      if (magnitude - s.positive[at] >= edge) ensure_doubt(out)[i] |= class_negative_infinity;
    }
    this->output(target, out, output);
  }
}

}  // namespace warpfuzz
