// The honest kernels of every operator with the shapes and attributes they are tried on.
#pragma once

#include "tests/honest_attention.h"
#include "tests/honest_kernels.h"

namespace warpfuzz::testing_support {

struct HonestOp {
  std::string_view op;
  HonestKernel run;
  std::vector<std::vector<int64_t>> axes;
  std::vector<std::vector<AttributeValue>> attributes;
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
  };
}

}  // namespace warpfuzz::testing_support
