// Any text: the instrumenter gives an error or PTX that its own parser reads again, with the same
// counters' worth of code. What it says of resources has a message for each problem. Never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernels/cuda/ptx/instrument.h"
#include "kernels/cuda/ptx/module.h"
#include "kernels/cuda/ptx/resources.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfuzz::ptx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Instrumented result;
  try {
    result = instrument(text);
  } catch (const PtxError&) {
    return -1;
  }
  for (const RefusedEntry& refused : refused_entries(text)) {
    if (refused.message.empty()) std::abort();
  }
  const size_t functions = parse(text).functions.size();
  if (parse(result.text).functions.size() != functions) std::abort();
  if (CoverageMap::from_json(result.map.to_json()).counters.size() != result.map.counters.size()) {
    std::abort();
  }
  return 0;
}
