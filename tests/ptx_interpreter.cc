#include "tests/ptx_interpreter.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warpfuzz::test {
namespace {

using Words = std::vector<std::string_view>;

[[noreturn]] void unknown(const char* what, std::string_view text) {
  std::fprintf(stderr, "PTX interpreter: unknown %s '%.*s'\n", what, static_cast<int>(text.size()),
               text.data());
  std::abort();
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

float real(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint64_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// The low bits of a register as a number of its type.
int64_t integer(uint64_t bits, std::string_view type) {
  const auto unused = static_cast<int>(64 - 8 * ptx_bytes(type));
  const uint64_t shifted = bits << unused;
  return type[0] == 's' ? static_cast<int64_t>(shifted) >> unused
                        : static_cast<int64_t>(shifted >> unused);
}

template <class T>
bool compare(std::string_view how, T a, T b) {
  const bool unordered = a != a || b != b;
  if (how.size() == 3) return unordered || compare(how.substr(0, 2), a, b);
  if (unordered) return false;
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  if (how == "ge" || how == "hs") return a >= b;
  unknown("comparison", how);
}

bool holds(const Words& op, uint64_t a, uint64_t b) {
  const std::string_view how = op[1], type = op.back();
  if (type == "f32") return compare(how, real(a), real(b));
  if (type[0] == 's') return compare(how, integer(a, type), integer(b, type));
  const auto bits = [&](uint64_t v) { return static_cast<uint64_t>(integer(v, type)); };
  return compare(how, bits(a), bits(b));
}

float rounded_down_fma(float a, float b, float c) {
  const int before = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  volatile float va = a, vb = b, vc = c;
  const volatile float result = std::fma(va, vb, vc);
  std::fesetround(before);
  return result;
}

float real_result(const Words& op, float a, float b, float c) {
  const std::string_view name = op[0];
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "div") return a / b;
  if (name == "max") return std::fmax(a, b);
  if (name == "min") return std::fmin(a, b);
  if (name == "neg") return -a;
  if (name == "abs") return std::fabs(a);
  if (name == "ex2") return std::exp2(a);
  if (name == "fma") return has(op, "rm") ? rounded_down_fma(a, b, c) : std::fma(a, b, c);
  unknown("operation", name);
}

uint64_t integer_result(const Words& op, uint64_t x, uint64_t y, uint64_t z) {
  const std::string_view name = op[0], type = op.back();
  const auto a = static_cast<uint64_t>(integer(x, type));
  const auto b = static_cast<uint64_t>(integer(y, type));
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;  // .lo, or .wide of extended operands
  if (name == "mad") return a * b + z;
  if (name == "and") return a & b;
  if (name == "or") return a | b;
  if (name == "shl") return a << (y & 63);
  if (name == "shr") {
    return type[0] == 's' ? static_cast<uint64_t>(integer(x, type) >> (y & 63)) : a >> (y & 63);
  }
  if (name == "neg") return 0 - a;
  unknown("operation", name);
}

uint64_t converted(const Words& op, uint64_t bits) {
  const std::string_view to = op[op.size() - 2], from = op.back();
  if (from == "f32" && to == "f32") {
    const float value = real(bits);
    return bits_of(has(op, "sat") ? std::fmin(std::fmax(value, 0.0f), 1.0f) : value);
  }
  if (to == "f32") return bits_of(static_cast<float>(integer(bits, from)));
  return static_cast<uint64_t>(integer(bits, from));
}

}  // namespace

struct PtxProgram::Thread {
  std::vector<uint64_t> registers;
  std::array<uint64_t, ptx_special_registers.size()> special{};
  size_t at = 0;
  bool ended = false;
  uint8_t* shared = nullptr;
  void** arguments = nullptr;
};

void PtxProgram::run(const PtxEntry& entry, const PtxLaunch& launch) {
  for (unsigned z = 0; z < launch.grid[2]; ++z) {
    for (unsigned y = 0; y < launch.grid[1]; ++y) {
      for (unsigned x = 0; x < launch.grid[0]; ++x) run_block(entry, launch, {x, y, z});
    }
  }
}

void PtxProgram::run_block(const PtxEntry& entry, const PtxLaunch& launch,
                           std::array<unsigned, 3> block) {
  std::vector<uint8_t> shared(launch.shared_bytes + 1);
  std::vector<Thread> threads(size_t{launch.block[0]} * launch.block[1] * launch.block[2]);
  for (size_t i = 0; i < threads.size(); ++i) {
    Thread& thread = threads[i];
    thread.registers.resize(entry.registers);
    thread.special = {i % launch.block[0],
                      i / launch.block[0] % launch.block[1],
                      i / launch.block[0] / launch.block[1],
                      block[0],
                      block[1],
                      block[2],
                      launch.block[0],
                      launch.block[1],
                      launch.block[2],
                      launch.grid[0],
                      launch.grid[1],
                      launch.grid[2]};
    thread.shared = shared.data();
    thread.arguments = launch.arguments;
  }
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (Thread& thread : threads) {
      if (!thread.ended && run_to_barrier(entry, thread)) waiting = true;
    }
  }
}

