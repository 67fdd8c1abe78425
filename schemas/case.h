// A Case is one legal call of an operator: everything needed to build the memory image again, bit
// for bit. The byte codec is total (every byte string decodes to a legal case; missing bytes read
// as zero) and canonical (encode(decode(b)) decodes to the same case and is a fixed point).
// Invariant of a legal case: axes within their ranges, constraints hold, work within the limits,
// layouts and laws among those the schema allows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schemas/schema.h"
#include "schemas/vocabulary.h"

namespace warpfuzz {

// A single element overwritten after the law has filled a tensor.
enum class PokeValue : uint8_t {
  zero,
  negative_zero,
  one,
  negative_one,
  nan,
  positive_infinity,
  negative_infinity,
  largest,
  lowest,
  smallest_normal,
  smallest_subnormal,
  big,   // 2^10 times the unit: an outlier
  tiny,  // 2^-10
};
inline constexpr uint8_t poke_value_count = 13;

// Name as in messages: "nan", "-0", "largest".
std::string_view name(PokeValue value);

struct Poke {
  uint64_t position = 0;  // modulo the tensor's size when applied
  PokeValue value = PokeValue::zero;
  bool operator==(const Poke&) const = default;
};

struct TensorCase {
  Layout layout = Layout::contiguous;
  int64_t row_padding = 0;  // elements between rows; > 0 exactly if layout is row_strided
  int64_t offset = 0;       // elements between the 256-byte aligned base and the first element
  ValueLaw law = ValueLaw::normal;  // law, seed and pokes: inputs only
  uint32_t seed = 0;
  std::vector<Poke> pokes;  // at most max_pokes
  bool operator==(const TensorCase&) const = default;
};
inline constexpr size_t max_pokes = 4;
inline constexpr int64_t max_row_padding = 64;
inline constexpr int64_t max_offset = 127;

struct AttributeValue {
  int64_t integer = 0;  // integer, boolean and choice attributes
  double real = 0;      // real attributes
  bool operator==(const AttributeValue&) const = default;
};

// Further runs of the same call that this case asks for (a bit set).
enum class ExtraRun : uint8_t {
  other_poison = 1,     // outputs, gaps and guards filled with another pattern, other addresses
  other_schedule = 2,   // blocks and threads in another order (cpu device)
  race_check = 4,       // on the race build of the kernel (cpu device)
  changed_element = 8,  // one input element changed, all addresses the same; then the call again
  lone_row = 16,        // one position of the batch axes alone
};
inline constexpr ExtraRun every_extra_run[] = {ExtraRun::other_poison, ExtraRun::other_schedule,
                                               ExtraRun::race_check, ExtraRun::changed_element,
                                               ExtraRun::lone_row};
inline constexpr uint8_t all_extra_runs = 31;
constexpr bool asks_for(uint8_t extra_runs, ExtraRun run) {
  return (extra_runs & static_cast<uint8_t>(run)) != 0;
}
// Whether Case::schedule_seed has a meaning: it chooses the order of blocks and threads, the
// element that changes, the row that is alone.
constexpr bool has_choice(uint8_t extra_runs) {
  return (extra_runs & ~static_cast<uint8_t>(ExtraRun::other_poison)) != 0;
}

struct Case {
  std::shared_ptr<const Schema> schema;
  uint8_t size_class = 0;        // 0 .. size_class_count-1: index into work_limits
  size_t dtype_combination = 0;  // position in Schema::dtype_combinations
  std::vector<int64_t> axes;     // one per schema axis, const and derived ones included
  std::vector<AttributeValue> attributes;
  std::vector<TensorCase> inputs;
  std::vector<TensorCase> outputs;
  uint8_t extra_runs = 0;      // ExtraRun bits
  uint32_t schedule_seed = 0;  // of the extra runs that have a choice; 0 without one
  bool operator==(const Case&) const = default;

  DType dtype(const TensorSpec& tensor) const;
  std::vector<int64_t> shape(const TensorSpec& tensor) const;
  // Values for Schema::expression_names().
  std::vector<int64_t> expression_values() const;
  // What the size class bounds: the work formula, or the elements of all tensors (an empty axis
  // counting as 1) if they are more.
  int64_t work() const;
};

inline constexpr int64_t work_limits[] = {1 << 10, 1 << 13, 1 << 16, 1 << 19};
inline constexpr size_t size_class_count = std::size(work_limits);

// Bounds that a campaign lays on its cases; part of decoding, so that bytes stay meaningful.
struct CaseLimits {
  Tier max_tier = Tier::unusual;
  uint8_t max_size_class = size_class_count - 1;
};

// Makes any Case legal within the limits: clamps, and shortens axes where the work is too much.
// Changes nothing that is legal. `favoured` (a position in axes) is the last to be shortened.
void legalize(Case& c, const CaseLimits& limits, size_t favoured = SIZE_MAX);

// The byte form is described in case_codec.cc.
Case decode(std::shared_ptr<const Schema> schema, std::span<const uint8_t> bytes,
            const CaseLimits& limits);
std::vector<uint8_t> encode(const Case& c);
// As encode(), into a buffer that is cleared first: no allocation once it is large enough.
void encode(const Case& c, std::vector<uint8_t>& bytes);

// Empty if the case is legal, else what is wrong with it.
std::string illegality(const Case& c);
Tier tier(const Case& c);

// One line for people: "softmax float32 m=3 n=1000 x: normal seed 7, contiguous".
std::string describe(const Case& c);

}  // namespace warpfuzz
