#include "schemas/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>

#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr int64_t smallest = std::numeric_limits<int64_t>::min();
constexpr int64_t largest = std::numeric_limits<int64_t>::max();

int64_t add(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_add_overflow(a, b, &result) ? (b > 0 ? largest : smallest) : result;
}
int64_t subtract(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_sub_overflow(a, b, &result) ? (b < 0 ? largest : smallest) : result;
}
int64_t multiply(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_mul_overflow(a, b, &result) ? ((a < 0) == (b < 0) ? largest : smallest) : result;
}
int64_t divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? subtract(0, a) : a / b;  // smallest / -1 overflows
}
int64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

struct BinaryOperator {
  std::string_view symbol;
  int precedence;  // greater binds tighter; 0: written as a function of two arguments
  bool chains;     // a o b o c is allowed
  int64_t (*apply)(int64_t, int64_t);
};

// Longer symbols before their prefixes.
constexpr BinaryOperator operators[] = {
    {"||", 1, true, [](int64_t a, int64_t b) -> int64_t { return a != 0 || b != 0; }},
    {"&&", 2, true, [](int64_t a, int64_t b) -> int64_t { return a != 0 && b != 0; }},
    {"==", 3, false, [](int64_t a, int64_t b) -> int64_t { return a == b; }},
    {"!=", 3, false, [](int64_t a, int64_t b) -> int64_t { return a != b; }},
    {"<=", 4, false, [](int64_t a, int64_t b) -> int64_t { return a <= b; }},
    {">=", 4, false, [](int64_t a, int64_t b) -> int64_t { return a >= b; }},
    {"<", 4, false, [](int64_t a, int64_t b) -> int64_t { return a < b; }},
    {">", 4, false, [](int64_t a, int64_t b) -> int64_t { return a > b; }},
    {"+", 5, true, add},
    {"-", 5, true, subtract},
    {"*", 6, true, multiply},
    {"/", 6, true, divide},
    {"%", 6, true, remainder},
    {"min", 0, false, [](int64_t a, int64_t b) -> int64_t { return std::min(a, b); }},
    {"max", 0, false, [](int64_t a, int64_t b) -> int64_t { return std::max(a, b); }},
};

// Steps that are not rows of the table.
enum Operation : uint8_t { push_integer = 100, push_name, negate, invert, select };

