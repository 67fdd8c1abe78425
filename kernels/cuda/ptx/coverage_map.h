// What the counters of an instrumented module mean. A counter is named by function, source line,
// kind and ordinal, not by its slot, so that its identity survives recompiling; the slot is its
// bit in the module's array. Also holds the constants that the code compares with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpfuzz::ptx {

inline constexpr const char* coverage_symbol = "__warpfuzz_coverage";

enum class CounterKind : uint8_t {
  entry,            // the function ran
  label,            // a block that branches lead to
  fall_through,     // the block after a conditional branch
  predicate_false,  // a comparison that failed in some thread
  predicate_true,   // a comparison that held in some thread
};

struct Counter {
  std::string function;  // as in the module, mangled
  std::string file;      // empty without line information
  uint32_t line = 0;     // 0: not known
  CounterKind kind = CounterKind::entry;
  uint32_t ordinal = 0;    // among the counters of the same function, line and kind
  std::string comparison;  // predicates: what was compared as what, "lt.s32"
  bool operator==(const Counter&) const = default;
};

// An immediate operand of a comparison: its bits in the type compared.
struct Constant {
  uint64_t bits = 0;
  uint8_t bytes = 4;
  bool floating = false;
  auto operator<=>(const Constant&) const = default;
};

// A line with code in the block that a counter stands for; blocks share lines.
struct CoveredLine {
  uint32_t slot = 0;
  uint32_t file = 0;  // position in CoverageMap::files
  uint32_t line = 0;
  auto operator<=>(const CoveredLine&) const = default;
};

struct CoverageMap {
  std::vector<Counter> counters;    // position: slot
  std::vector<Constant> constants;  // ascending, each once
  std::vector<std::string> files;   // of `lines`
  std::vector<CoveredLine> lines;   // ascending, each once

  // {"counters": [{"function", "file", "line", "kind", "ordinal", "comparison"}], "constants":
  // [...], "files": [...], "lines": [[slot, file, line], ...]}
  std::string to_json() const;
  // Throws std::runtime_error for text that to_json() cannot have written.
  static CoverageMap from_json(const std::string& text);
  // Lines of a libFuzzer dictionary, little-endian.
  std::string to_dictionary() const;
};

const char* name(CounterKind kind);

}  // namespace warpfuzz::ptx
