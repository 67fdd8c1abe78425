// The schemas of the repository, loaded once, for tests. Includes schemas/ only.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "schemas/check.h"
#include "schemas/schema.h"

namespace warpfuzz {

inline const std::vector<std::shared_ptr<const Schema>>& schemas() {
  static const auto all = load_schemas(WARPFUZZ_SOURCE_DIR "/schemas");
  return all;
}

inline std::shared_ptr<const Schema> find_schema(std::string_view name) {
  for (const auto& schema : schemas()) {
    if (schema->name == name) return schema;
  }
  WARPFUZZ_CHECK(false, "no schema {}", name);
  return nullptr;
}

// Trials of a random test: the default, or many times that where WARPFUZZ_TEST_EFFORT says so.
inline int test_effort(int trials) {
  const char* factor = std::getenv("WARPFUZZ_TEST_EFFORT");
  return factor == nullptr ? trials : trials * std::max(1, std::atoi(factor));
}

}  // namespace warpfuzz
