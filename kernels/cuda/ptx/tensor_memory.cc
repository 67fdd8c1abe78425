#include "kernels/cuda/ptx/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "kernels/cuda/ptx/constants.h"

namespace warpfuzz::ptx {
namespace {

constexpr uint64_t least_columns = 32;
constexpr int max_copies = 16;  // of a constant from register to register
constexpr int max_passes = 64;  // over a function, until what labels know is settled

bool allocates(const Statement& statement) {
  return statement.opcode.starts_with("tcgen05.alloc.");
}
bool frees(const Statement& statement) { return statement.opcode.starts_with("tcgen05.dealloc."); }
bool relinquishes(const Statement& statement) {
  return statement.opcode.starts_with("tcgen05.relinquish_alloc_permit.");
}

bool valid(uint64_t columns) {
  return std::has_single_bit(columns) && columns >= least_columns && columns <= tensor_columns;
}

// The values of registers that one instruction alone writes, a mov of a constant or of such a
// register. nvcc's registers are written once.
class ConstantRegisters {
 public:
  explicit ConstantRegisters(const Function& function) {
    for (const Statement& statement : function.statements) {
      if (statement.kind == StatementKind::instruction) add(statement);
    }
  }

  std::optional<uint64_t> value(std::string_view word) const {
    for (int copies = 0; copies < max_copies; ++copies) {
      if (const auto number = parse_integer(word)) return number;
      const auto known = sources_.find(word);
      if (known == sources_.end() || known->second.empty()) return std::nullopt;
      word = known->second;
    }
    return std::nullopt;
  }

 private:
  // Everything before the first comma is written, but for what stands in an address.
  void add(const Statement& statement) {
    const auto operands = statement.operands;
    const bool moves = statement.guard.empty() && statement.opcode.starts_with("mov.") &&
                       statement.opcode.ends_with("32") && operands.size() == 3 &&
                       operands[1].is(",") && operands[2].kind == TokenKind::word;
    int braces = 0, brackets = 0;
    for (const Token& token : operands) {
      if (token.is("{") || token.is("(")) ++braces;
      if (token.is("}") || token.is(")")) --braces;
      if (token.is("[")) ++brackets;
      if (token.is("]")) --brackets;
      if (token.is(",") && braces <= 0 && brackets <= 0) break;
      if (token.kind != TokenKind::word || brackets > 0) continue;
      const auto [known, first] = sources_.try_emplace(token.text);
      known->second = first && moves ? operands[2].text : std::string_view();
    }
  }

  std::map<std::string_view, std::string_view> sources_;  // empty: not one constant
};

// After the last comma.
std::optional<uint64_t> columns_of(const Statement& statement, const ConstantRegisters& registers) {
  const auto operands = statement.operands;
  if (operands.size() < 2 || !operands[operands.size() - 2].is(",")) return std::nullopt;
  if (operands.back().kind != TokenKind::word) return std::nullopt;
  return registers.value(operands.back().text);
}

// After these no other warp can know more of what this one has allocated, so that none can have
// freed it. Whatever else there is may tell, or wait for, another warp.
bool keeps_to_itself(std::string_view opcode) {
  static constexpr std::array<std::string_view, 30> own = {
      "mov.",  "add.",  "sub.",  "mul.",       "mad.",  "shl.",         "shr.", "and.",
      "or.",   "xor.",  "not.",  "neg.",       "abs.",  "min.",         "max.", "setp.",
      "selp.", "cvt.",  "cvta.", "lop3.",      "shf.",  "prmt.",        "bfe.", "bfi.",
      "ld.",   "elect", "bra",   "st.shared.", "shfl.", "bar.warp.sync"};
  return std::any_of(own.begin(), own.end(),
                     [&](std::string_view prefix) { return opcode.starts_with(prefix); });
}

// What is certain wherever control comes from.
struct Certain {
  uint64_t columns = 0;  // at least so many are taken, by this warp
  bool relinquished = false;
  bool operator==(const Certain&) const = default;
};

using Place = std::optional<Certain>;  // empty: nothing leads here

Place meet(const Place& a, const Place& b) {
  if (!a || !b) return a ? a : b;
  return Certain{std::min(a->columns, b->columns), a->relinquished && b->relinquished};
}

// Follows control through the text. Labels of one name, as scopes may have, count as one.
class Follower {
 public:
  Follower(const Function& function, const ConstantRegisters& registers)
      : function_(function), registers_(registers) {
    for (const Statement& statement : function.statements) {
      indirect_ = indirect_ || statement.opcode.starts_with("brx.");
    }
  }

