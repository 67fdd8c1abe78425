// Calls built by hand for tests of the oracle: a schema of the repository, axes, types and values
// chosen by the test. Values are rounded to the element type first, so that reference and kernel
// see the same numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number_format.h"
#include "reference/oracle.h"
#include "schemas/case.h"
#include "schemas/schema.h"

namespace warpfuzz::testing_support {

inline std::shared_ptr<const Schema> schema_of(std::string_view op) {
  return load_schema(std::string(WARPFUZZ_SOURCE_DIR) + "/schemas/" + std::string(op) + ".json");
}

// One call with its operands as an honest kernel reads them.
struct Problem {
  Case c;
  std::vector<Tensor> inputs;
  std::vector<std::vector<float>> x;  // the inputs again, as floats
  Tensor output;                      // the first: dtype and shape only

  Tensor blank(size_t k) const {
    if (k == 0) return output;  // tests put other types there
    const TensorSpec& spec = c.schema->outputs[k];
    return {c.dtype(spec), c.shape(spec), {}};
  }
  int64_t axis(std::string_view name) const {
    const std::vector<Axis>& axes = c.schema->axes;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].name == name) return c.axes[i];
    }
    return -1;
  }
  size_t size(std::string_view name) const { return static_cast<size_t>(axis(name)); }
  double real(std::string_view name) const {
    return c.attributes[*c.schema->find_attribute(name)].real;
  }
  int64_t integer(std::string_view name) const {
    const std::optional<size_t> found = c.schema->find_attribute(name);
    return found ? c.attributes[*found].integer : 0;
  }
  // What a kernel stores: one rounding of each float.
  Tensor store(std::span<const float> values, size_t k = 0) const {
    std::vector<double> wide(values.begin(), values.end());
    Tensor tensor = blank(k);
    encode_tensor(wide, tensor);
    return tensor;
  }
};

struct ProblemSpec {
  std::string_view op;
  DType input = DType::float32;
  DType output = DType::float32;
  std::vector<int64_t> axes;
  std::vector<AttributeValue> attributes = {};
  ValueLaw law = ValueLaw::normal;  // tells the oracle whether to look for a lattice
};

inline std::vector<int64_t> shape_of(const std::vector<int64_t>& axes, const TensorSpec& tensor) {
  std::vector<int64_t> shape;
  for (const size_t axis : tensor.axes) shape.push_back(axes[axis]);
  return shape;
}

// `fill(input, size)` gives the values of an input before rounding.
inline Problem make_problem(
    const ProblemSpec& spec, std::shared_ptr<const Schema> schema,
    const std::function<std::vector<double>(size_t input, size_t size)>& fill) {
  Problem p;
  p.c.schema = std::move(schema);
  p.c.axes = spec.axes;
  p.c.attributes = spec.attributes;
  p.c.attributes.resize(p.c.schema->attributes.size());
  p.c.inputs.resize(p.c.schema->inputs.size());
  p.c.outputs.resize(p.c.schema->outputs.size());
  const auto type_of = [&](const TensorSpec& tensor, size_t combination) {
    return p.c.schema->dtype_combinations[combination].dtypes[tensor.dtype_variable];
  };
  bool found = false;
  for (size_t i = 0; i < p.c.schema->dtype_combinations.size() && !found; ++i) {
    found = type_of(p.c.schema->outputs[0], i) == spec.output;
    for (const TensorSpec& tensor : p.c.schema->inputs) {
      const DType type = type_of(tensor, i);
      // Indices have a type of their own, and so have scales that never vary.
      bool varies = false;
      for (size_t k = 0; k < p.c.schema->dtype_combinations.size(); ++k) {
        varies = varies || type_of(tensor, k) != type;
      }
      found = found && (type == spec.input || !info(type).floating || !varies);
    }
    p.c.dtype_combination = i;
  }
  if (!found) throw std::invalid_argument("no such combination of types");
  for (size_t i = 0; i < p.c.schema->inputs.size(); ++i) {
    p.c.inputs[i].law = spec.law;
    const TensorSpec& input = p.c.schema->inputs[i];
    Tensor tensor{type_of(input, p.c.dtype_combination), shape_of(spec.axes, input), {}};
    std::vector<double> wanted = fill(i, static_cast<size_t>(tensor.size()));
    for (double& v : wanted) {
      if (!input.index_axis) break;
      v = std::fmod(std::fabs(std::floor(v)), static_cast<double>(spec.axes[*input.index_axis]));
    }
    encode_tensor(wanted, tensor);
    const std::vector<double> values = decode_tensor(tensor);
    p.x.emplace_back(values.begin(), values.end());
    p.x.back().reserve(1);  // kernels form pointers into empty tensors, too
    p.inputs.push_back(std::move(tensor));
  }
  p.output = Tensor{spec.output, shape_of(spec.axes, p.c.schema->outputs[0]), {}};
  return p;
}

