// Which errors of the driver mean that the kernel has faulted. After any of them the context is
// lost and with it the process: no later call of the driver succeeds.
#pragma once

#include <optional>

#include "kernels/cuda/driver.h"
#include "kernels/device.h"

namespace warpfuzz::cuda {

// Nothing for errors that are no fault of the running kernel.
std::optional<Fault> device_fault(Status status);

}  // namespace warpfuzz::cuda
