// Strict reading of JSON: a value together with its file and key path, so that every complaint says
// "file: path: found X, expected Y". Not for other headers: this one includes nlohmann.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

using Json = nlohmann::ordered_json;

// Refuses duplicate keys, deep nesting and what is not JSON. Throws SchemaError.
Json parse_json(std::string_view text, const std::string& file);

class JsonNode {
 public:
  JsonNode(const Json& value, const std::string& file, std::string path = {})
      : value_(&value), file_(&file), path_(std::move(path)) {}

  // "file: path"
  std::string where() const;

  // Both throw SchemaError.
  [[noreturn]] void fail(std::string_view expected) const;  // found: this value
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;

  // An object with no other keys than these.
  const JsonNode& object(std::initializer_list<std::string_view> keys) const;
  // A required member; `expected` completes the message when it is missing.
  JsonNode member(std::string_view key, std::string_view expected) const;
  std::optional<JsonNode> find(std::string_view key) const;
  // Members of an object with free keys, each an identifier; `what` names them in messages.
  std::vector<std::pair<std::string, JsonNode>> members(std::string_view what, size_t most) const;
  // A list of at least `least` elements.
  std::vector<JsonNode> list(std::string_view what, size_t least) const;

  bool is_text() const { return value_->is_string(); }
  std::string text() const;
  std::string identifier() const;  // a name that expressions could use
  bool boolean() const;
  int64_t integer(int64_t minimum, int64_t maximum) const;
  double number() const;
  // Position of this text in a list of names.
  size_t choice(std::span<const std::string_view> names) const;
  size_t choice(std::span<const std::string> names) const;

 private:
  const Json* value_;
  const std::string* file_;
  std::string path_;
};

}  // namespace warpfuzz
