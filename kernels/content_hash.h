// A 128-bit hash of a sequence of strings, for names of cache entries. FNV-1a with the published
// 128-bit parameters (Fowler, Noll, Vo). Good against accidents, not against an attacker: the cache
// is the user's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpfuzz {

class ContentHash {
 public:
  // Each part is delimited by its length: ("ab", "c") and ("a", "bc") differ.
  void add(std::string_view part) {
    for (const char c : part) mix(static_cast<unsigned char>(c));
    for (uint64_t length = part.size(), i = 0; i < 8; ++i, length >>= 8) mix(length & 0xffu);
  }

  // 32 hexadecimal digits.
  std::string hex() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(32, '0');
    for (size_t i = 0; i < 32; ++i) {
      text[i] = digits[static_cast<size_t>(state_ >> (4 * (31 - i))) & 15u];
    }
    return text;
  }

 private:
  __extension__ typedef unsigned __int128 Word;

  void mix(uint64_t byte) {
    state_ ^= byte;
    state_ *= prime;
  }

  static constexpr Word prime = (Word{1} << 88) + 0x13b;
  Word state_ = (Word{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

inline std::string content_hash(std::string_view content) {
  ContentHash hash;
  hash.add(content);
  return hash.hex();
}

}  // namespace warpfuzz
