// cuBLAS as it multiplies by default: what blocks along k have summed in float32 may be added up in
// the type of the output. Seen: NaN for sums that float32 holds (inf - inf), lost bits on lattices.
#include "cublas.hpp"

WARPFUZZ_KERNEL("T != float32 && T == U && a_contiguous && b_contiguous && c_contiguous") {
  return library::matmul(call, CUBLAS_COMPUTE_32F, CUBLAS_DEFAULT_MATH);
}
