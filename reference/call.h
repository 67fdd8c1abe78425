// A call as the references see it: inputs decoded to double, with the facts about each tensor that
// let the arithmetic skip work (largest and smallest magnitude, specials, lattice quantum), plus
// attributes and the contract. assign() makes it another call in the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "schemas/case.h"
#include "schemas/tensor.h"

namespace warpfuzz {

struct Operand {
  DType dtype = DType::float32;
  std::vector<int64_t> shape;
  std::vector<double> values;
  double largest = 0;   // of the finite magnitudes; 0 if all are 0
  double smallest = 0;  // of the nonzero finite magnitudes; infinity if all are 0
  bool has_special = false;
  bool on_lattice = false;  // the law promises values on a coarse grid: quanta are worth computing
  double quantum = 0;       // all values are multiples; computed on lattices only, else 0

  size_t extent(size_t axis) const { return static_cast<size_t>(shape[axis]); }
  size_t last_extent() const { return extent(shape.size() - 1); }
};

// A matrix inside an operand: rows x columns, row-major, contiguous.
struct MatrixView {
  const double* values = nullptr;
  size_t rows = 0;
  size_t columns = 0;
  const Operand* operand = nullptr;
};

// Freedoms that a schema may grant by naming them in contract.slack.
struct Slack {
  bool half_probabilities = false;  // attention may store P in the input type
  bool tanh_approx = false;         // tanh may be the hardware's, 2^-11 relative
  bool one_pass_variance = false;   // variance may be E[x^2] - E[x]^2
  bool fused_exponent = false;      // exp(x - m) may be exp2(fma(x, log2e, -m log2e)) at any m
};

class Call {
 public:
  void assign(const Case& c, std::span<const Tensor> inputs);

  const Operand& input(size_t position) const { return inputs_[position]; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  DType output_dtype(size_t output = 0) const { return outputs_[output].dtype; }
  size_t output_size(size_t output = 0) const { return outputs_[output].size; }
  size_t output_last_extent(size_t output = 0) const { return outputs_[output].last_extent; }
  const Contract& contract() const { return schema_->contract; }
  const Slack& slack() const { return slack_; }
  bool flush_allowed() const { return contract().subnormal == SubnormalPolicy::flush_allowed; }

  // The matrix number `index` of an operand whose last two axes are a matrix.
  MatrixView matrix(size_t position, size_t index = 0) const;

  double real_attribute(std::string_view name) const;
  bool boolean_attribute(std::string_view name) const;
  std::string_view choice_attribute(std::string_view name) const;

 private:
  size_t attribute(std::string_view name) const;

  std::shared_ptr<const Schema> schema_;
  std::vector<AttributeValue> attributes_;
  std::vector<Operand> inputs_;
  struct Output {
    DType dtype = DType::float32;
    size_t size = 1;
    size_t last_extent = 1;
  };
  std::vector<Output> outputs_;
  Slack slack_;
};

// The largest power of two that divides every (finite) value; infinity if all are 0.
double quantum_of(std::span<const double> values);

}  // namespace warpfuzz
