#include "crashes/signature.h"

#include <algorithm>

namespace warpfuzz {
namespace {

constexpr size_t longest = 128;

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

void append(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += '-';
  for (char c : part) text += is_allowed(c) ? c : '_';
}

}  // namespace

Signature::Signature(const Case& c, std::string_view gate, Symptom symptom) {
  append(text_, gate);
  append(text_, c.schema->name);
  for (DType dtype : c.schema->dtype_combinations[c.dtype_combination].dtypes) {
    append(text_, name(dtype));
  }
  append(text_, name(symptom));
  if (text_.size() > longest) text_.resize(longest);
}

std::optional<Signature> Signature::parse(std::string_view text) {
  const bool valid =
      !text.empty() && text.size() <= longest && std::ranges::all_of(text, is_allowed);
  if (!valid) return std::nullopt;
  return Signature(std::string(text));
}

}  // namespace warpfuzz
