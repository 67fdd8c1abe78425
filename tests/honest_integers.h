// Honest kernels of the operators with integer operands or results (see honest_kernels.h).
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/honest_rows.h"

namespace warpfuzz::testing_support {

inline std::vector<HonestRun> honest_quantize_int8(const Problem& p) {
  using Code = float (*)(float x, float largest, float scale);
  struct Style {
    const char* name;
    float (*scale)(float largest);
    Code code;
  };
  static constexpr Style styles[] = {
      {"divided", [](float largest) { return largest / 127; },
       [](float x, float, float scale) { return x / scale; }},
      {"reciprocal", [](float largest) { return largest * (1 / 127.0f); },
       [](float x, float, float scale) { return x * (1 / scale); }},
      {"own factor", [](float largest) { return off_by(largest / 127, 1); },
       [](float x, float largest, float) { return x * (127 / largest); }}};
  const size_t n = p.size("n");
  std::vector<HonestRun> runs;
  for (const Style& style : styles) {
    HonestRun run{style.name, {}, {Floats()}};
    for (size_t row = 0; row < p.size("m"); ++row) {
      const float* x = p.x[0].data() + row * n;
      float largest = 0;
      for (size_t i = 0; i < n; ++i) largest = std::fmax(largest, std::fabs(x[i]));
      const float scale = style.scale(largest);
      run.more[0].push_back(scale);
      for (size_t i = 0; i < n; ++i) {
        const float code = scale > 0 ? style.code(x[i], largest, scale) : 0;
        run.y.push_back(std::nearbyint(std::clamp(code, -127.0f, 127.0f)));
      }
    }
    runs.push_back(run);
  }
  return runs;
}

inline std::vector<HonestRun> honest_w8a8_matmul(const Problem& p) {
  using Scaled = float (*)(float sum, float a, float b);
  static constexpr std::pair<const char*, Scaled> styles[] = {
      {"product of scales", [](float sum, float a, float b) { return sum * (a * b); }},
      {"row first", [](float sum, float a, float b) { return sum * a * b; }},
      {"column first, flushed",
       [](float sum, float a, float b) { return flush(flush(sum * flush(b)) * flush(a)); }}};
  const size_t m = p.size("m"), n = p.size("n"), depth = p.size("k");
  std::vector<HonestRun> runs;
  for (const auto& [name, scaled] : styles) {
    Floats c;
    for (size_t e = 0; e < m * n; ++e) {
      const size_t i = e / n, j = e % n;
      int32_t sum = 0;
      for (size_t k = 0; k < depth; ++k) {
        sum += static_cast<int32_t>(p.x[0][i * depth + k] * p.x[1][k * n + j]);
      }
      c.push_back(scaled(static_cast<float>(sum), p.x[2][i], p.x[3][j]));
    }
    runs.push_back({name, c});
  }
  return runs;
}

inline std::vector<HonestRun> honest_scatter_add(const Problem& p) {
  const size_t v = p.size("v"), d = p.size("d");
  std::vector<std::vector<size_t>> rows(v);  // that meet in each row of y
  for (size_t i = 0; i < p.size("m"); ++i) rows[static_cast<size_t>(p.x[0][i])].push_back(i);
  std::vector<HonestRun> runs;
  for (const NamedOrder& order : sum_orders) {
    Floats y;
    for (size_t e = 0; e < v * d; ++e) {
      Floats addends;
      for (const size_t i : rows[e / d]) addends.push_back(p.x[1][i * d + e % d]);
      y.push_back(order.sum(addends.data(), addends.size()));
    }
    runs.push_back({std::string(order.name), y});
  }
  return runs;
}

}  // namespace warpfuzz::testing_support
