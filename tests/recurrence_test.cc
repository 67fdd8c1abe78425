// The gated delta rule against its matrix form in long double, and what of it can be told apart.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/oracle.h"
#include "tests/honest_recurrences.h"
#include "tests/oracle_fixture.h"

namespace warpfuzz {
namespace {

using namespace testing_support;

constexpr DType f32 = DType::float32;

// S[dv,dk] := alpha S (I - beta k k^T) + beta v k^T, o = S q, as it is written in papers.
std::vector<long double> matrix_form(const Problem& p) {
  const size_t heads = p.size("h"), steps = p.size("t"), dk = p.size("dk"), dv = p.size("dv");
  std::vector<long double> o;
  const auto at = [&](size_t input, size_t i) { return static_cast<long double>(p.x[input][i]); };
  for (size_t head = 0; head < heads; ++head) {
    std::vector<long double> state(dv * dk, 0), next(dv * dk);
    for (size_t t = 0; t < steps; ++t) {
      const size_t row = head * steps + t;
      for (size_t j = 0; j < dv; ++j) {
        for (size_t i = 0; i < dk; ++i) {
          long double sum = at(4, row) * at(2, row * dv + j) * at(1, row * dk + i);
          for (size_t e = 0; e < dk; ++e) {
            const long double kk = at(1, row * dk + e) * at(1, row * dk + i);
            sum += at(3, row) * state[j * dk + e] * ((e == i ? 1 : 0) - at(4, row) * kk);
          }
          next[j * dk + i] = sum;
        }
      }
      state = next;
      for (size_t j = 0; j < dv; ++j) {
        long double sum = 0;
        for (size_t i = 0; i < dk; ++i) sum += state[j * dk + i] * at(0, row * dk + i);
        o.push_back(sum);
      }
    }
  }
  return o;
}

TEST(GatedDelta, IsThatOfItsMatrixForm) {
  size_t judged = 0;
  for (const Family& family : families) {
    const Problem p = family_problem({"gated_delta", f32, f32, {2, 12, 4, 3}},
                                     schema_of("gated_delta"), family, 1);
    const OutputExpectation o = Oracle(p.c, p.inputs).expectation(0);
    const std::vector<long double> exact = matrix_form(p);
    ASSERT_EQ(o.value.size(), exact.size());
    for (size_t i = 0; i < exact.size(); ++i) {
      if (o.allowed[i] != class_finite || std::fabs(exact[i]) < 1e-100L) continue;
      ++judged;
      EXPECT_NEAR(o.value[i], static_cast<double>(exact[i]), o.oracle_error[i])
          << family.name << ' ' << i;
    }
  }
  EXPECT_GT(judged, 1000u);
}

// A model's data: keys of length 1, gates between 0 and 1.
Problem usual_problem(uint64_t seed, std::vector<int64_t> axes) {
  Generator random(seed);
  const size_t dk = static_cast<size_t>(axes[2]);
  return make_problem({"gated_delta", f32, f32, std::move(axes)}, schema_of("gated_delta"),
                      [&](size_t input, size_t size) {
                        std::vector<double> x(size);
                        for (double& v : x) v = input < 3 ? normal(random) : uniform(random);
                        for (size_t i = 0; input < 2 && i < size; i += dk) {
                          double squares = 0;
                          for (size_t e = i; e < i + dk; ++e) squares += x[e] * x[e];
                          for (size_t e = i; e < i + dk; ++e) x[e] /= std::sqrt(squares);
                        }
                        if (input == 3) {
                          for (double& v : x) v = 1 - 0.1 * v;
                        }
                        return x;
                      });
}

TEST(GatedDelta, HonestKernelsStayWellInsideOnUsualData) {
  double worst = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Problem p = usual_problem(seed, {1, 150, 32, 4});
    const Oracle oracle(p.c, p.inputs);
    for (const HonestRun& run : honest_gated_delta(p)) {
      const Comparison verdict = oracle.compare(0, p.store(run.y));
      EXPECT_TRUE(verdict.offending.empty()) << run.name;
      worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  EXPECT_LT(worst, 0.5);
}

// The state rounded to half precision after each step, by the mantissa bits kept.
TEST(GatedDelta, AStateInHalfPrecisionIsRejected) {
  const Problem p = usual_problem(4, {1, 150, 32, 4});
  const Oracle oracle(p.c, p.inputs);
  const size_t steps = 150, dk = 32, dv = 4;
  for (const DType type : {DType::float16, DType::bfloat16}) {
    Floats o(steps * dv);
    for (size_t j = 0; j < dv; ++j) {
      Floats s(dk, 0);
      for (size_t t = 0; t < steps; ++t) {
        const float *k = &p.x[1][t * dk], *q = &p.x[0][t * dk];
        for (float& x : s) x *= p.x[3][t];
        const float x = p.x[4][t] * (p.x[2][t * dv + j] - dot_fused(k, s.data(), dk, 1));
        for (size_t i = 0; i < dk; ++i) {
          const double next = static_cast<double>(s[i] + k[i] * x);
          s[i] = static_cast<float>(decode_element(type, encode_element(type, next)));
        }
        o[t * dv + j] = dot_fused(q, s.data(), dk, 1);
      }
    }
    const Comparison verdict = oracle.compare(0, p.store(o));
    EXPECT_GT(verdict.offending.size(), o.size() * 9 / 10) << name(type);
  }
}

}  // namespace
}  // namespace warpfuzz
