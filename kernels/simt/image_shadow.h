// Tells ASan which bytes of a memory image a kernel may touch: not the guards, and not the gaps
// between strided rows of outputs as far as ASan's 8-byte granules can express them. Gaps in inputs
// may be read, as by loads of several elements; that nothing depends on them is for MEM-04 to say.
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
