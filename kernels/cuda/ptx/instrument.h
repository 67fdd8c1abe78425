// Coverage inside a kernel: adds to PTX text an array of bits in global memory and code that sets
// one bit per basic block reached (function entry, label, fall-through of a conditional branch) and
// per outcome of a comparison (setp true, setp false) seen in any thread. A thread collects its
// bits in registers and adds them to the array as it leaves the function, where they are missing
// there; in functions with very many probes each is written at once. A thread that a fault or a
// trap ends leaves nothing. Text that is not instrumented stays as it was. The array is
// `__warpfuzz_coverage`, words of 32 bits, the lowest bit first; whoever loads the module clears
// and reads it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kernels/cuda/ptx/coverage_map.h"
#include "kernels/cuda/ptx/token.h"

namespace warpfuzz::ptx {

// Registers of a thread, by the name of the entry.
using EntryRegisters = std::map<std::string, unsigned, std::less<>>;

struct InstrumentOptions {
  bool blocks = true;
  bool predicates = true;
  // Words of counters that a thread keeps in registers, at most.
  size_t most_words = 4;
  // What entries take without counters, by name. With them none takes so many more that a launch
  // could be refused for it.
  EntryRegisters registers = {};
  // The file's name, if lines of the PTX itself shall stand for those of the source where no .loc
  // names any.
  std::string lines_of_text = {};
};

struct Instrumented {
  std::string text;
  CoverageMap map;
};

// Throws PtxError for text that is not a PTX module, or that is instrumented already.
Instrumented instrument(std::string_view text, const InstrumentOptions& options = {});

}  // namespace warpfuzz::ptx
