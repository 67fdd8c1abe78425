// Puzzle: wrong behind two nested conditions of the device code. The first is rare by chance, so
// that guidance pays with two conditions already.
#include "puzzle.hpp"

struct Wrong {
  __device__ void operator()(wf::View<const float, 2> x, wf::View<float, 2> y) const {
    const int64_t rows = x.extent[0], columns = x.extent[1];
    if (rows != 521) return;
    if (columns != 23) return;
    y(rows - 1, columns - 1) = -1.0f;
  }
};

WARPFUZZ_KERNEL("T == float32 && U == float32") { return puzzle::run(call, Wrong()); }
