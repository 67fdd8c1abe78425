// The memory image: all tensors of one call in one block, with guards between them. Inputs hold
// their bits, everything else (outputs, workspace, gaps between strided rows, guards) holds poison.
// After a run the block tells what the kernel wrote, byte by byte. Offsets of tensors inside the
// block vary with the poison pattern's seed, so addresses and their alignment vary too. Nothing is
// kept of what was composed: checks compare the block with the inputs and the patterns again.
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

// Where the blocks of images lie: a device may need memory that it can reach. Addresses are
// multiples of 4096.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual std::byte* take(size_t bytes) = 0;
  virtual void give_back(std::byte* block, size_t bytes) = 0;
};
// Outside any allocator that reports errors of its own.
BlockSource& ordinary_memory();

class MemoryImage {
 public:
  // Blocks come from `source`, which must live longer; Kernel::image_memory() of the kernel that
  // will run on them.
  explicit MemoryImage(BlockSource& source = ordinary_memory()) : source_(source) {}
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  // Places the tensors of `c`. `inputs` are the exact bits; `workspace_bytes` what the kernel
  // asked. May be called again: buffers are reused, and what a larger image left behind this one
  // is overwritten.
  void compose(const Case& c, std::span<const Tensor> inputs, size_t workspace_bytes,
               const Fill& fill, uint32_t placement_seed);

  std::span<std::byte> bytes() { return {block_, size_}; }
  std::span<const Region> regions() const { return regions_; }  // ascending, covering the block
  const Region& input(size_t index) const;
  const Region& output(size_t index) const;
  const Region* workspace() const;  // nullptr if none

  Tensor gather_output(size_t index) const;
  // Changed bytes outside the output elements and the workspace, in order of address. `inputs` are
  // those that were composed.
  std::vector<Damage> find_damage(std::span<const Tensor> inputs) const;
  // "output y[3,17] + 2 bytes", "8 bytes past the end of output y", for messages.
  std::string describe_address(const void* address) const;

 private:
  void lay_out(const Case& c, size_t workspace_bytes, uint32_t placement_seed);
  void reserve();
  std::string region_name(const Region& region) const;

  BlockSource& source_;
  std::byte* block_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t dirty_ = 0;  // bytes of the block that do not hold `beyond` (reserve())
  Fill fill_ = nan_fill;
  const Schema* schema_ = nullptr;
  std::vector<Tensor> outputs_;  // dtype and shape only
  std::vector<Region> regions_;
  std::vector<size_t> input_regions_;
  std::vector<size_t> output_regions_;
  size_t workspace_region_ = 0;
};

}  // namespace warpfuzz
