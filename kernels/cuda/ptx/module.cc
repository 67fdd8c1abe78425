#include "kernels/cuda/ptx/module.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace warpfuzz::ptx {
namespace {

constexpr std::array<std::string_view, 5> line_directives = {".loc", ".file", ".version", ".target",
                                                             ".address_size"};
constexpr std::array<std::string_view, 3> register_bounds = {".maxnreg", ".maxntid", ".reqntid"};
// What a label may name instead of code.
constexpr std::array<std::string_view, 3> label_directives = {".branchtargets", ".calltargets",
                                                              ".callprototype"};

template <size_t Count>
bool is_one_of(const Token& token, const std::array<std::string_view, Count>& words) {
  return token.kind == TokenKind::word &&
         std::find(words.begin(), words.end(), token.text) != words.end();
}

uint32_t number(const Token& token) {
  uint32_t value = 0;
  std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) { module_.tokens = tokenize(text); }

  Module parse() {
    while (!at_end()) {
      if (peek().kind == TokenKind::word && is_one_of(peek(), line_directives)) {
        parse_line_directive(true);
      } else if (peek().is(".section")) {
        skip_section();
      } else {
        parse_module_statement();
      }
    }
    if (module_.header_end == 0) throw PtxError(1, "no .version and .target: not a PTX module");
    return std::move(module_);
  }

 private:
  bool at_end() const { return at_ >= module_.tokens.size(); }
  const Token& peek(size_t ahead = 0) const {
    static const Token none{TokenKind::punctuation, 0, 0, 0, ""};
    return at_ + ahead < module_.tokens.size() ? module_.tokens[at_ + ahead] : none;
  }
  const Token& next() { return module_.tokens[at_++]; }
  [[noreturn]] void fail(size_t line, const std::string& message) const {
    throw PtxError(line, message);
  }

  // These have no semicolon: they end with the line.
  void parse_line_directive(bool in_header) {
    const size_t first = at_;
    const size_t line = peek().line;
    while (!at_end() && peek().line == line) ++at_;
    const std::span<const Token> words(module_.tokens.data() + first, at_ - first);
    if (words[0].is(".loc")) {
      if (words.size() >= 3) source_ = {number(words[1]), number(words[2])};
      module_.has_lines = module_.has_lines || source_.line != 0;
    } else if (words[0].is(".file")) {
      if (words.size() >= 3 && words[2].kind == TokenKind::string) {
        module_.files[number(words[1])] = words[2].text.substr(1, words[2].text.size() - 2);
      }
    } else if (in_header) {
      if (words[0].is(".address_size") && words.size() >= 2) {
        module_.address_bits = words[1].is("64") ? 64 : 32;
      }
      if (!words[0].is(".version")) module_.header_end = words.back().end;
    }
  }

  // .section .debug_info { ... }: data without semicolons.
  void skip_section() {
    const size_t line = next().line;
    while (!at_end() && !peek().is("{")) ++at_;
    skip_braces(line);
  }

  void skip_braces(size_t line) {
    int depth = 0;
    while (!at_end()) {
      const Token& token = next();
      if (token.is("{")) ++depth;
      if (token.is("}") && --depth == 0) return;
    }
    fail(line, "brace without end");
  }

  // A variable with its initialiser, a prototype, or a function.
  void parse_module_statement() {
    const size_t line = peek().line;
    Function function;
    bool is_function = false;
    int parentheses = 0;
    while (!at_end()) {
      const Token& token = next();
      if (token.is(".entry") || token.is(".func")) {
        is_function = true;
        function.entry = token.is(".entry");
      }
      if (!is_function && token.is(".global")) module_.has_global_variables = true;
      function.bounds_registers |= is_one_of(token, register_bounds);
      // The name is the first word outside parentheses: a result stands before it in some.
      if (is_function && parentheses == 0 && function.name.empty() &&
          token.kind == TokenKind::word && !token.text.starts_with('.')) {
        function.name = token.text;
      }
      if (token.is("(")) ++parentheses;
      if (token.is(")")) --parentheses;
      if (token.is(";")) return;
      if (token.is("}")) fail(token.line, "closing brace outside a function");
      if (!token.is("{")) continue;
      if (!is_function) {  // an initialiser
        --at_;
        skip_braces(token.line);
        continue;
      }
      if (function.name.empty()) fail(token.line, "function without a name");
      function.body_begin = token.end;
      parse_body(function, token.line);
      module_.functions.push_back(std::move(function));
      return;
    }
    fail(line, "statement without end");
  }

  void parse_body(Function& function, size_t open_line) {
    int depth = 1;
    source_ = {};
    while (!at_end()) {
      const Token& token = peek();
      if (token.is("{") || token.is("}")) {
        depth += token.is("{") ? 1 : -1;
        ++at_;
        function.body_end = token.begin;
        if (depth == 0) return;
      } else if (is_one_of(token, line_directives)) {
        parse_line_directive(false);
      } else if (token.kind == TokenKind::word && peek(1).is(":")) {
        Statement label;
        label.kind = StatementKind::label;
        label.begin = token.begin;
        label.end = peek(1).end;
        label.label = token.text;
        at_ += 2;
        // A label of data stays with the directive that follows, an `other` statement.
        if (!is_one_of(peek(), label_directives)) function.statements.push_back(label);
      } else if (token.is(";")) {
        ++at_;
      } else {
        function.statements.push_back(parse_statement());
      }
    }
    fail(open_line, "function without end");
  }

  Statement parse_statement() {
    Statement statement;
    const size_t line = peek().line;
    statement.begin = peek().begin;
    statement.text_line = line;
    statement.source = source_;
    if (peek().is("@")) {
      ++at_;
      if (peek().is("!")) {
        statement.guard_negated = true;
        ++at_;
      }
      if (at_end() || peek().kind != TokenKind::word) fail(line, "guard without a predicate");
      statement.guard = next().text;
    }
    if (at_end() || peek().kind != TokenKind::word) {
      fail(line, "expected an instruction, found '" + std::string(peek().text) + "'");
    }
    const Token& opcode = next();
    if (!opcode.text.starts_with('.')) {
      statement.kind = StatementKind::instruction;
      statement.opcode = opcode.text;
    }
    const size_t first = at_;
    while (!at_end() && !peek().is(";")) ++at_;
    if (at_end()) fail(line, "statement without a semicolon");
    statement.operands = {module_.tokens.data() + first, at_ - first};
    statement.end = next().end;
    return statement;
  }

  Module module_;
  size_t at_ = 0;
  SourceLine source_;
};

}  // namespace

Module parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace warpfuzz::ptx