bool PtxProgram::run_to_barrier(const PtxEntry& entry, Thread& thread) {
  while (thread.at < entry.code.size()) {
    const PtxInstruction& instruction = entry.code[thread.at++];
    if (instruction.guard != SIZE_MAX &&
        (thread.registers[instruction.guard] != 0) == instruction.guard_negated) {
      continue;
    }
    const std::string_view name = instruction.opcode[0];
    if (name == "bra") {
      thread.at = instruction.target;
    } else if (name == "bar") {
      return true;
    } else if (name == "ret" || name == "exit") {
      break;
    } else {
      execute(entry, instruction, thread);
    }
  }
  thread.ended = true;
  return false;
}

uint64_t PtxProgram::value(const PtxOperand& operand, const Thread& thread) const {
  switch (operand.kind) {
    case PtxOperand::Kind::reg:
      return thread.registers[operand.index];
    case PtxOperand::Kind::special:
      return thread.special[operand.index];
    case PtxOperand::Kind::immediate:
      return operand.bits;
    default: {
      const auto found = variables_.find(operand.symbol);
      return found == variables_.end() ? 0  // shared memory begins there
                                       : reinterpret_cast<uintptr_t>(found->second.data());
    }
  }
}

uint8_t* PtxProgram::memory(const PtxEntry& entry, std::string_view space,
                            const PtxOperand& operand, Thread& thread) {
  if (space == "param") {
    const auto known = std::find_if(
        entry.parameters.begin(), entry.parameters.end(),
        [&](const PtxParameter& parameter) { return parameter.name == operand.symbol; });
    return static_cast<uint8_t*>(thread.arguments[known - entry.parameters.begin()]) + operand.bits;
  }
  PtxOperand base = operand;
  base.kind = operand.index != SIZE_MAX ? PtxOperand::Kind::reg : PtxOperand::Kind::symbol;
  const uint64_t address = value(base, thread) + operand.bits;
  return space == "shared" ? thread.shared + address : reinterpret_cast<uint8_t*>(address);
}

void PtxProgram::execute(const PtxEntry& entry, const PtxInstruction& instruction, Thread& thread) {
  const Words& op = instruction.opcode;
  const std::vector<PtxOperand>& operands = instruction.operands;
  const std::string_view name = op[0], type = op.back();
  if (name == "red") {
    uint32_t word = 0;
    uint8_t* const address = memory(entry, op[1], operands[0], thread);
    std::memcpy(&word, address, sizeof word);
    word |= static_cast<uint32_t>(value(operands[1], thread));
    std::memcpy(address, &word, sizeof word);
    return;
  }
  const bool load = name == "ld";
  if (load || name == "st") {
    const PtxOperand& data = operands[load ? 0 : 1];
    uint8_t* address = memory(entry, op[1], operands[load ? 1 : 0], thread);
    std::vector<size_t> lanes = data.lanes;
    if (lanes.empty()) lanes.push_back(data.index);
    for (const size_t lane : lanes) {
      uint64_t bits = 0;
      if (load) {
        std::memcpy(&bits, address, ptx_bytes(type));
        thread.registers[lane] = bits;
      } else {
        bits = data.kind == PtxOperand::Kind::immediate ? data.bits : thread.registers[lane];
        std::memcpy(address, &bits, ptx_bytes(type));
      }
      address += ptx_bytes(type);
    }
    return;
  }
  uint64_t in[3] = {};
  for (size_t i = 1; i < operands.size() && i <= 3; ++i) in[i - 1] = value(operands[i], thread);
  uint64_t& out = thread.registers[operands[0].index];
  if (name == "setp") {
    out = holds(op, in[0], in[1]);
  } else if (name == "selp") {
    out = in[2] != 0 ? in[0] : in[1];
  } else if (name == "mov" || name == "cvta") {
    out = in[0];
  } else if (name == "cvt") {
    out = converted(op, in[0]);
  } else {
    out = type == "f32" ? bits_of(real_result(op, real(in[0]), real(in[1]), real(in[2])))
                        : integer_result(op, in[0], in[1], in[2]);
  }
}

}  // namespace warpfuzz::test
