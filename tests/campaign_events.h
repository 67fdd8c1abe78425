// What `warpfuzz fuzz --json` prints, for end-to-end tests.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "kernels/subprocess.h"

namespace warpfuzz::test {

// The line that a campaign ends with. Throws if there is none.
inline nlohmann::json done_event(const ProcessResult& result) {
  const size_t at = result.output.rfind("{\"event\":\"done\"");
  if (at == std::string::npos) throw std::runtime_error(result.output + result.errors);
  return nlohmann::json::parse(result.output.substr(at));
}

}  // namespace warpfuzz::test
