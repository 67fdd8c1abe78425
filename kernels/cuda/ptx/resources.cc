#include "kernels/cuda/ptx/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "kernels/cuda/ptx/constants.h"

namespace warpfuzz::ptx {
namespace {

constexpr size_t max_reached = 4096;  // functions that one entry is followed into
// What the compiler calls without a body in the module, and what never frees tensor memory.
constexpr std::array<std::string_view, 5> system_calls = {"vprintf", "__assertfail", "malloc",
                                                          "free", "__assert_fail"};

uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product);
  return overflow ? std::numeric_limits<uint64_t>::max() : product;
}

uint64_t saturating_sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

// Bytes of ".b32", ".f64x2"; 0 for what is no type. The digits are bits.
uint64_t type_bytes(std::string_view word) {
  if (word.size() < 3 || std::string_view("bsuf").find(word[1]) == std::string_view::npos) return 0;
  const auto bits = parse_integer(word.substr(2));
  return bits && *bits >= 8 && *bits <= 128 ? *bits / 8 : 0;
}

// One declarator of a .shared declaration.
struct SharedVariable {
  std::string_view name;
  uint64_t alignment = 1;
  uint64_t bytes = 0;   // 0: dynamic
  size_t function = 0;  // that declares it; none: the module
};
constexpr size_t no_function = std::numeric_limits<size_t>::max();

// Everything declared .shared, by whom.
class SharedVariables {
 public:
  explicit SharedVariables(const Module& module) : module_(module) {
    size_t next_function = 0, function = no_function;
    int braces = 0, parentheses = 0;
    for (at_ = 0; at_ < module.tokens.size(); ++at_) {
      const Token& token = module.tokens[at_];
      if (token.is("(")) ++parentheses;
      if (token.is(")")) --parentheses;
      if (token.is("{")) {
        ++braces;
        if (next_function < module.functions.size() &&
            token.end == module.functions[next_function].body_begin) {
          function = next_function++;
          braces = 1;
          parentheses = 0;
        }
      }
      if (token.is("}") && --braces <= 0) function = no_function;
      // A parameter may point to shared memory.
      if (token.is(".shared") && parentheses <= 0) read_declaration(function);
    }
  }

  const std::vector<SharedVariable>& all() const { return variables_; }

 private:
  // .shared .align 16 .b8 name[4][8], other; stands at the token before the end.
  void read_declaration(size_t function) {
    SharedVariable variable;
    variable.function = function;
    uint64_t element = 0, lanes = 1;
    for (++at_; at_ < module_.tokens.size() && !module_.tokens[at_].is(";"); ++at_) {
      const Token& token = module_.tokens[at_];
      const auto number = [&]() -> std::optional<uint64_t> {
        return at_ + 1 < module_.tokens.size() ? parse_integer(module_.tokens[at_ + 1].text)
                                               : std::nullopt;
      };
      if (token.is("{") || token.is("}")) break;  // no declaration after all
      if (token.is(".align")) {
        variable.alignment = std::max<uint64_t>(number().value_or(1), 1);
        ++at_;
      } else if (token.is(".v2") || token.is(".v4")) {
        lanes = token.is(".v2") ? 2 : 4;
      } else if (token.kind == TokenKind::word && token.text.starts_with('.')) {
        element = std::max(element, type_bytes(token.text));
      } else if (token.is("[")) {
        variable.bytes = saturating_product(variable.bytes, number().value_or(0));
      } else if (token.is(",")) {
        add(variable, element * lanes);
      } else if (token.kind == TokenKind::word && variable.name.empty()) {
        variable.name = token.text;
        variable.bytes = element * lanes;
      }
    }
    add(variable, element * lanes);
    --at_;
  }

  void add(SharedVariable& variable, uint64_t bytes) {
    if (!variable.name.empty()) {
      SharedVariable& added = variables_.emplace_back(variable);
      added.alignment = std::max(added.alignment, std::max<uint64_t>(bytes, 1));
    }
    variable.name = {};
    variable.bytes = 0;
  }

  const Module& module_;
  size_t at_ = 0;
  std::vector<SharedVariable> variables_;
};

class Summary {
 public:
  explicit Summary(const Module& module) : module_(module), shared_(module) {
    for (size_t i = 0; i < module.functions.size(); ++i) {
      by_name_.emplace(module.functions[i].name, i);
      uses_.push_back(tensor_memory_use(module.functions[i]));
    }
  }

