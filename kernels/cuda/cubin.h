// Whether bytes are a cubin that the driver may be handed: it reads as far as the headers of the
// file say, so these must stay within it.
#pragma once

#include <string>
#include <string_view>

namespace warpfuzz::cuda {

// Empty, or what is wrong.
std::string cubin_problem(std::string_view bytes);

}  // namespace warpfuzz::cuda
