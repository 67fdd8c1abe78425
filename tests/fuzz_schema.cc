// Fuzzes the schema parser: any text is a schema or a SchemaError, and what was accepted has a
// legal case for any bytes.
#include <cstdint>
#include <span>
#include <string_view>

#include "schemas/case.h"
#include "schemas/check.h"
#include "schemas/schema.h"

namespace warpfuzz {
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::shared_ptr<const Schema> schema;
  try {
    schema = parse_schema({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  } catch (const SchemaError&) {
    return 0;
  }
  const Case c = decode(schema, std::span(data, size).last(size / 2), {});
  const std::string problem = illegality(c);
  WARPFUZZ_CHECK(problem.empty(), "{}: {}", describe(c), problem);
  return 0;
}

}  // namespace warpfuzz