  std::vector<EntryResources> run() const {
    std::vector<EntryResources> entries;
    for (size_t i = 0; i < module_.functions.size(); ++i) {
      if (module_.functions[i].entry) entries.push_back(of_entry(i));
    }
    return entries;
  }

 private:
  EntryResources of_entry(size_t entry) const {
    EntryResources result;
    result.entry = module_.functions[entry].name;
    bool unknown_calls = false;
    const std::set<size_t> reached = reached_from(entry, unknown_calls);
    const Statement* first = nullptr;
    bool frees = unknown_calls;
    for (const size_t i : reached) {
      const TensorMemoryUse& use = uses_[i];
      for (const TensorAllocation& allocation : use.allocations) {
        result.tensor_columns.push_back(allocation.columns);
        if (first == nullptr) first = allocation.statement;
      }
      frees = frees || use.frees;
      result.problems.insert(result.problems.end(), use.problems.begin(), use.problems.end());
    }
    if (first != nullptr && !frees) {
      result.problems.push_back({first->text_line, first->source,
                                 "tcgen05.alloc without a tcgen05.dealloc before the kernel ends"});
    }
    std::sort(result.problems.begin(), result.problems.end(),
              [](const Problem& a, const Problem& b) {
                return std::tie(a.text_line, a.message) < std::tie(b.text_line, b.message);
              });
    add_shared(reached, result);
    return result;
  }

  // The entry and what it calls, and whether it calls what the module does not show.
  std::set<size_t> reached_from(size_t entry, bool& unknown_calls) const {
    std::set<size_t> reached = {entry};
    std::vector<size_t> open = {entry};
    while (!open.empty()) {
      const Function& function = module_.functions[open.back()];
      open.pop_back();
      for (const Statement& statement : function.statements) {
        if (statement.opcode != "call" && !statement.opcode.starts_with("call.")) continue;
        const std::string_view name = callee(statement);
        const auto known = by_name_.find(name);
        if (known != by_name_.end() && reached.size() < max_reached) {
          if (reached.insert(known->second).second) open.push_back(known->second);
        } else if (std::find(system_calls.begin(), system_calls.end(), name) ==
                   system_calls.end()) {
          unknown_calls = true;
        }
      }
    }
    return reached;
  }

  // call (result), name, (arguments): the first word outside parentheses.
  static std::string_view callee(const Statement& call) {
    int parentheses = 0;
    for (const Token& token : call.operands) {
      if (token.is("(")) ++parentheses;
      if (token.is(")")) --parentheses;
      if (parentheses == 0 && token.kind == TokenKind::word) return token.text;
    }
    return {};
  }

  void add_shared(const std::set<size_t>& reached, EntryResources& result) const {
    std::set<std::string_view> named;
    for (const size_t i : reached) {
      for (const Statement& statement : module_.functions[i].statements) {
        for (const Token& token : statement.operands) named.insert(token.text);
      }
    }
    for (const SharedVariable& variable : shared_.all()) {
      const bool counts = variable.function == no_function ? named.contains(variable.name)
                                                           : reached.contains(variable.function);
      if (!counts) continue;
      result.dynamic_shared = result.dynamic_shared || variable.bytes == 0;
      const uint64_t rest = result.shared_bytes % variable.alignment;
      const uint64_t gap = rest == 0 || variable.bytes == 0 ? 0 : variable.alignment - rest;
      result.shared_bytes =
          saturating_sum(saturating_sum(result.shared_bytes, gap), variable.bytes);
    }
  }

  const Module& module_;
  SharedVariables shared_;
  std::map<std::string_view, size_t> by_name_;
  std::vector<TensorMemoryUse> uses_;  // as the module's functions
};

}  // namespace

std::vector<EntryResources> resources(const Module& module) { return Summary(module).run(); }

std::string position(const Module& module, const Problem& problem) {
  const auto file = module.files.find(problem.source.file);
  if (problem.source.line == 0 || file == module.files.end()) {
    return fmt::format("PTX line {}", problem.text_line);
  }
  const size_t slash = file->second.rfind('/');
  return fmt::format("{}:{}", file->second.substr(slash == file->second.npos ? 0 : slash + 1),
                     problem.source.line);
}

std::vector<RefusedEntry> refused_entries(std::string_view text) {
  const Module module = parse(text);
  std::vector<RefusedEntry> refused;
  for (const EntryResources& entry : resources(module)) {
    if (entry.problems.empty()) continue;
    const Problem& first = entry.problems.front();
    refused.push_back(
        {entry.entry, fmt::format("{} ({})", first.message, position(module, first))});
  }
  return refused;
}

}  // namespace warpfuzz::ptx
