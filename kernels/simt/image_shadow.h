// Tells ASan which bytes of a memory image a kernel may touch: not the guards, and not the gaps
// between strided rows as far as ASan's 8-byte granules can express them.
#pragma once

#include "kernels/memory_image.h"

namespace warpfuzz::simt {

class ImageShadow {
 public:
  explicit ImageShadow(MemoryImage& image);  // poisons
  ~ImageShadow();                            // everything is accessible again
  ImageShadow(const ImageShadow&) = delete;
  ImageShadow& operator=(const ImageShadow&) = delete;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace warpfuzz::simt
