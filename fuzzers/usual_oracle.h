// The usual oracle: how kernels are commonly certified. One shape typical of benchmarks, five draws
// of normal values, and allclose. It is here to be measured beside the gates, never to judge.
// The kernel should be built without checks: nobody who uses this oracle has them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers/trial.h"

namespace warpfuzz {

struct Tolerances {
  double relative = 0;
  double absolute = 0;
};

struct AllcloseTable {
  std::string_view name;   // "1e-2"
  std::string_view about;  // for sentences
  Tolerances (*tolerances)(DType output);
};
inline constexpr size_t allclose_table_count = 2;
std::span<const AllcloseTable, allclose_table_count> allclose_tables();

// |observed - expected| <= absolute + relative * |expected|, or equal infinities. As PyTorch has it
// by default, NaN is close to nothing, not even to NaN.
bool allclose(std::span<const double> observed, std::span<const double> expected,
              const Tolerances& tolerances);

// The call of a benchmark: batch axes of 16, others of 1024, or smaller powers of two where the
// operator, the kernel or the work of one call demand it; contiguous, usual attributes, normal
// values (the operator's first law where it has no normal one). Nothing if the kernel admits none.
std::optional<Case> benchmark_case(const std::shared_ptr<const Schema>& schema,
                                   size_t dtype_combination, const Preconditions& preconditions);

struct UsualVerdict {
  std::vector<std::string>
      calls;  // describes what was run: one for each everyday dtype combination
  std::array<bool, allclose_table_count> accepts{};  // by each table, all calls and draws

  bool asked() const { return !calls.empty(); }
};

// A call that ends in an error or a fault is not accepted.
UsualVerdict ask_usual_oracle(const std::shared_ptr<const Schema>& schema, Kernel& kernel);

}  // namespace warpfuzz
