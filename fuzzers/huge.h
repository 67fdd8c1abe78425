// Calls of more than 2^31 elements on a GPU. Inputs are made there, outputs and guards are checked
// there; what comes to the host are samples of rows, which the oracle judges. A call that the
// device's memory cannot hold is "not exercised", never passed.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzzers/device_choice.h"
#include "fuzzers/huge_shapes.h"

namespace warpfuzz {

struct HugeOptions {
  std::shared_ptr<const Schema> schema;
  DeviceChoice device;
  std::filesystem::path kernel;    // a source, or an object
  std::filesystem::path prebuilt;  // a directory of objects, huge_tensors.so among them; or compile
  NamedDTypes dtypes;
  ValueLaw law = ValueLaw::normal;
  std::optional<size_t> only;  // the number of one call
  HugeLimits limits;
};

enum class HugeOutcome : uint8_t { pass, finding, undecided, not_exercised };
std::string_view name(HugeOutcome outcome);

struct HugeVerdict {
  size_t number = 0;  // of the call, from 1; the same each time
  HugeCall call;
  HugeOutcome outcome = HugeOutcome::pass;
  std::string gate;                  // of a finding
  std::string reason;                // of a finding, or why nothing was exercised
  std::vector<std::string> details;  // lines of a finding
  size_t rows = 0;                   // judged by the oracle
  bool every_element = false;        // was judged on the device
  size_t elements = 0;               // of outputs, judged by either
  size_t undecided = 0;              // of these elements
  double seconds = 0;
  bool device_lost = false;  // nothing more can be run by this process

  void find(const char* broken_gate, std::string why, std::vector<std::string> lines = {});
  void leave_out(std::string why);
};

struct HugeReport {
  std::string device_name;
  size_t calls = 0;  // chosen, of more than 2^31 elements or not
  size_t exercised = 0;
  size_t findings = 0;
  size_t undecided = 0;
  bool device_lost = false;
};

// Makes the calls one after another, tells each verdict when it stands, and the report at the end.
// Then what was used of the device is given back; if the report says that it is lost, that may
// never end: leave the process instead. Throws DeviceUnavailable, UsageError, KernelError,
// CompileError and EnvironmentError.
void run_huge(const HugeOptions& options, const std::function<void(const HugeVerdict&)>& tell,
              const std::function<void(const HugeReport&)>& end);

// For people, several lines for a finding; `again` is the command that makes this call alone.
std::string huge_text(const HugeVerdict& verdict, const std::string& kernel,
                      const std::string& again);
std::string huge_text(const HugeReport& report);
// One JSON object, one line.
std::string huge_json(const HugeVerdict& verdict);
std::string huge_json(const HugeReport& report);

}  // namespace warpfuzz
