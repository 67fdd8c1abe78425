// What has to be added to the LLVM IR of a kernel (text, as clang emits it before optimising)
// because C++ cannot say it and the sanitizers do not see it.
#pragma once

#include <string>
#include <string_view>

namespace warpfuzz {

// Changes with what the functions below do, for the keys of caches.
inline constexpr const char* ir_edits_version = "2";

// A check of the alignment of every struct copy. `float4 v = *p` is a memcpy of operands with
// `align 16` here and four loads of a float afterwards, and UBSan checks neither. A GPU does such a
// copy with one instruction, which faults on an address that is not a multiple of its size. A
// violation calls
//   void wf_misaligned(const void* address, uint64_t alignment - 1)
// whose return address lies on the line of the copy.
std::string add_alignment_checks(std::string_view ir);

// A call of wf_volatile_read() after every load of a volatile variable: a thread that waits for
// another one in a loop around such a load has to let it run.
std::string add_volatile_polls(std::string_view ir);

}  // namespace warpfuzz
