// Runs PTX on the host, for tests of what surrounds a GPU: the instructions that nvcc makes of the
// small kernels in kernels/ptx, and those that the coverage instrumenter adds. One block after the
// other, its threads in turn from barrier to barrier. Generic and global addresses are those of the
// host; a shared address is an offset. What it does not know ends the process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/ptx/module.h"

namespace warpfuzz::test {

// In the order of PtxOperand::index.
inline constexpr std::array<std::string_view, 12> ptx_special_registers = {
    "%tid.x",  "%tid.y",  "%tid.z",  "%ctaid.x",  "%ctaid.y",  "%ctaid.z",
    "%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"};
// Of a type: 4 of "f32".
size_t ptx_bytes(std::string_view type);

struct PtxParameter {
  std::string_view name;
  size_t offset = 0;
  size_t bytes = 0;
};

struct PtxLaunch {
  std::array<unsigned, 3> grid;
  std::array<unsigned, 3> block;
  size_t shared_bytes = 0;
  void** arguments = nullptr;
};

struct PtxOperand {
  enum class Kind : uint8_t { reg, special, immediate, symbol, memory, vector };
  Kind kind = Kind::reg;
  size_t index = 0;           // of the register, or of the special one
  uint64_t bits = 0;          // immediate, or the offset of a memory operand
  std::string_view symbol;    // symbol, or the base of a memory operand that is no register
  std::vector<size_t> lanes;  // registers of a vector
};

struct PtxInstruction {
  std::vector<std::string_view> opcode;  // "setp", "ge", "s32"
  std::vector<PtxOperand> operands;
  size_t guard = SIZE_MAX;  // register
  bool guard_negated = false;
  size_t target = 0;  // of a branch
};

class PtxEntry {
 public:
  std::string name;
  std::vector<PtxParameter> parameters;
  std::vector<PtxInstruction> code;
  size_t registers = 0;
};

class PtxProgram {
 public:
  // Throws ptx::PtxError.
  explicit PtxProgram(std::string text);

  const std::vector<PtxEntry>& entries() const { return entries_; }
  // A variable of the module in global memory; nullptr if there is none.
  std::vector<uint8_t>* variable(std::string_view name);
  void run(const PtxEntry& entry, const PtxLaunch& launch);

 private:
  struct Thread;
  void read_declarations();
  void read_parameters(PtxEntry& entry, size_t token);
  void read_code(PtxEntry& entry, const ptx::Function& function);
  void run_block(const PtxEntry& entry, const PtxLaunch& launch, std::array<unsigned, 3> block);
  // Whether the thread stands at a barrier; it has ended otherwise.
  bool run_to_barrier(const PtxEntry& entry, Thread& thread);
  void execute(const PtxEntry& entry, const PtxInstruction& instruction, Thread& thread);
  uint64_t value(const PtxOperand& operand, const Thread& thread) const;
  uint8_t* memory(const PtxEntry& entry, std::string_view space, const PtxOperand& operand,
                  Thread& thread);

  std::string text_;
  ptx::Module module_;
  std::map<std::string, std::vector<uint8_t>, std::less<>> variables_;
  std::vector<PtxEntry> entries_;
};

}  // namespace warpfuzz::test
