#include "schemas/expression.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace warpfuzz {
namespace {

const std::vector<std::string> names = {"m", "n", "k2"};
constexpr int64_t values[] = {3, 5, -7};
constexpr int64_t largest = INT64_MAX;
constexpr int64_t smallest = INT64_MIN;

TEST(Expression, Evaluates) {
  static const struct {
    const char* text;
    int64_t value;
  } rows[] = {
      {"42", 42},
      {"m", 3},
      {"m + n * k2", -32},
      {"(m + n) * k2", -56},
      {"10 - 3 - 2", 5},
      {"2 * -m", -6},
      {"- - m", 3},
      {"!m", 0},
      {"!!m", 1},
      {"!0 + 1", 2},
      {"7 / 2", 3},
      {"-7 / 2", -3},
      {"k2 % 4", -3},
      {"m / 0", 0},
      {"m % 0", 0},
      {"m < n", 1},
      {"m>=n", 0},
      {"m <= 3 && n != 5", 0},
      {"m <= 3 || n / 0", 1},
      {"1 || 1 && 0", 1},
      {"(m == 3) == (n == 5)", 1},
      {"m < n == 1", 1},
      {"1 == m < n", 1},
      {"min(m, n)", 3},
      {"max(m, min(n, 100)) * 2", 10},
      {"m > n ? m : n > 4 ? 10 : 20", 10},
      {"m ? n ? 1 : 2 : 3", 1},
      {" m\t+ 1 ", 4},
      {"9223372036854775807 + 1", largest},
      {"-9223372036854775807 - 2", smallest},
      {"9223372036854775807 * k2", smallest},
      {"(-9223372036854775807 - 1) / -1", largest},
      {"(-9223372036854775807 - 1) % -1", 0},
      {"-(-9223372036854775807 - 1)", largest},
      {"0 - (-9223372036854775807 - 1)", largest},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Expression::parse(row.text, names).evaluate(values), row.value) << row.text;
    EXPECT_EQ(Expression::parse(row.text, names).text(), row.text);
  }
}

TEST(Expression, SaysWhatIsWrong) {
  static const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"", R"~(column 1 of "": found the end, expected a name, an integer, '-', '!' or '(')~"},
      {"m +",
       R"~(column 4 of "m +": found the end, expected a name, an integer, '-', '!' or '(')~"},
      {"m n", R"~(column 3 of "m n": found 'n', expected an operator or the end)~"},
      {"(m", R"~(column 3 of "(m": found the end, expected ')')~"},
      {"m)", R"~(column 2 of "m)": found ')', expected an operator or the end)~"},
      {"m * q", R"~(column 5 of "m * q": found 'q', expected one of: m, n, k2)~"},
      {"m = 1", R"~(column 3 of "m = 1": found '=', expected an operator or the end)~"},
      {"m & 1", R"~(column 3 of "m & 1": found '&', expected an operator or the end)~"},
      {"1 < m < 3",
       R"~(column 7 of "1 < m < 3": found '<', expected no second comparison: write a < b && b < c)~"},
      {"1 == m == 1",
       R"~(column 8 of "1 == m == 1": found '=', expected no second comparison: write a < b && b < c)~"},
      {"m ? 1", R"~(column 6 of "m ? 1": found the end, expected ':')~"},
      {"min(m)", R"~(column 6 of "min(m)": found ')', expected ',')~"},
      {"min m", R"~(column 5 of "min m": found 'm', expected '(')~"},
      {"max(1, 2, 3)", R"~(column 9 of "max(1, 2, 3)": found ',', expected ')')~"},
      {"9223372036854775808",
       R"~(column 1 of "9223372036854775808": found '9223372036854775808', expected a 64-bit integer)~"},
      {"12abc", R"~(column 1 of "12abc": found '12abc', expected a 64-bit integer)~"},
      {"1.5", R"~(column 2 of "1.5": found '.', expected an operator or the end)~"},
  };
  for (const auto& row : rows) {
    try {
      Expression::parse(row.text, names);
      ADD_FAILURE() << row.text;
    } catch (const ExpressionError& error) {
      EXPECT_STREQ(error.what(), row.message);
    }
  }
}

std::string message_of(const std::string& text, std::span<const std::string> known) {
  try {
    Expression::parse(text, known);
    return "none";
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

TEST(Expression, HasBounds) {
  EXPECT_EQ(message_of("m", {}),
            R"(column 1 of "m": found 'm', expected an integer: there are no names here)");
  EXPECT_EQ(message_of(std::string(1001, '1'), names),
            "found 1001 characters, expected at most 1000");
  const std::string deep = std::string(40, '(') + "m" + std::string(40, ')');
  EXPECT_EQ(message_of(deep, names),
            "column 33 of \"" + deep + "\": found '(', expected at most 64 levels of nesting");
  const std::string unary = std::string(100, '-') + "1";
  EXPECT_NE(message_of(unary, names), "none");
  // Long but flat is fine.
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += "+1";
  EXPECT_EQ(Expression::parse(sum, {}).evaluate({}), 301);
}

}  // namespace
}  // namespace warpfuzz
