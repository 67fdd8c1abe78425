// Axis extents that tend to break kernels, whatever the operator: 0, 1, powers of two and tile
// sizes with their neighbours, primes, the limit of grid dimensions. Ascending.
#pragma once

#include <cstdint>

namespace warpfuzz {

inline constexpr int64_t general_axis_values[] = {
    0,    1,    2,     3,     4,     5,     7,     8,     9,     15,    16,     17,     31,
    32,   33,   48,    63,    64,    65,    96,    97,    127,   128,   129,    191,    192,
    193,  255,  256,   257,   383,   384,   385,   511,   512,   513,   521,    768,    1000,
    1023, 1024, 1025,  1031,  1536,  2047,  2048,  2049,  4095,  4096,  4097,   4099,   8191,
    8192, 8193, 16383, 16384, 16385, 32768, 65535, 65536, 65537, 70000, 131071, 131073,
};

}  // namespace warpfuzz
