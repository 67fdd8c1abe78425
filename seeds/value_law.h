// Value laws: the families of input values that separate right kernels from wrong ones. One table,
// one function per law. Values are a pure function of (law, seed, position) through a counter-based
// generator, so any element can be made anywhere, and small changes of a case stay small.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schemas/case.h"
#include "schemas/tensor.h"
#include "seeds/random_laws.h"

namespace warpfuzz {

// 64 random bits for (seed, counter). The algorithm is that of generator.h, pinned by a test.
uint64_t random_bits(uint64_t seed, uint64_t counter);

// Where an element stands relative to the axis that the operator reduces. An element's row-major
// index is (outer * length + position) * inner + inner_index; its lane is outer * inner +
// inner_index.
struct LawArguments {
  uint64_t seed = 0;
  DType dtype = DType::float32;
  int64_t outer = 1;
  int64_t length = 1;  // along the reduction axis (the last axis where there is none)
  int64_t inner = 1;
  // Pairs along the reduction axis: of opposite sign in the operand where this is true, repeated in
  // the others (TensorSpec::pairs_negate).
  bool pairs_negate = true;
  // Lattice of 12-bit integers against +-1 instead of 7 against 6 bits. All operands of a product
  // must agree on it; make_input() decides by the seed of the first input with the lattice law.
  bool wide = false;
  // Index of the first value, for the laws of random_laws.h: a part of a tensor.
  uint64_t first = 0;
};

// Fills `values` (outer * length * inner of them, row-major), before rounding to the element type.
void generate(ValueLaw law, const LawArguments& arguments, std::span<double> values);

// The exact bits of one input of a case: law, rounding to the element type, then pokes.
Tensor make_input(const Case& c, size_t input);
std::vector<Tensor> make_inputs(const Case& c);

// For inputs with a law of random_laws.h and no pokes. The law, for whoever makes the tensor
// elsewhere; and these rows (along the first axis) of what make_input() gives, without the others.
RandomLaw random_law_of(const Case& c, size_t input);
Tensor make_input_rows(const Case& c, size_t input, std::span<const int64_t> rows);

}  // namespace warpfuzz
