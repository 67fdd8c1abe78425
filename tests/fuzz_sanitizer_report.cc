// Recorded reports of compute-sanitizer with some bytes replaced: what comes of them is bounded and
// has its words. Three bytes say which report and where, the others are put there.
#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/cuda/sanitizer_report.h"
#include "schemas/check.h"
#include "tests/recorded_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfuzz;
  static constexpr const char* recorded[] = {test::memcheck_report, test::hazard_report,
                                             test::analysis_report, test::initcheck_report,
                                             test::synccheck_report};
  if (size < 3) return -1;
  std::string text = recorded[data[0] % std::size(recorded)];
  const size_t at = (static_cast<size_t>(data[1]) << 8 | data[2]) % text.size();
  text.replace(at, std::min(size - 3, text.size() - at), reinterpret_cast<const char*>(data + 3),
               size - 3);
  const cuda::SanitizerReport report = cuda::parse_sanitizer_report(
      text, {{"x", 0x7f71b9e00a00, 2400}, {"y", 0x7f71b9f00200, 1024}});
  WARPFUZZ_CHECK(report.faults.size() <= max_faults, "{} faults", report.faults.size());
  for (const Fault& fault : report.faults) {
    WARPFUZZ_CHECK(!fault.message.empty() && fault.message.find('\n') == std::string::npos,
                   "message '{}'", fault.message);
    WARPFUZZ_CHECK(fault.line >= 0, "line {}", fault.line);
  }
  return 0;
}