// The problem that a case of a campaign poses.
inline Problem problem_of(const Case& c, std::vector<Tensor> inputs) {
  Problem p;
  p.c = c;
  for (const Tensor& tensor : inputs) {
    const std::vector<double> values = decode_tensor(tensor);
    p.x.emplace_back(values.begin(), values.end());
    p.x.back().reserve(1);  // kernels form pointers into empty tensors, too
  }
  p.inputs = std::move(inputs);
  const TensorSpec& output = c.schema->outputs[0];
  p.output = Tensor{c.dtype(output), c.shape(output), {}};
  return p;
}

// --- families of values, by name

using Generator = std::mt19937_64;

struct Family {
  std::string_view name;
  // Values of a row of n; `largest` is that of the element type.
  void (*fill)(std::span<double> row, Generator& random, double largest);
};

inline double normal(Generator& random) { return std::normal_distribution<double>()(random); }
inline double uniform(Generator& random) {
  return std::uniform_real_distribution<double>()(random);
}

inline constexpr Family families[] = {
    {"normal",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = normal(g);
     }},
    {"normal times 8",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = 8 * normal(g);
     }},
    {"uniform",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = uniform(g);
     }},
    {"constant",
     [](std::span<double> r, Generator& g, double) {
       const double v = normal(g);
       for (double& x : r) x = v;
     }},
    {"ramp",
     [](std::span<double> r, Generator&, double) {
       for (size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i) / 64;
     }},
    {"falling ramp",
     [](std::span<double> r, Generator&, double) {
       for (size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(r.size() - i) / 100;
     }},
    {"sorted",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = normal(g);
       std::sort(r.begin(), r.end());
     }},
    {"outliers",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = normal(g) * (uniform(g) < 0.01 ? 1e3 : 1);
     }},
    {"large mean",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = 100 + normal(g);
     }},
    {"very negative",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = normal(g) - 20;
     }},
    {"tiny",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = 1e-3 * normal(g);
     }},
    {"few distinct",
     [](std::span<double> r, Generator& g, double) {
       const double a = normal(g), b = normal(g), c = normal(g);
       for (double& v : r) v = uniform(g) < 0.4 ? a : uniform(g) < 0.5 ? b : c;
     }},
    {"alternating",
     [](std::span<double> r, Generator& g, double) {
       const double a = normal(g);
       for (size_t i = 0; i < r.size(); ++i) r[i] = i % 2 == 0 ? a : -a;
     }},
    {"cancelling pairs",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = 100 * normal(g);
       for (size_t i = 0; i + 1 < r.size(); i += 2) r[i + 1] = -r[i] * (1 + 1e-3 * normal(g));
     }},
    {"tail spike",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = 0.1 * normal(g);
       if (!r.empty()) r.back() = 12;
     }},
    {"rising steps",
     [](std::span<double> r, Generator& g, double) {
       for (size_t i = 0; i < r.size(); ++i) {
         r[i] = std::floor(static_cast<double>(i) / 16) + 0.1 * normal(g);
       }
     }},
    {"log uniform",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = (uniform(g) < 0.5 ? -1 : 1) * std::exp2(24 * (uniform(g) - 0.5));
     }},
    {"near overflow",
     [](std::span<double> r, Generator& g, double largest) {
       for (double& v : r) v = largest * (uniform(g) * 2 - 1);
     }},
    {"subnormal",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = normal(g) * 1e-39;
     }},
    {"barely normal",
     [](std::span<double> r, Generator& g, double) {
       for (double& v : r) v = normal(g) * 3e-38;
     }},
    {"two halves",
     [](std::span<double> r, Generator& g, double) {
       for (size_t i = 0; i < r.size(); ++i) r[i] = (2 * i < r.size() ? 0 : 1) + 1e-3 * normal(g);
     }},
};

inline Problem family_problem(const ProblemSpec& spec, std::shared_ptr<const Schema> schema,
                              const Family& family, uint64_t seed) {
  Generator random(seed);
  const double largest = traits(spec.input).largest;
  const auto fill = [&](size_t input, size_t size) {
    std::vector<double> values(size);
    const auto shape = shape_of(spec.axes, schema->inputs[input]);
    // Rows along the reduction axis; for a matrix whose reduction axis is not the last one, the
    // family runs down the columns.
    const size_t n = shape.empty() ? 1 : static_cast<size_t>(shape.back());
    const size_t rows = n == 0 ? 0 : size / n;
    const bool column_wise = schema->name == "matmul" && input == 1;
    if (column_wise) {
      std::vector<double> column(rows);
      for (size_t j = 0; j < n; ++j) {
        family.fill(column, random, largest);
        for (size_t i = 0; i < rows; ++i) values[i * n + j] = column[i];
      }
    } else {
      for (size_t i = 0; i < rows; ++i) family.fill({&values[i * n], n}, random, largest);
    }
    return values;
  };
  return make_problem(spec, schema, fill);
}

}  // namespace warpfuzz::testing_support