// Every level of the grammar holds at most two operands on the stack while it parses the next.
constexpr size_t stack_size = 2 * max_expression_depth + 8;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::span<const std::string> names)
      : text_(text), names_(names) {}

  Expression parse() {
    result_.text_ = std::string(text_);
    if (text_.size() > max_expression_length) {
      throw ExpressionError(fmt::format("found {} characters, expected at most {}", text_.size(),
                                        max_expression_length));
    }
    conditional();
    skip_space();
    if (position_ < text_.size()) fail("an operator or the end");
    return std::move(result_);
  }

 private:
  void conditional() {
    enter();
    binary(1);
    if (accept("?")) {
      conditional();
      expect(":");
      conditional();
      emit(select);
    }
    --depth_;
  }

  // Precedence climbing over the table.
  void binary(int precedence) {
    unary();
    int last_unchained = 0;
    while (const BinaryOperator* o = peek_operator(precedence)) {
      if (!o->chains && o->precedence == last_unchained) {
        fail("no second comparison: write a < b && b < c");
      }
      position_ += o->symbol.size();
      enter();
      binary(o->precedence + 1);
      --depth_;
      emit(static_cast<uint8_t>(o - operators));
      // A tighter comparison further left is complete by now: a == b < c is a == (b < c).
      last_unchained = o->chains ? 0 : o->precedence;
    }
  }

  void unary() {
    enter();
    skip_space();
    if (accept("-")) {
      unary();
      emit(negate);
    } else if (!at("!=") && accept("!")) {
      unary();
      emit(invert);
    } else {
      primary();
    }
    --depth_;
  }

  void primary() {
    skip_space();
    if (accept("(")) {
      conditional();
      expect(")");
    } else if (position_ < text_.size() &&
               std::isdigit(static_cast<unsigned char>(text_[position_])) != 0) {
      integer();
    } else if (position_ < text_.size() && starts_name(text_[position_])) {
      name();
    } else {
      fail("a name, an integer, '-', '!' or '('");
    }
  }

  void integer() {
    const char* begin = text_.data() + position_;
    const char* end = text_.data() + text_.size();
    int64_t value = 0;
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || (stop != end && continues_name(*stop))) fail("a 64-bit integer");
    position_ += static_cast<size_t>(stop - begin);
    emit(push_integer, value);
  }

  void name() {
    const std::string_view word = token();
    for (size_t row = 0; row < std::size(operators); ++row) {
      if (operators[row].precedence != 0 || operators[row].symbol != word) continue;
      position_ += word.size();
      expect("(");
      conditional();
      expect(",");
      conditional();
      expect(")");
      emit(static_cast<uint8_t>(row));
      return;
    }
    const auto found = std::find(names_.begin(), names_.end(), word);
    if (found == names_.end()) {
      fail(names_.empty() ? std::string("an integer: there are no names here")
                          : fmt::format("one of: {}", fmt::join(names_, ", ")));
    }
    position_ += word.size();
    emit(push_name, found - names_.begin());
  }

  const BinaryOperator* peek_operator(int precedence) {
    skip_space();
    for (const BinaryOperator& o : operators) {
      if (o.precedence > 0 && at(o.symbol)) return o.precedence >= precedence ? &o : nullptr;
    }
    return nullptr;
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) {
      ++position_;
    }
  }
  bool at(std::string_view symbol) const { return text_.substr(position_).starts_with(symbol); }
  bool accept(std::string_view symbol) {
    skip_space();
    if (!at(symbol)) return false;
    position_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail(fmt::format("'{}'", symbol));
  }
  void enter() {
    if (++depth_ > max_expression_depth) {
      fail(fmt::format("at most {} levels of nesting", max_expression_depth));
    }
  }
  void emit(uint8_t operation, int64_t operand = 0) {
    result_.steps_.push_back({operation, operand});
  }

  std::string_view token() const {
    size_t end = position_;
    if (end < text_.size() && continues_name(text_[end])) {
      while (end < text_.size() && continues_name(text_[end])) ++end;
    } else if (end < text_.size()) {
      ++end;
    }
    return text_.substr(position_, end - position_);
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string found =
        position_ == text_.size() ? std::string("the end") : fmt::format("'{}'", token());
    throw ExpressionError(fmt::format("column {} of \"{}\": found {}, expected {}", position_ + 1,
                                      text_, found, expected));
  }

  std::string_view text_;
  std::span<const std::string> names_;
  size_t position_ = 0;
  size_t depth_ = 0;
  Expression result_;
};

Expression Expression::parse(std::string_view text, std::span<const std::string> names) {
  return ExpressionParser(text, names).parse();
}

int64_t Expression::evaluate(std::span<const int64_t> values) const {
  int64_t stack[stack_size];
  stack[0] = 0;
  size_t top = 0;
  for (const Step& step : steps_) {
    WARPFUZZ_CHECK(top < stack_size, "stack of \"{}\"", text_);
    switch (step.operation) {
      case push_integer:
        stack[top++] = step.operand;
        break;
      case push_name:
        WARPFUZZ_CHECK(static_cast<size_t>(step.operand) < values.size(),
                       "\"{}\" has {} values, needs more than {}", text_, values.size(),
                       step.operand);
        stack[top++] = values[static_cast<size_t>(step.operand)];
        break;
      case negate:
        stack[top - 1] = subtract(0, stack[top - 1]);
        break;
      case invert:
        stack[top - 1] = stack[top - 1] == 0;
        break;
      case select:
        top -= 2;
        stack[top - 1] = stack[top - 1] != 0 ? stack[top] : stack[top + 1];
        break;
      default:
        --top;
        stack[top - 1] = operators[step.operation].apply(stack[top - 1], stack[top]);
    }
  }
  return stack[0];
}

}  // namespace warpfuzz
