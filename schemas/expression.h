// Small integer expressions of schemas and kernel preconditions: constraints, derived axes, work
// formulas. Grammar, loosest first: ?:  ||  &&  == !=  < <= > >=  + -  * / %  unary - !  ( )
// min(a,b) max(a,b)  names  integers. Comparisons do not chain. Arithmetic saturates at the int64
// limits; division truncates and by zero yields 0, % likewise. Evaluation is pure and cannot fail.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz {

// Text that is not an expression, or a name that does not exist; says where and what would be
// right. Example: column 5 of "m * q": found 'q', expected one of: m, n
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr size_t max_expression_length = 1000;
inline constexpr size_t max_expression_depth = 64;

class Expression {
 public:
  // `names` are the variables, in the order in which evaluate() takes their values.
  static Expression parse(std::string_view text, std::span<const std::string> names);

  int64_t evaluate(std::span<const int64_t> values) const;
  const std::string& text() const { return text_; }

 private:
  struct Step {
    uint8_t operation;  // row of a table in expression.cc, or what to push
    int64_t operand;    // an integer, or the position of a name
  };
  std::string text_;
  std::vector<Step> steps_;  // postfix
  friend class ExpressionParser;
};

}  // namespace warpfuzz
