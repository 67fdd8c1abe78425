// Which calls `warpfuzz huge` makes: each axis in turn as long as the schema lets it be, another
// one just long enough that a tensor has more than 2^31 elements; and one call each just below 2^31
// and just above 2^32. They are judged row by row along one axis, so the operator must be one whose
// rows are independent of each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzzers/bench_shapes.h"

namespace warpfuzz {

struct HugeLimits {
  int64_t boundary = int64_t{1} << 31;       // elements of the largest tensor, and twice as many
  int64_t host_elements = int64_t{1} << 26;  // more are made on the device
  int64_t row_work = int64_t{1} << 27;       // of the oracle for one row
  int64_t call_work = int64_t{1} << 43;
  int64_t sample_work = int64_t{1} << 25;  // of the oracle for a call, but for the rows it must see
};

struct HugeCall {
  std::string about;   // "just below 2^31 elements"
  bool small = false;  // at most `boundary` elements: what is wrong here is not a matter of size
  Case c;
};

// The axis along which rows of all outputs are independent: the first axis of each output and of
// each input that has it, and neither reduced nor indexed. Throws UsageError if there is none.
size_t row_axis(const Schema& schema);

// In the order in which they are made; everyday dtypes, the shortest first, unless some are named.
// Values are those of `law` where an input has it (`normal` by default), on seeds of their own.
// Throws UsageError if the preconditions or `dtypes` leave nothing.
std::vector<HugeCall> huge_calls(const std::shared_ptr<const Schema>& schema,
                                 const NamedDTypes& dtypes, const Preconditions& preconditions,
                                 ValueLaw law, const HugeLimits& limits);

// Elements of the largest tensor.
int64_t largest_size(const Case& c);

// Why the call cannot be made, or judged: a large input that neither the device nor the host makes.
// Empty if there is no reason.
std::string obstacle(const Case& c, size_t axis, const HugeLimits& limits);

// Rows to judge, ascending: the first and the last, those around `boundary` and twice as many
// elements and bytes of each tensor, and others spread over all.
size_t spread_rows(const Case& c, size_t axis, const HugeLimits& limits);  // how many others
std::vector<int64_t> sampled_rows(const Case& c, size_t axis, const HugeLimits& limits);

// The call of these rows alone; inputs without the axis are whole.
Case call_of_rows(const Case& c, size_t axis, size_t rows);

// "2^31", "5 * 2^7": as people name sizes.
std::string size_text(int64_t size);

}  // namespace warpfuzz
