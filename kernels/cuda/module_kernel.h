// A PTX or cubin module that is launched as its manifest says (module_manifest.h). PTX is compiled
// by the driver when it is loaded, after the coverage instrumenter has been over it; a cubin runs
// as it is. The manifest is checked against the module: entries, parameters, block sizes.
#pragma once

#include <filesystem>
#include <memory>

#include "kernels/cuda/kernel_code.h"

namespace warpfuzz::cuda {

// Throws KernelError: what is wrong in the manifest or the module, where, and what would be right.
std::unique_ptr<KernelCode> load_module_kernel(const Session& session,
                                               const std::filesystem::path& manifest,
                                               const Schema& schema, bool instrument);

}  // namespace warpfuzz::cuda
