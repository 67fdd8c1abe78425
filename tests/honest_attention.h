// Honest attention kernels: materialised, flash in several block sizes, online per key; the scale
// before or after the product. The building blocks are those of honest_kernels.h.
#pragma once

#include "tests/honest_kernels.h"

namespace warpfuzz::testing_support {

struct AttentionStyle {
  Dot dot;
  ExpShift exp;
  size_t block;      // keys per step of the online softmax; 0: whole row at once
  bool scale_query;  // the query is scaled before the product
};

inline Floats attention_forward(const Problem& p, const AttentionStyle& style) {
  const size_t h = p.size("h"), m = p.size("m"), n = p.size("n"), d = p.size("d");
  const bool causal = p.integer("causal") != 0;
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  Floats out(h * m * d);
  for (size_t head = 0; head < h; ++head) {
    const float* keys = p.x[1].data() + head * n * d;
    const float* values = p.x[2].data() + head * n * d;
    for (size_t i = 0; i < m; ++i) {
      Floats q(p.x[0].data() + (head * m + i) * d, p.x[0].data() + (head * m + i + 1) * d);
      if (style.scale_query) {
        for (float& value : q) value *= scale;
      }
      const int64_t last = static_cast<int64_t>(i + n) - static_cast<int64_t>(m);
      const size_t visible = causal ? static_cast<size_t>(std::max<int64_t>(
                                          0, std::min<int64_t>(last + 1, static_cast<int64_t>(n))))
                                    : n;
      Floats s(visible);
      for (size_t j = 0; j < visible; ++j) {
        s[j] = style.dot(q.data(), keys + j * d, d, 1);
        if (!style.scale_query) s[j] *= scale;
      }
      const size_t block = style.block == 0 ? std::max<size_t>(visible, 1) : style.block;
      float highest = -std::numeric_limits<float>::infinity(), sum = 0;
      Floats o(d, 0.0f);
      for (size_t begin = 0; begin < visible; begin += block) {
        const size_t end = std::min(begin + block, visible);
        float next = highest;
        for (size_t j = begin; j < end; ++j) next = std::max(next, s[j]);
        // A block of -inf alone has no weight yet; the last one decides between 0 and NaN.
        if (std::isinf(next) && next < 0 && end < visible && !has_nan(&s[begin], end - begin)) {
          continue;
        }
        const bool first = std::isinf(highest) && highest < 0;
        const float factor =
            first ? 0 : (style.exp == exp_fused ? exp_fast : style.exp)(highest, next);
        Floats w(end - begin);
        for (size_t j = begin; j < end; ++j) w[j - begin] = style.exp(s[j], next);
        sum = sum * factor + sum_lanes(w.data(), w.size());
        for (size_t t = 0; t < d; ++t) {
          o[t] = o[t] * factor + style.dot(w.data(), values + begin * d + t, w.size(), d);
        }
        highest = next;
      }
      for (size_t t = 0; t < d; ++t) {
        out[(head * m + i) * d + t] = visible == 0 ? 0.0f : o[t] / sum;
      }
    }
  }
  return out;
}

inline std::vector<HonestRun> honest_attention(const Problem& p) {
  struct Row {
    const char* name;
    AttentionStyle style;
    bool half_only = false;
  };
  const Row rows[] = {
      {"materialised", {ordered_dot<sum_sequential>, exp_plain, 0, false}},
      {"scaled query", {dot_fused, exp_plain, 0, true}},
      {"flash 32", {dot_fused, exp_fused, 32, false}},
      {"flash 16, lanes", {ordered_dot<sum_lanes>, exp_fast, 16, true}},
      {"online per key", {ordered_dot<sum_reversed>, exp_plain, 1, false}},
      {"tensor core", {dot_tensor_core, exp_fused, 64, false}, true},
  };
  std::vector<HonestRun> runs;
  for (const Row& row : rows) {
    if (row.half_only && !is_half(p)) continue;
    runs.push_back({row.name, attention_forward(p, row.style)});
  }
  return runs;
}

}  // namespace warpfuzz::testing_support
