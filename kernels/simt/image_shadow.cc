#include "kernels/simt/image_shadow.h"

#include <algorithm>

#include "kernels/simt/asan.h"

namespace warpfuzz::simt {

namespace {

constexpr size_t granule = 8;
// More rows than this and the gaps stay open: the byte compare after the run sees writes to them.
constexpr int64_t max_gaps = 4096;

// Poisons the gap after each row of a tensor whose last axis is dense and whose rows are padded.
void poison_gaps(std::byte* block, const Region& region) {
  const size_t rank = region.shape.size();
  if (rank < 2 || region.strides[rank - 1] != 1) return;
  if (region.begin == region.end) return;  // an empty tensor has strides but no rows in memory
  const int64_t stride = region.strides[rank - 2];
  const int64_t gap =
      (stride - region.shape[rank - 1]) * static_cast<int64_t>(region.element_bytes);
  if (gap < static_cast<int64_t>(granule)) return;
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < rank; ++axis) {
    if (region.strides[axis] == 0) continue;  // broadcast: the same rows again
    rows *= region.shape[axis];
  }
  if (rows == 0 || rows > max_gaps) return;
  // Rows follow one another at `stride` in every padded layout.
  for (int64_t row = 0; row + 1 < rows; ++row) {
    const size_t end_of_row =
        region.first_element +
        static_cast<size_t>(row * stride + region.shape[rank - 1]) * region.element_bytes;
    poison(block + end_of_row, static_cast<size_t>(gap));
  }
}

}  // namespace

ImageShadow::ImageShadow(MemoryImage& image) : bytes_(image.bytes()) {
  if (!asan_present()) return;
  for (const Region& region : image.regions()) {
    if (region.kind == RegionKind::guard) {
      poison(bytes_.data() + region.begin, region.end - region.begin);
    } else if (region.kind == RegionKind::output) {
      poison_gaps(bytes_.data(), region);
    }
  }
}

ImageShadow::~ImageShadow() { unpoison(bytes_.data(), bytes_.size()); }

}  // namespace warpfuzz::simt
