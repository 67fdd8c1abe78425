#include "reference/vector_math.h"

#include <immintrin.h>

#include <cstring>

// The AVX2 entry points of libmvec, by their names in the x86-64 vector function ABI (clang does
// not emit calls to them by itself).
extern "C" {
__m256d _ZGVdN4v_exp(__m256d);
__m256d _ZGVdN4v_erf(__m256d);
__m256d _ZGVdN4v_tanh(__m256d);
}

namespace warpfuzz {
namespace {

template <__m256d (*function)(__m256d)>
void apply(const double* x, double* result, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) _mm256_storeu_pd(result + i, function(_mm256_loadu_pd(x + i)));
  if (i == n) return;
  double tail[4] = {};
  std::memcpy(tail, x + i, (n - i) * sizeof(double));
  _mm256_storeu_pd(tail, function(_mm256_loadu_pd(tail)));
  std::memcpy(result + i, tail, (n - i) * sizeof(double));
}

}  // namespace

void vector_exp(const double* x, double* result, size_t n) { apply<_ZGVdN4v_exp>(x, result, n); }
void vector_erf(const double* x, double* result, size_t n) { apply<_ZGVdN4v_erf>(x, result, n); }
void vector_tanh(const double* x, double* result, size_t n) { apply<_ZGVdN4v_tanh>(x, result, n); }

}  // namespace warpfuzz
