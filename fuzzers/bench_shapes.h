// Which calls `warpfuzz bench` takes the time of: what the user asked for, or three sizes that
// follow from the schema. Axes that nobody named become powers of two, as balanced as the memory
// allows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzzers/trial.h"

namespace warpfuzz {

// "m=4096,n=1024" of one --axes, by name.
using NamedAxes = std::map<std::string, int64_t>;
// Throws UsageError, also for axes that the schema does not have or does not let be chosen, and for
// values out of range.
NamedAxes parse_axes(const Schema& schema, const std::string& text);

// "T=float16,U=float32", by variable. Throws UsageError, also where no combination has them.
using NamedDTypes = std::map<std::string, DType>;
NamedDTypes parse_dtypes(const Schema& schema, const std::string& text);
// Of those that are named.
bool has_dtypes(const Schema& schema, const DTypeCombination& combination,
                const NamedDTypes& dtypes);

struct BenchShape {
  std::string name;  // "small", "asked"
  Case c;  // contiguous, usual attributes, normal values (the first law where there are none)
};

// Of the first dtype combination that everybody admits. Throws UsageError if there is no such call,
// with what is in the way.
std::vector<BenchShape> bench_shapes(const std::shared_ptr<const Schema>& schema,
                                     const std::vector<NamedAxes>& asked, const NamedDTypes& dtypes,
                                     const std::vector<const Preconditions*>& preconditions);

// Bytes of all inputs and outputs, each once.
int64_t tensor_bytes(const Case& c);

}  // namespace warpfuzz
