#include "fuzzers/trial.h"
#include "schemas/call_names.h"

namespace warpfuzz {

Preconditions::Preconditions(const Schema& schema, const std::string& text) : text_(text) {
  if (!text.empty()) expression_ = Expression::parse(text, call_names(schema));
}

bool Preconditions::admit(const Case& c) const {
  if (!expression_) return true;
  std::vector<int64_t> values;
  call_values(c, values);
  return expression_->evaluate(values) != 0;
}

}  // namespace warpfuzz
