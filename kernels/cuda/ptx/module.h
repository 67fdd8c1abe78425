// The structure of a PTX module that instrumentation needs: functions with bodies, and their
// statements in order with the source line each belongs to. Knows the grammar of statements
// (guards, labels, scopes, directives that end with the line), not the instruction set. Views the
// text, which must outlive the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/ptx/token.h"

namespace warpfuzz::ptx {

// From .loc; line 0: the compiler gave none.
struct SourceLine {
  uint32_t file = 0;
  uint32_t line = 0;
};

enum class StatementKind : uint8_t {
  label,        // of code, not of a .branchtargets or .callprototype
  instruction,  // with its guard, to the semicolon
  other,        // a declaration, a directive, a brace
};

struct Statement {
  StatementKind kind = StatementKind::other;
  size_t begin = 0;  // byte offsets in the text
  size_t end = 0;
  size_t text_line = 0;  // of the PTX itself
  SourceLine source;
  std::string_view guard;           // "%p1"; empty if none
  bool guard_negated = false;       // @!%p1
  std::string_view label;           // its name, where it is one
  std::string_view opcode;          // "setp.lt.s32"
  std::span<const Token> operands;  // between opcode and semicolon
};

struct Function {
  std::string_view name;
  bool entry = false;  // a kernel
  // It says itself how many registers it takes, or for how many threads they must suffice.
  bool bounds_registers = false;
  size_t body_begin = 0;  // just after the brace that opens the body
  size_t body_end = 0;    // just before the one that closes it
  std::vector<Statement> statements;
};

struct Module {
  size_t header_end = 0;                       // just after .version, .target and .address_size
  int address_bits = 32;                       // what PTX assumes without .address_size
  std::map<uint32_t, std::string_view> files;  // of .file, as named there
  bool has_lines = false;                      // some .loc names one
  bool has_global_variables = false;           // that a kernel could leave something in
  std::vector<Function> functions;
  std::vector<Token> tokens;
};

// Throws PtxError.
Module parse(std::string_view text);

}  // namespace warpfuzz::ptx
