#include "kernels/cuda/ptx/instrument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/cuda/ptx/constants.h"
#include "kernels/cuda/ptx/module.h"

namespace warpfuzz::ptx {
namespace {

// Guarded, these end a basic block: threads whose guard is false go on with the next statement.
constexpr std::array<std::string_view, 5> branches = {"bra", "brx", "exit", "ret", "trap"};

std::string_view base(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

bool is_branch(std::string_view opcode) {
  return std::find(branches.begin(), branches.end(), base(opcode)) != branches.end();
}

// Ends the function for the thread, in order.
bool is_exit(std::string_view opcode) { return base(opcode) == "ret" || base(opcode) == "exit"; }

constexpr size_t word_bits = 32;
// Registers of a thread are given out so many at a time; with this many every block fits on a
// multiprocessor, and none has more.
constexpr unsigned register_step = 8, always_fitting_registers = 64, most_registers = 255;

uint32_t bit_of(size_t slot) { return uint32_t{1} << slot % word_bits; }
// The word of the array that holds the slot, and its address.
size_t word_of(size_t slot) { return slot / word_bits; }
std::string address_of(size_t word) { return fmt::format("{}+{}", coverage_symbol, 4 * word); }

// The predicates that a setp writes: "%p1", or "%p1|%p2"; "_" is a result not wanted.
std::vector<std::string_view> written_predicates(const Statement& statement) {
  std::vector<std::string_view> predicates;
  for (size_t i = 0; i < statement.operands.size() && i <= 2; i += 2) {
    const Token& token = statement.operands[i];
    if (token.kind != TokenKind::word) break;
    if (token.text != "_") predicates.push_back(token.text);
    if (i + 1 >= statement.operands.size() || !statement.operands[i + 1].is("|")) break;
  }
  return predicates;
}

// Stands for the PTX among the files of .file.
constexpr uint32_t text_file = UINT32_MAX;

class Instrumenter {
 public:
  Instrumenter(std::string_view text, const InstrumentOptions& options)
      : text_(text), options_(options), module_(parse(text)) {
    text_lines_ = !options_.lines_of_text.empty() && !module_.has_lines;
    if (text_lines_) module_.files[text_file] = options_.lines_of_text;
    if (text.find(coverage_symbol) != text.npos) {
      throw PtxError(
          1, fmt::format("{} is there: the module is instrumented already", coverage_symbol));
    }
    // Names that no function uses.
    for (int i = 0; text.find(name_) != text.npos; ++i) name_ = fmt::format("wf{}_", i);
    prefix_ = "%" + name_;
  }

  Instrumented run() {
    for (const Function& function : module_.functions) add_function(function);
    result_.map.constants.assign(constants_.begin(), constants_.end());
    result_.map.lines.assign(lines_.begin(), lines_.end());
    if (!result_.map.counters.empty()) {
      insertions_.emplace(module_.header_end,
                          fmt::format("\n.visible .global .align 8 .b32 {}[{}];", coverage_symbol,
                                      word_of(result_.map.counters.size() - 1) + 1));
    }
    size_t from = 0;
    for (const auto& [at, added] : insertions_) {
      result_.text += text_.substr(from, at - from);
      result_.text += added;
      from = at;
    }
    result_.text += text_.substr(from);
    return std::move(result_);
  }

 private:
  void add_function(const Function& function) {
    const size_t first = result_.map.counters.size();
    probes_.clear();
    ordinals_.clear();
    known_line_ = {};
    std::optional<CounterKind> pending = CounterKind::entry;
    size_t block = 0;
    for (size_t i = 0; i < function.statements.size(); ++i) {
      const Statement& statement = function.statements[i];
      if (statement.kind == StatementKind::label && pending != CounterKind::entry) {
        pending = CounterKind::label;
      }
      if (statement.kind != StatementKind::instruction) continue;
      const SourceLine source = line_of(function, i);
      if (pending && options_.blocks) block = add_block(function, statement, *pending, source);
      if (options_.blocks) add_line(block, source_of(statement));
      pending.reset();
      if (!statement.guard.empty() && is_branch(statement.opcode)) {
        pending = CounterKind::fall_through;
      }
      if (statement.opcode.starts_with("setp.")) add_comparison(function, statement, source);
      for (const Constant& constant : comparison_constants(statement)) constants_.insert(constant);
    }
    const size_t end = result_.map.counters.size();
    if (end == first) return;
    bound_registers(function);
    if (word_of(end - 1) - word_of(first) < options_.most_words) {
      keep_in_registers(function, word_of(first), word_of(end - 1));
    } else {
      write_at_once(function);
    }
  }

  void bound_registers(const Function& function) {
    const auto plain = options_.registers.find(function.name);
    if (plain == options_.registers.end() || function.bounds_registers) return;
    const unsigned given = (plain->second + register_step - 1) / register_step * register_step;
    insertions_.emplace(
        function.body_begin - 1,  // before the brace
        fmt::format(".maxnreg {}\n", std::clamp(given, always_fitting_registers, most_registers)));
  }

  // The line of the statement or, where the compiler gives 0, of what follows in its block, or of
  // what came before.
  SourceLine line_of(const Function& function, size_t index) {
    for (size_t i = index; i < function.statements.size(); ++i) {
      const Statement& statement = function.statements[i];
      if (statement.kind == StatementKind::label) break;
      if (source_of(statement).line != 0) {
        known_line_ = source_of(statement);
        break;
      }
      if (is_branch(statement.opcode)) break;
    }
    return known_line_;
  }

  SourceLine source_of(const Statement& statement) const {
    if (text_lines_) return {text_file, static_cast<uint32_t>(statement.text_line)};
    return statement.source;
  }

  // A line that the block of this counter holds code of.
  void add_line(size_t slot, SourceLine source) {
    const auto file = module_.files.find(source.file);
    if (source.line == 0 || file == module_.files.end()) return;
    std::vector<std::string>& files = result_.map.files;
    const auto [known, added] =
        file_positions_.emplace(source.file, static_cast<uint32_t>(files.size()));
    if (added) files.emplace_back(file->second);
    lines_.insert({static_cast<uint32_t>(slot), known->second, source.line});
  }

  size_t add_counter(const Function& function, CounterKind kind, SourceLine source,
                     std::string_view comparison = {}) {
    Counter counter;
    counter.function = function.name;
    if (const auto file = module_.files.find(source.file); file != module_.files.end()) {
      counter.file = file->second;
    }
    counter.line = source.line;
    counter.kind = kind;
    counter.ordinal = ordinals_[{source.file, source.line, kind}]++;
    counter.comparison = comparison;
    result_.map.counters.push_back(std::move(counter));
    return result_.map.counters.size() - 1;
  }

  // Where a counter is set: always `on`, or one of the two as `predicate` says.
  struct Probe {
    size_t at = 0;  // in the text
    size_t on = 0;  // slots
    size_t off = 0;
    std::string_view predicate = {};  // empty: always
    std::string guard = {};  // "@%p1 " of the comparison: where it did not run, nothing is new
  };

  size_t add_block(const Function& function, const Statement& statement, CounterKind kind,
                   SourceLine source) {
    const size_t slot = add_counter(function, kind, source);
    probes_.push_back({.at = statement.begin, .on = slot});
    return slot;
  }

  void add_comparison(const Function& function, const Statement& statement, SourceLine source) {
    if (!options_.predicates) return;
    const std::vector<std::string_view> predicates = written_predicates(statement);
    // A comparison that overwrites its own guard leaves no trace of whether it ran.
    if (std::find(predicates.begin(), predicates.end(), statement.guard) != predicates.end())
      return;
    const std::string_view comparison = statement.opcode.substr(std::string_view("setp.").size());
    for (const std::string_view predicate : predicates) {
      Probe probe{.at = statement.end, .predicate = predicate};
      probe.off = add_counter(function, CounterKind::predicate_false, source, comparison);
      probe.on = add_counter(function, CounterKind::predicate_true, source, comparison);
      if (!statement.guard.empty()) {
        probe.guard = fmt::format("@{}{} ", statement.guard_negated ? "!" : "", statement.guard);
      }
      probes_.push_back(std::move(probe));
    }
  }

  std::string seen(size_t word) const { return fmt::format("{}seen{}", prefix_, word); }

  // A thread collects what it has seen in registers, a bit each, and writes them as it ends: a
  // probe is an instruction or two that wait for nothing.
  void keep_in_registers(const Function& function, size_t first, size_t last) {
    std::string begin = fmt::format("\n\t.reg .pred \t{0}new;\n\t.reg .b32 \t{0}value", prefix_);
    for (size_t word = first; word <= last; ++word) begin += ", " + seen(word);
    begin += ";";
    for (size_t word = first; word <= last; ++word) {
      begin += fmt::format("\n\tmov.b32 \t{}, 0;", seen(word));
    }
    insertions_.emplace(function.body_begin, begin);
    for (const Probe& probe : probes_) {
      if (probe.predicate.empty()) {
        insertions_.emplace(probe.at, fmt::format("or.b32 \t{0}, {0}, {1};\n\t",
                                                  seen(word_of(probe.on)), bit_of(probe.on)));
        continue;
      }
      std::string code;
      for (size_t word = word_of(probe.off); word <= word_of(probe.on); ++word) {
        const auto bit = [&](size_t slot) { return word_of(slot) == word ? bit_of(slot) : 0; };
        code += fmt::format(
            "\n\tselp.b32 \t{0}value, {1}, {2}, {3};\n\t{4}or.b32 \t{5}, {5}, {0}value;", prefix_,
            bit(probe.on), bit(probe.off), probe.predicate, probe.guard, seen(word));
      }
      insertions_.emplace(probe.at, code);
    }
    std::string write;
    for (size_t word = first; word <= last; ++word) {
      write += fmt::format(
          "ld.global.u32 \t{0}value, [{1}];\n"
          "\tand.b32 \t{0}value, {0}value, {2};\n"
          "\tsetp.ne.u32 \t{0}new, {0}value, {2};\n"
          "\t@{0}new red.global.or.b32 \t[{1}], {2};\n\t",
          prefix_, address_of(word), seen(word));
    }
    const Statement* open_end = nullptr;  // falls off the end of the function
    for (const Statement& statement : function.statements) {
      if (statement.kind == StatementKind::label) open_end = &statement;
      if (statement.kind != StatementKind::instruction) continue;
      const bool ends = statement.guard.empty() && is_branch(statement.opcode);
      open_end = ends ? nullptr : &statement;
      if (!is_exit(statement.opcode)) continue;
      if (statement.guard.empty()) {
        insertions_.emplace(statement.begin, write);
        continue;
      }
      // Threads that go on write nothing yet.
      const std::string go_on = fmt::format("${}go_on{}", name_, labels_++);
      insertions_.emplace(statement.begin,
                          fmt::format("@{}{} bra \t{};\n\t{}", statement.guard_negated ? "" : "!",
                                      statement.guard, go_on, write));
      insertions_.emplace(statement.end, fmt::format("\n{}:", go_on));
    }
    if (open_end != nullptr) insertions_.emplace(function.body_end, write);
  }

  // Each probe looks whether its bit is there, so that hot ones only read.
  void write_at_once(const Function& function) {
    insertions_.emplace(function.body_begin,
                        fmt::format("\n\t.reg .pred \t{0}new;\n\t.reg .b32 \t{0}value, {0}bit;\n"
                                    "\t.reg .b{1} \t{0}address, {0}offset;",
                                    prefix_, module_.address_bits));
    for (const Probe& probe : probes_) {
      if (probe.predicate.empty()) {
        insertions_.emplace(probe.at,
                            fmt::format("ld.global.u32 \t{0}value, [{1}];\n"
                                        "\tand.b32 \t{0}value, {0}value, {2};\n"
                                        "\tsetp.eq.u32 \t{0}new, {0}value, 0;\n"
                                        "\t@{0}new red.global.or.b32 \t[{1}], {2};\n\t",
                                        prefix_, address_of(word_of(probe.on)), bit_of(probe.on)));
        continue;
      }
      insertions_.emplace(
          probe.at, fmt::format("\n\tmov.u{1} \t{0}address, {2};\n"
                                "\tselp.b{1} \t{0}offset, {3}, {4}, {5};\n"
                                "\tadd.u{1} \t{0}address, {0}address, {0}offset;\n"
                                "\tselp.b32 \t{0}bit, {6}, {7}, {5};\n"
                                "\tmov.b32 \t{0}value, -1;\n"
                                "\t{8}ld.global.u32 \t{0}value, [{0}address];\n"
                                "\tand.b32 \t{0}value, {0}value, {0}bit;\n"
                                "\tsetp.eq.u32 \t{0}new, {0}value, 0;\n"
                                "\t@{0}new red.global.or.b32 \t[{0}address], {0}bit;",
                                prefix_, module_.address_bits, coverage_symbol,
                                4 * word_of(probe.on), 4 * word_of(probe.off), probe.predicate,
                                bit_of(probe.on), bit_of(probe.off), probe.guard));
    }
  }

  std::string_view text_;
  InstrumentOptions options_;
  Module module_;
  bool text_lines_ = false;
  std::string name_ = "wf_";
  std::string prefix_;  // of registers
  size_t labels_ = 0;
  std::vector<Probe> probes_;  // of the function at hand
  std::map<std::tuple<uint32_t, uint32_t, CounterKind>, uint32_t> ordinals_;
  SourceLine known_line_;
  std::set<Constant> constants_;
  std::map<uint32_t, uint32_t> file_positions_;  // of .file in the map's files
  std::set<CoveredLine> lines_;
  std::multimap<size_t, std::string> insertions_;  // where in the text; same place: in order
  Instrumented result_;
};

}  // namespace

Instrumented instrument(std::string_view text, const InstrumentOptions& options) {
  return Instrumenter(text, options).run();
}

}  // namespace warpfuzz::ptx
