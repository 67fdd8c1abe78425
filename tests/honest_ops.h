// The honest kernels of every operator with the shapes and attributes they are tried on.
#pragma once

#include "tests/honest_attention.h"
#include "tests/honest_integers.h"
#include "tests/honest_kernels.h"
#include "tests/honest_recurrences.h"
#include "tests/honest_rows.h"

namespace warpfuzz::testing_support {

struct HonestOp {
  std::string_view op;
  HonestKernel run;
  std::vector<std::vector<int64_t>> axes;
  std::vector<std::vector<AttributeValue>> attributes;
  std::optional<DType> output = {};  // whatever the inputs are
  bool copies = false;               // the output has the type of the input

  DType output_for(DType input, DType asked) const {
    return copies ? input : output.value_or(asked);
  }
};

inline std::vector<HonestOp> honest_ops() {
  const std::vector<std::vector<int64_t>> rows = {{3, 1}, {3, 7}, {2, 33}, {2, 256}, {1, 1000}};
  return {
      {"relu", honest_relu, {{2, 300}}, {{}}},
      {"silu", honest_silu, {{2, 300}}, {{}}},
      {"gelu", honest_gelu, {{2, 300}}, {{{.integer = 0}}, {{.integer = 1}}}},
      {"softmax", honest_softmax, rows, {{}}},
      {"rmsnorm", honest_rmsnorm, rows, {{{.real = 1e-5}}, {{.real = 1e-12}}}},
      {"layernorm", honest_layernorm, rows, {{{.real = 1e-5}}, {{.real = 1e-12}}}},
      {"matmul",
       honest_matmul,
       {{2, 3, 1}, {2, 3, 2}, {3, 4, 17}, {2, 5, 128}, {2, 2, 1025}},
       {{}}},
      {"attention",
       honest_attention,
       {{1, 2, 1, 8}, {1, 2, 5, 3}, {2, 2, 33, 16}, {1, 2, 130, 64}, {1, 3, 300, 16}},
       {{{.integer = 0}}, {{.integer = 1}}}},
      {"sigmoid", honest_sigmoid, {{2, 300}}, {{}}},
      {"tanh", honest_tanh, {{2, 300}}, {{}}},
      {"leaky_relu", honest_leaky_relu, {{2, 300}}, {{{.real = 0.01}}, {{.real = 0}}}},
      {"elu", honest_elu, {{2, 300}}, {{{.real = 1}}, {{.real = 1.6732632}}}},
      {"l2norm", honest_l2norm, rows, {{{.real = 1e-5}}, {{.real = 1e-12}}}},
      {"silu_row_sum", honest_silu_row_sum, rows, {{}}},
      {"softmax_backward", honest_softmax_backward, rows, {{}}},
      {"sum", honest_sum, rows, {{}}},
      {"mean", honest_mean, rows, {{}}},
      {"amax", honest_amax, rows, {{}}},
      {"argmax", honest_argmax, rows, {{}}, DType::int64},
      {"logsumexp", honest_logsumexp, rows, {{}}},
      {"layernorm_backward",
       honest_layernorm_backward,
       {{3, 1}, {3, 7}, {2, 33}, {2, 256}, {1, 1000}, {200, 5}},
       {{{.real = 1e-5}}, {{.real = 1e-12}}}},
      {"embedding", honest_embedding, {{3, 5, 7}, {8, 3, 1}, {5, 1, 64}}, {{}}, {}, true},
      {"cumsum", honest_cumsum, rows, {{}}},
      {"quantize_int8", honest_quantize_int8, rows, {{}}, DType::int8},
      {"w8a8_matmul", honest_w8a8_matmul, {{2, 3, 1}, {3, 4, 17}, {2, 2, 1500}}, {{}}},
      {"gated_delta",
       honest_gated_delta,
       {{1, 1, 1, 1}, {2, 5, 3, 2}, {1, 40, 4, 3}, {1, 70, 16, 2}, {1, 130, 2, 2}},
       {{}}},
      {"scatter_add", honest_scatter_add, {{40, 3, 5}, {300, 2, 3}, {5, 9, 1}}, {{}}, {}, true},
  };
}

}  // namespace warpfuzz::testing_support
