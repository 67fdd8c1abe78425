// Words for the race mode's reports: the kind of an access, and which variable an address belongs
// to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/simt/kernel_object.h"
#include "kernels/simt/race/shadow.h"

namespace warpfuzz::simt::race {

// "read", "atomic write" ... of Record::site.
std::string_view access_name(uint32_t site);

// "element 3 of shared array partial", "device variable counter", "byte 12 of dynamic shared
// memory", with a leading " of ". Elements are as long as the access. Empty for tensors, which only
// the image can name. Reads the kernel object's file: slow.
std::string variable_name(const LoadedObject& object, const Range& range, uintptr_t address,
                          size_t bytes);

}  // namespace warpfuzz::simt::race
