// From the text of PTX to what ptx_interpreter.cc runs.
#include <algorithm>
#include <charconv>

#include "tests/ptx_interpreter.h"

namespace warpfuzz::test {
namespace {

std::vector<std::string_view> split(std::string_view opcode) {
  std::vector<std::string_view> words;
  while (!opcode.empty()) {
    const size_t dot = std::min(opcode.find('.'), opcode.size());
    words.push_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  return words;
}

uint64_t parse_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x"), real = text.starts_with("0f");
  uint64_t value = 0;
  std::from_chars(text.data() + (hexadecimal || real ? 2 : 0), text.data() + text.size(), value,
                  hexadecimal || real ? 16 : 10);
  return value;
}

}  // namespace

size_t ptx_bytes(std::string_view type) {
  size_t bits = 0;
  const size_t digit = type.find_first_of("0123456789");
  if (digit != type.npos) {
    std::from_chars(type.data() + digit, type.data() + type.size(), bits);
  }
  return bits / 8;
}

PtxProgram::PtxProgram(std::string text) : text_(std::move(text)), module_(ptx::parse(text_)) {
  read_declarations();
  for (const ptx::Function& function : module_.functions) {
    if (!function.entry) continue;
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const PtxEntry& entry) {
      return entry.name == function.name;
    });
    read_code(*known, function);
  }
}

std::vector<uint8_t>* PtxProgram::variable(std::string_view name) {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

// ".global .align 8 .b8 name[5];" of the module, and the entries with their parameters.
void PtxProgram::read_declarations() {
  const std::vector<ptx::Token>& tokens = module_.tokens;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is(".entry")) {
      entries_.push_back({std::string(tokens[i + 1].text), {}, {}, 0});
      read_parameters(entries_.back(), i + 2);
    } else if (tokens[i].is(".global")) {
      std::string_view type;
      while (i < tokens.size() && (tokens[i].text[0] == '.' || tokens[i - 1].is(".align"))) {
        type = tokens[i].text[0] == '.' ? tokens[i].text : type;
        ++i;
      }
      const bool array = tokens[i + 1].is("[");
      const size_t count = array ? parse_number(tokens[i + 2].text) : 1;
      variables_[std::string(tokens[i].text)].resize(count * ptx_bytes(type));
    }
  }
}

void PtxProgram::read_parameters(PtxEntry& entry, size_t token) {
  size_t offset = 0;
  std::string_view type;
  for (size_t i = token; !module_.tokens[i].is("{"); ++i) {
    const ptx::Token& word = module_.tokens[i];
    if (word.is(".param")) type = module_.tokens[i + 1].text;
    const bool ends = module_.tokens[i + 1].is(",") || module_.tokens[i + 1].is(")");
    if (word.kind != ptx::TokenKind::word || !ends || type.empty()) continue;
    const size_t bytes = ptx_bytes(type);
    offset = (offset + bytes - 1) / bytes * bytes;
    entry.parameters.push_back({word.text, offset, bytes});
    offset += bytes;
    type = {};
  }
}

void PtxProgram::read_code(PtxEntry& entry, const ptx::Function& function) {
  std::map<std::string_view, size_t> registers, labels;
  const auto number_of = [&](std::string_view name) {
    return registers.emplace(name, registers.size()).first->second;
  };
  const auto operand_of = [&](std::string_view word) {
    PtxOperand operand;
    const auto special =
        std::find(ptx_special_registers.begin(), ptx_special_registers.end(), word);
    if (special != ptx_special_registers.end()) {
      operand.kind = PtxOperand::Kind::special;
      operand.index = static_cast<size_t>(special - ptx_special_registers.begin());
    } else if (word[0] == '%') {
      operand.index = number_of(word);
    } else if (word[0] >= '0' && word[0] <= '9') {
      operand.kind = PtxOperand::Kind::immediate;
      operand.bits = parse_number(word);
    } else {
      operand.kind = PtxOperand::Kind::symbol;
      operand.symbol = word;
    }
    return operand;
  };
  std::vector<std::string_view> targets;
  for (const ptx::Statement& statement : function.statements) {
    if (statement.kind == ptx::StatementKind::label) {
      const std::string_view label(text_.data() + statement.begin, statement.end - statement.begin);
      labels[label.substr(0, label.find_first_of(": \t"))] = entry.code.size();
    }
    if (statement.kind != ptx::StatementKind::instruction) continue;
    PtxInstruction instruction;
    instruction.opcode = split(statement.opcode);
    if (!statement.guard.empty()) instruction.guard = number_of(statement.guard);
    instruction.guard_negated = statement.guard_negated;
    bool negative = false, in_memory = false, in_vector = false;
    for (const ptx::Token& token : statement.operands) {
      if (token.is("[") || token.is("]")) {
        in_memory = token.is("[");
        if (in_memory) instruction.operands.emplace_back().kind = PtxOperand::Kind::memory;
        if (in_memory) instruction.operands.back().index = SIZE_MAX;
      } else if (token.is("{") || token.is("}")) {
        in_vector = token.is("{");
        if (in_vector) instruction.operands.emplace_back().kind = PtxOperand::Kind::vector;
      } else if (token.is("-")) {
        negative = true;
      } else if (token.kind == ptx::TokenKind::word) {
        PtxOperand operand = operand_of(token.text);
        if (negative) operand.bits = 0 - operand.bits;
        negative = false;
        if (in_vector) {
          instruction.operands.back().lanes.push_back(operand.index);
        } else if (!in_memory) {
          instruction.operands.push_back(std::move(operand));
        } else if (operand.kind == PtxOperand::Kind::reg) {
          instruction.operands.back().index = operand.index;
        } else if (operand.kind == PtxOperand::Kind::symbol) {
          instruction.operands.back().symbol = operand.symbol;
        } else {
          instruction.operands.back().bits = operand.bits;
        }
      }
    }
    targets.push_back(instruction.opcode[0] == "bra" ? instruction.operands[0].symbol
                                                     : std::string_view());
    entry.code.push_back(std::move(instruction));
  }
  for (size_t i = 0; i < entry.code.size(); ++i) {
    if (!targets[i].empty()) entry.code[i].target = labels.at(targets[i]);
  }
  entry.registers = registers.size();
}

}  // namespace warpfuzz::test
