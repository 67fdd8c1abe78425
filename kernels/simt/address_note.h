// Says in words where an address lies that an access must not touch: how far from which buffer.
#pragma once

#include <cstdint>
#include <string>

namespace warpfuzz::simt {

// "4 bytes past the end of the shared array `tile` of 128 bytes"; empty if nothing is near.
std::string address_note(uintptr_t address);

}  // namespace warpfuzz::simt
