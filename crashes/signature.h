// The name of a finding: gate + op + dtypes + what went wrong, safe as a file name, the same for
// all cases that show one fault, before and after minimising: "CMP-03-softmax-float32-value".
//
// Why no finer pattern than a word. The minimiser keeps the signature, so whatever is in it must
// hold for the smallest failing case as well as for the first one found:
//   - Where the offending elements lie does not survive. An unmasked tail is "columns >= 1024 of
//     every row" at n = 1030, "every element" at n = 1 and "one element" of a 1x1 output. With the
//     region in the signature one fault would be reported several times, and the minimiser would
//     stop at the last shape whose region still has the first one's name. The region is in the
//     report (pattern.h), and what depends on the shape is told by the gate (CMP-03 and not
//     CMP-01).
//   - How far off, which output, which element, which line: all change with shape and values.
//   - What kind of wrong does survive, if coarse. A NaN or infinity lost (a finite result where
//   none
//     may be), one made (the reverse) and a wrong finite value have different causes; NaN against
//     infinity has not (an overflow is Inf or Inf/Inf, by luck). Subnormal is a value here: EXC-02
//     is its gate. An access outside a tensor is a read, a write or a crash depending on the
//     extent, so the three are one class; so are the ways to hang.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "crashes/symptom.h"
#include "schemas/case.h"

namespace warpfuzz {

// Text that is a signature: [A-Za-z0-9_-]+, at most 128 characters.
class Signature {
 public:
  Signature(const Case& c, std::string_view gate, Symptom symptom);
  // Of a file name or a header; nothing if it is no signature.
  static std::optional<Signature> parse(std::string_view text);

  const std::string& text() const { return text_; }
  auto operator<=>(const Signature&) const = default;

 private:
  explicit Signature(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace warpfuzz
