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

}  // namespace warpfuzz::testing_support
