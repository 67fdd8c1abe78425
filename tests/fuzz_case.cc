// Fuzzes the byte codec of cases and what is built on it, over all schemas: decoding is total and
// legal, encoding is canonical, simplifications are legal and simpler, stored calls come back.
#include <cstdint>
#include <span>

#include "crashes/stored_call.h"
#include "schemas/case.h"
#include "schemas/check.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

void check_codec(const Case& c, const CaseLimits& limits) {
  const std::string problem = illegality(c);
  WARPFUZZ_CHECK(problem.empty(), "{}: {}", describe(c), problem);
  const std::vector<uint8_t> bytes = encode(c);
  const Case again = decode(c.schema, bytes, limits);
  WARPFUZZ_CHECK(again == c, "{} became {}", describe(c), describe(again));
  WARPFUZZ_CHECK(encode(again) == bytes, "{}", describe(c));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto schemas = load_schemas(WARPFUZZ_SOURCE_DIR "/schemas");
  if (size < 2) return -1;
  const auto& schema = schemas[data[0] % schemas.size()];
  const CaseLimits limits{.max_tier = static_cast<Tier>(1 + data[1] % 3)};
  const Case c = decode(schema, std::span(data + 2, size - 2), limits);
  check_codec(c, limits);
  WARPFUZZ_CHECK(restore_call(store_call(c), schema) == c, "{}", describe(c));
  for (const Case& simpler : simplifications(c)) {
    check_codec(simpler, limits);
    WARPFUZZ_CHECK(complexity(simpler) < complexity(c), "{} from {}", describe(simpler),
                   describe(c));
  }
  return 0;
}

}  // namespace warpfuzz
