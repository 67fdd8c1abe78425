// The memory image: all tensors of one call in one block, with guards between them. Inputs hold
// their bits, everything else (outputs, workspace, gaps between strided rows, guards) holds poison.
// After a run the block tells what the kernel wrote, byte by byte. Offsets of tensors inside the
// block vary with the poison pattern's seed, so addresses and their alignment vary too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schemas/case.h"
#include "schemas/tensor.h"

namespace warpfuzz {

enum class RegionKind : uint8_t { guard, input, output, workspace };

struct Region {
  RegionKind kind = RegionKind::guard;
  size_t tensor = 0;  // index among the inputs or outputs
  size_t begin = 0;   // byte offsets in the block
  size_t end = 0;
  size_t first_element = 0;  // byte offset of element 0
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  size_t element_bytes = 0;
};

// Bytes of two patterns: as elements the first is NaN in every floating format, the second finite.
enum class Poison : uint8_t { quiet_nan = 0xFF, other = 0x5A };

struct Fill {
  Poison outputs;  // and the workspace
  Poison guards;   // and the gaps between rows
};
inline constexpr Fill nan_fill{Poison::quiet_nan, Poison::quiet_nan};
inline constexpr Fill other_fill{Poison::other, Poison::other};

// One stretch of bytes that the kernel changed and must not have.
struct Damage {
  RegionKind kind = RegionKind::guard;
  std::string where;  // "guard after output y", "input x", "gap between rows of output y"
  size_t offset = 0;  // of the first changed byte relative to the region it belongs to
  size_t bytes = 0;
};

class MemoryImage {
 public:
  // Places the tensors of `c`. `inputs` are the exact bits; `workspace_bytes` what the kernel
  // asked. May be called again: buffers are reused.
  void compose(const Case& c, std::span<const Tensor> inputs, size_t workspace_bytes,
               const Fill& fill, uint32_t placement_seed);

  std::span<std::byte> bytes() { return {block_, size_}; }
  std::span<const Region> regions() const { return regions_; }  // ascending, covering the block
  const Region& input(size_t index) const;
  const Region& output(size_t index) const;
  const Region* workspace() const;  // nullptr if none

  // What was composed, before the run.
  std::span<const std::byte> composed() const { return composed_; }

  Tensor gather_output(size_t index) const;
  // Changed bytes outside the output elements and the workspace, in order of address.
  std::vector<Damage> find_damage() const;
  // "output y[3,17] + 2 bytes", "8 bytes past the end of output y", for messages.
  std::string describe_address(const void* address) const;

  MemoryImage();
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

 private:
  std::string region_name(const Region& region) const;

  std::byte* block_ =
      nullptr;  // 4096-byte aligned, outside any allocator that reports its own errors
  size_t size_ = 0;
  size_t capacity_ = 0;
  const Schema* schema_ = nullptr;
  std::vector<Tensor> outputs_;  // dtype and shape only
  std::vector<Region> regions_;
  std::vector<size_t> input_regions_;
  std::vector<size_t> output_regions_;
  size_t workspace_region_ = 0;
  std::vector<std::byte> composed_;
};

}  // namespace warpfuzz