  std::vector<Problem> problems() {
    for (int pass = 0; changed_; ++pass) {
      if (pass == max_passes) indirect_ = true;  // labels know nothing: that is settled
      changed_ = false;
      follow();
      if (indirect_) break;
    }
    accuse_ = true;
    follow();
    return std::move(problems_);
  }

 private:
  void follow() {
    Place at = Certain{};
    for (const Statement& statement : function_.statements) {
      if (statement.kind == StatementKind::label) {
        at = indirect_ ? Certain{} : meet(at, labels_[statement.label]);
      } else if (statement.kind == StatementKind::instruction && at) {
        step(statement, at);
      }
    }
  }

  void step(const Statement& statement, Place& at) {
    const bool always = statement.guard.empty();
    if (allocates(statement)) {
      allocate(statement, *at);
    } else if (relinquishes(statement)) {
      at->relinquished = at->relinquished || always;
    } else if (statement.opcode == "bra" || statement.opcode.starts_with("bra.")) {
      branch(statement, *at);
      if (always) at.reset();
    } else if (statement.opcode == "ret" || statement.opcode.starts_with("ret.") ||
               statement.opcode == "exit" || statement.opcode == "trap") {
      if (always) at.reset();
    } else if (!keeps_to_itself(statement.opcode)) {
      at->columns = 0;
    }
  }

  void allocate(const Statement& statement, Certain& at) {
    if (accuse_ && at.relinquished) {
      problems_.push_back({statement.text_line, statement.source,
                           "tcgen05.alloc after tcgen05.relinquish_alloc_permit"});
    }
    const auto columns = columns_of(statement, registers_);
    if (!columns || !valid(*columns)) return;
    if (accuse_ && at.columns + *columns > tensor_columns) {
      problems_.push_back({statement.text_line, statement.source,
                           fmt::format("tcgen05.alloc of {} columns while {} of {} are taken",
                                       *columns, at.columns, tensor_columns)});
      return;
    }
    if (statement.guard.empty()) {
      at.columns = std::min<uint64_t>(at.columns + *columns, tensor_columns);
    }
  }

  void branch(const Statement& statement, const Certain& at) {
    if (statement.operands.empty()) return;
    Place& label = labels_[statement.operands[0].text];
    const Place met = meet(label, at);
    changed_ = changed_ || met != label;
    label = met;
  }

  const Function& function_;
  const ConstantRegisters& registers_;
  std::map<std::string_view, Place> labels_;
  bool indirect_ = false;  // any label may be reached from anywhere
  bool changed_ = true;
  bool accuse_ = false;
  std::vector<Problem> problems_;
};

}  // namespace

TensorMemoryUse tensor_memory_use(const Function& function) {
  TensorMemoryUse use;
  const auto uses = [](const Statement& statement) {
    return allocates(statement) || frees(statement);
  };
  if (std::none_of(function.statements.begin(), function.statements.end(), uses)) return use;
  const ConstantRegisters registers(function);
  for (const Statement& statement : function.statements) {
    use.frees = use.frees || frees(statement);
    if (!allocates(statement)) continue;
    const auto columns = columns_of(statement, registers);
    use.allocations.push_back({&statement, columns});
    if (columns && !valid(*columns)) {
      use.problems.push_back(
          {statement.text_line, statement.source,
           fmt::format("tcgen05.alloc of {} columns, expected a power of two from {} to {}",
                       *columns, least_columns, tensor_columns)});
    }
  }
  std::vector<Problem> order = Follower(function, registers).problems();
  use.problems.insert(use.problems.end(), order.begin(), order.end());
  return use;
}

}  // namespace warpfuzz::ptx
