// Whether this build, and so its kernels by default, run under ASan and UBSan.
#pragma once

namespace warpfuzz {

#if __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
inline constexpr const char* needs_sanitizers =
    "SKIPPED: this build has no AddressSanitizer; the asan preset has";

}  // namespace warpfuzz
