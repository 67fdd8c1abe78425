// Reads those parts of a schema file that stand on their own: one attribute, the contract. Internal
// to schemas/. Both throw SchemaError.
#pragma once

#include <string>

#include "schemas/json_reader.h"
#include "schemas/schema.h"

namespace warpfuzz {

Attribute parse_attribute(const std::string& name, const JsonNode& node);
Contract parse_contract(const JsonNode& node);

}  // namespace warpfuzz
