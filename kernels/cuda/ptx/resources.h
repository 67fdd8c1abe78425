// What the kernels of a PTX module ask of a multiprocessor, as far as the text tells (RES-02):
// static shared memory, tensor memory, and uses of tensor memory that fail whenever they are
// executed. Needs no device and no assembler. Registers are ptxas' business.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/ptx/module.h"
#include "kernels/cuda/ptx/tensor_memory.h"

namespace warpfuzz::ptx {

struct EntryResources {
  std::string entry;  // as in the module, mangled
  // Static, of the entry and the functions it calls; variables of the module only if it names them.
  uint64_t shared_bytes = 0;
  bool dynamic_shared = false;
  // Of each tcgen05.alloc that the entry reaches; empty: a register holds them.
  std::vector<std::optional<uint64_t>> tensor_columns;
  std::vector<Problem> problems;
};

// One for each entry with a body, in the order of the text.
std::vector<EntryResources> resources(const Module& module);

// "softmax.cu:12", or where the compiler gave no line "PTX line 40".
std::string position(const Module& module, const Problem& problem);

// An entry with problems; the message is the first one's, with its position.
struct RefusedEntry {
  std::string entry;
  std::string message;
};
// Throws PtxError for text that is not a PTX module.
std::vector<RefusedEntry> refused_entries(std::string_view text);

}  // namespace warpfuzz::ptx
