// Coverage inside a kernel: adds to PTX text a byte array in global memory and code that sets one
// byte per basic block reached (function entry, label, fall-through of a conditional branch) and
// per outcome of a comparison (setp true, setp false) seen in any thread. A byte is read before it
// is written, so that hot blocks only read. Text that is not instrumented stays as it was. The
// array is
// `__warpfuzz_coverage`; whoever loads the module clears and reads it.
#pragma once

#include <string>
#include <string_view>

#include "kernels/cuda/ptx/coverage_map.h"
#include "kernels/cuda/ptx/token.h"

namespace warpfuzz::ptx {

struct InstrumentOptions {
  bool blocks = true;
  bool predicates = true;
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
