// A place in a JSON document that knows its own path, so that every type error says where it is:
// "a.wfr: header.call.axes[2].extent: found \"x\", expected an integer". Trusts nothing in it.
// Private to crashes/.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

using Json = nlohmann::ordered_json;

// nan and the infinities as strings: JSON has no numbers for them.
Json real_to_json(double value);

class HeaderReader {
 public:
  HeaderReader(const Json& value, std::string path) : value_(value), path_(std::move(path)) {}

  HeaderReader operator[](const char* key) const;  // of an object; the key must be there
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  std::vector<HeaderReader> elements() const;  // of an array

  std::string string() const;
  double real() const;
  int64_t integer(int64_t minimum, int64_t maximum) const;
  uint64_t natural() const;

  // integer() in the range of an unsigned type of at most 32 bits.
  template <typename Unsigned>
  Unsigned number() const {
    static_assert(sizeof(Unsigned) <= sizeof(uint32_t));
    return static_cast<Unsigned>(integer(0, static_cast<Unsigned>(-1)));
  }

  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  const Json& value_;
  std::string path_;
};

}  // namespace warpfuzz
