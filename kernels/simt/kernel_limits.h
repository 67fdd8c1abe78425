// What limits the launches of one kernel: its launch bound, its static shared memory, and the
// dynamic shared memory that the program has asked for with cudaFuncSetAttribute. Kernels tell of
// themselves when their first thread runs (KernelRecord); a kernel that does not, has neither a
// launch bound nor shared memory.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/simt/include/wf_simt.h"

namespace warpfuzz::simt {

// The shared variables of a loaded object. The memory must stay.
void add_shared_records(std::span<const wf_simt::SharedRecord> records);
// The variable whose bytes lie nearest to the address, nullptr if none is within 4 KiB.
const wf_simt::SharedRecord* nearest_shared_variable(uintptr_t address);

// Opt-ins do not outlive the run that made them.
void forget_opt_ins();

// cudaError_t of a launch whose grid and block are legal.
int check_kernel_limits(const wf_simt::LaunchRequest& request, const wf_simt::KernelRecord& record);
// The same for a kernel that does not tell of itself.
int check_dynamic_shared(const wf_simt::LaunchRequest& request);

}  // namespace warpfuzz::simt
