#include "kernels/cuda/device_faults.h"

#include <fmt/format.h>

#include <array>

namespace warpfuzz::cuda {
namespace {

struct Row {
  Status status;
  FaultKind kind;
  const char* message;
};

// The driver does not tell reads from writes, nor where; compute-sanitizer does.
constexpr std::array rows = {
    Row{214, FaultKind::undefined_behavior, "uncorrectable memory error (ECC)"},
    Row{700, FaultKind::wild_access, "illegal address"},
    Row{702, FaultKind::time_limit, "launch timed out"},
    Row{710, FaultKind::undefined_behavior, "assertion in device code failed"},
    Row{714, FaultKind::wild_access, "hardware stack error"},
    Row{715, FaultKind::undefined_behavior, "illegal instruction"},
    Row{716, FaultKind::misaligned_access, "misaligned address"},
    Row{717, FaultKind::wild_access, "access to an invalid address space"},
    Row{718, FaultKind::wild_access, "invalid program counter"},
    Row{719, FaultKind::undefined_behavior,
        "launch failure (trap, or access outside shared memory)"},
};

}  // namespace

std::optional<Fault> device_fault(Status status) {
  for (const Row& row : rows) {
    if (row.status != status) continue;
    Fault fault;
    fault.kind = row.kind;
    fault.message = fmt::format("the device reports: {} (CUDA error {})", row.message, status);
    return fault;
  }
  return std::nullopt;
}

}  // namespace warpfuzz::cuda
