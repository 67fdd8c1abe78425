#include "kernels/memory_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "schemas/call_names.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr size_t guard_bytes = 256;
constexpr size_t max_damage = 8;
constexpr size_t grid = 256;  // tensors start on this grid, plus their own offset

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Elements from the first to one past the last that the strides reach; 0 for an empty tensor.
size_t span_elements(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return static_cast<size_t>(last + 1);
}

bool is_contiguous(const Region& region) {
  int64_t expected = 1;
  for (size_t i = region.shape.size(); i-- > 0;) {
    if (region.shape[i] != 1 && region.strides[i] != expected) return false;
    expected *= region.shape[i];
  }
  return true;
}

// Calls visit(byte offset in the block, row-major element index, elements) for every stretch of
// elements that lie side by side both in memory and in row-major order.
template <typename Visit>
void for_each_run(const Region& region, Visit visit) {
  int64_t count = 1;
  for (int64_t extent : region.shape) count *= extent;
  if (count == 0) return;
  if (is_contiguous(region)) {
    visit(region.first_element, size_t{0}, static_cast<size_t>(count));
    return;
  }
  const size_t rank = region.shape.size();
  const auto columns = region.shape[rank - 1];
  const bool dense_rows = region.strides[rank - 1] == 1;
  std::vector<int64_t> index(rank, 0);
  for (int64_t row = 0; row < count / columns; ++row) {
    int64_t base = 0;
    for (size_t i = 0; i + 1 < rank; ++i) base += index[i] * region.strides[i];
    const auto element = static_cast<size_t>(row * columns);
    auto byte_of = [&](int64_t e) {
      return region.first_element + static_cast<size_t>(e) * region.element_bytes;
    };
    if (dense_rows) {
      visit(byte_of(base), element, static_cast<size_t>(columns));
    } else {
      for (int64_t j = 0; j < columns; ++j) {
        visit(byte_of(base + j * region.strides[rank - 1]), element + static_cast<size_t>(j),
              size_t{1});
      }
    }
    for (size_t i = rank - 1; i-- > 0;) {
      if (++index[i] < region.shape[i]) break;
      index[i] = 0;
    }
  }
}

}  // namespace

BlockSource& ordinary_memory() {
  class Mappings final : public BlockSource {
    std::byte* take(size_t bytes) override {
      void* block =
          mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      WARPFUZZ_CHECK(block != MAP_FAILED, "no memory for an image of {} bytes", bytes);
      return static_cast<std::byte*>(block);
    }
    void give_back(std::byte* block, size_t bytes) override { munmap(block, bytes); }
  };
  static Mappings mappings;
  return mappings;
}

MemoryImage::~MemoryImage() {
  if (block_ != nullptr) source_.give_back(block_, capacity_);
}

void MemoryImage::compose(const Case& c, std::span<const Tensor> inputs, size_t workspace_bytes,
                          const Fill& fill, uint32_t placement_seed) {
  lay_out(c, workspace_bytes, placement_seed);
  reserve();
  fill_ = fill;
  std::memset(block_, static_cast<int>(fill.guards), size_);
  if (fill.outputs != fill.guards) {
    for (const Region& region : regions_) {
      if (region.kind != RegionKind::output && region.kind != RegionKind::workspace) continue;
      for_each_run(region, [&](size_t byte, size_t, size_t elements) {
        std::memset(block_ + byte, static_cast<int>(fill.outputs), elements * region.element_bytes);
      });
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Region& region = input(i);
    WARPFUZZ_CHECK(inputs[i].shape == region.shape, "input {} has another shape than its case", i);
    for_each_run(region, [&](size_t byte, size_t element, size_t elements) {
      std::memcpy(block_ + byte, inputs[i].data.data() + element * region.element_bytes,
                  elements * region.element_bytes);
    });
  }
}

void MemoryImage::lay_out(const Case& c, size_t workspace_bytes, uint32_t placement_seed) {
  const Schema& schema = *c.schema;
  schema_ = c.schema.get();
  regions_.clear();
  input_regions_.clear();
  output_regions_.clear();
  workspace_region_ = 0;
  outputs_.resize(schema.outputs.size());

  // Regions, each followed by a guard that reaches to the next grid line and at least guard_bytes.
  size_t at = 0;
  auto add_guard = [&](size_t end) {
    Region guard;
    guard.begin = at;
    guard.end = end;
    regions_.push_back(std::move(guard));
    at = end;
  };
  auto add_tensor = [&](RegionKind kind, size_t index, const TensorSpec& spec,
                        const TensorCase& tensor) {
    Region region;
    region.kind = kind;
    region.tensor = index;
    region.shape = c.shape(spec);
    region.strides = layout_strides(region.shape, tensor);
    region.element_bytes = info(c.dtype(spec)).bytes;
    const size_t start = round_up(at + guard_bytes, grid) +
                         static_cast<size_t>(tensor.offset) * region.element_bytes;
    add_guard(start);
    region.begin = region.first_element = start;
    region.end = start + span_elements(region.shape, region.strides) * region.element_bytes;
    at = region.end;
    regions_.push_back(std::move(region));
    return regions_.size() - 1;
  };
  at = placement_seed % 7 * grid;  // other seeds, other addresses
  if (at != 0) {
    const size_t end = at;
    at = 0;
    add_guard(end);
  }
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    input_regions_.push_back(add_tensor(RegionKind::input, i, schema.inputs[i], c.inputs[i]));
  }
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    outputs_[i].dtype = c.dtype(schema.outputs[i]);
    outputs_[i].shape = c.shape(schema.outputs[i]);
    output_regions_.push_back(add_tensor(RegionKind::output, i, schema.outputs[i], c.outputs[i]));
  }
  if (workspace_bytes > 0) {
    add_guard(round_up(at + guard_bytes, grid));
    Region region;
    region.kind = RegionKind::workspace;
    region.begin = region.first_element = at;
    region.end = at + workspace_bytes;
    region.element_bytes = 1;
    region.shape = {static_cast<int64_t>(workspace_bytes)};
    region.strides = {1};
    workspace_region_ = regions_.size();
    at = region.end;
    regions_.push_back(std::move(region));
  }
  add_guard(round_up(at + guard_bytes, grid));
  size_ = at;
}

// The block for size_ bytes. Reads past the last guard find the pattern `beyond`, not what a larger
// image left there.
void MemoryImage::reserve() {
  constexpr int beyond = 0xFF;
  if (size_ > capacity_) {
    if (block_ != nullptr) source_.give_back(std::exchange(block_, nullptr), capacity_);
    capacity_ = round_up(size_ * 2, 1 << 16);
    block_ = source_.take(capacity_);
    dirty_ = capacity_;
  }
  if (size_ < dirty_) std::memset(block_ + size_, beyond, dirty_ - size_);
  dirty_ = size_;
}

const Region& MemoryImage::input(size_t index) const { return regions_[input_regions_[index]]; }
const Region& MemoryImage::output(size_t index) const { return regions_[output_regions_[index]]; }
const Region* MemoryImage::workspace() const {
  return workspace_region_ == 0 ? nullptr : &regions_[workspace_region_];
}

Tensor MemoryImage::gather_output(size_t index) const {
  Tensor tensor = outputs_[index];
  const Region& region = output(index);
  tensor.data.resize(static_cast<size_t>(tensor.size()) * region.element_bytes);
  for_each_run(region, [&](size_t byte, size_t element, size_t elements) {
    std::memcpy(tensor.data.data() + element * region.element_bytes, block_ + byte,
                elements * region.element_bytes);
  });
  return tensor;
}

namespace {

// "[3,17]", "[3,17] + 2 bytes", ", in a gap after [3,16]" of a byte of a tensor; " + 8 bytes" of
// the workspace.
std::string position_in(const Region& region, size_t byte) {
  if (region.kind == RegionKind::workspace) return fmt::format(" + {} bytes", byte);
  const size_t rank = region.shape.size();
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::sort(axes.begin(), axes.end(),
            [&](size_t a, size_t b) { return region.strides[a] > region.strides[b]; });
  auto rest = static_cast<int64_t>(byte / region.element_bytes);
  std::vector<int64_t> index(rank, 0);
  for (size_t axis : axes) {
    if (region.strides[axis] == 0) continue;  // broadcast: any index
    index[axis] = std::min(rest / region.strides[axis], region.shape[axis] - 1);
    rest -= index[axis] * region.strides[axis];
  }
  const std::string element = fmt::format("[{}]", fmt::join(index, ","));
  if (rest > 0) return ", in the gap after " + element;
  const size_t inside = byte % region.element_bytes;
  return inside == 0 ? element : fmt::format("{} + {} bytes", element, inside);
}

}  // namespace

std::string MemoryImage::region_name(const Region& region) const {
  switch (region.kind) {
    case RegionKind::input:
      return "input " + schema_->inputs[region.tensor].name;
    case RegionKind::output:
      return "output " + schema_->outputs[region.tensor].name;
    default:
      return "the workspace";
  }
}

namespace {

// The changed bytes of one place.
class ChangedBytes {
 public:
  explicit ChangedBytes(const std::byte* block) : block_(block) {}

  // What must be in [begin, begin + bytes) of the block.
  void expect(size_t begin, size_t bytes, const std::byte* expected) {
    if (std::memcmp(block_ + begin, expected, bytes) == 0) return;
    for (size_t i = 0; i < bytes; ++i) look_at(begin + i, expected[i]);
  }
  void expect(size_t begin, size_t bytes, Poison pattern) {
    const std::byte* at = block_ + begin;
    const auto expected = static_cast<std::byte>(pattern);
    if (bytes == 0 || (*at == expected && std::memcmp(at, at + 1, bytes - 1) == 0)) return;
    for (size_t i = 0; i < bytes; ++i) look_at(begin + i, expected);
  }

  size_t count() const { return count_; }
  size_t first() const { return first_; }  // in the block

 private:
  void look_at(size_t byte, std::byte expected) {
    if (block_[byte] == expected) return;
    first_ = count_ == 0 ? byte : std::min(first_, byte);
    ++count_;
  }

  const std::byte* block_;
  size_t count_ = 0;
  size_t first_ = 0;
};

// Calls visit(begin, end) for what lies between the stretches of elements.
template <typename Visit>
void for_each_gap(const Region& region, Visit visit) {
  if (is_contiguous(region)) return;
  std::vector<std::pair<size_t, size_t>> runs;
  for_each_run(region, [&](size_t byte, size_t, size_t elements) {
    runs.emplace_back(byte, byte + elements * region.element_bytes);
  });
  std::sort(runs.begin(), runs.end());
  size_t at = region.begin;
  for (auto [begin, end] : runs) {
    if (begin > at) visit(at, begin);
    at = std::max(at, end);
  }
}

}  // namespace

std::vector<Damage> MemoryImage::find_damage(std::span<const Tensor> inputs) const {
  std::vector<Damage> damage;
  // `where` is called to name the place only when bytes differ: most runs leave no damage.
  const auto tell = [&](const ChangedBytes& changed, const Region& region, const auto& where) {
    if (changed.count() == 0) return;
    damage.push_back({region.kind, where(), changed.first() - region.begin, changed.count()});
  };
  const Region* before = nullptr;
  for (const Region& region : regions_) {
    ChangedBytes changed(block_);
    switch (region.kind) {
      case RegionKind::guard:
        changed.expect(region.begin, region.end - region.begin, fill_.guards);
        tell(changed, region, [&] {
          return before == nullptr ? "the guard before the first tensor"
                                   : "the guard after " + region_name(*before);
        });
        break;
      case RegionKind::input: {  // elements and gaps: both must stay
        const std::byte* const elements = inputs[region.tensor].data.data();
        for_each_run(region, [&](size_t byte, size_t element, size_t count) {
          changed.expect(byte, count * region.element_bytes,
                         elements + element * region.element_bytes);
        });
        for_each_gap(region, [&](size_t begin, size_t end) {
          changed.expect(begin, end - begin, fill_.guards);
        });
        tell(changed, region, [&] { return region_name(region); });
        break;
      }
      case RegionKind::output:
        for_each_gap(region, [&](size_t begin, size_t end) {
          if (damage.size() >= max_damage) return;
          ChangedBytes gap(block_);
          gap.expect(begin, end - begin, fill_.guards);
          tell(gap, region, [&] { return "the gap between rows of " + region_name(region); });
        });
        break;
      case RegionKind::workspace:
        break;
    }
    if (region.kind != RegionKind::guard) before = &region;
    if (damage.size() >= max_damage) break;
  }
  return damage;
}

std::string MemoryImage::describe_address(const void* address) const {
  const auto* p = static_cast<const std::byte*>(address);
  if (p < block_ || p >= block_ + size_) return "outside the memory of this call";
  const auto offset = static_cast<size_t>(p - block_);
  const Region* before = nullptr;
  for (const Region& region : regions_) {
    if (region.kind == RegionKind::guard) {
      if (offset >= region.begin && offset < region.end) {
        const Region* next =
            &region + 1 < regions_.data() + regions_.size() ? &region + 1 : nullptr;
        if (before != nullptr &&
            (next == nullptr || offset - region.begin <= region.end - offset)) {
          return fmt::format("{} bytes past the end of {}", offset - region.begin,
                             region_name(*before));
        }
        if (next != nullptr) {
          return fmt::format("{} bytes before the start of {}", region.end - offset,
                             region_name(*next));
        }
      }
      continue;
    }
    if (offset >= region.begin && offset < region.end) {
      return region_name(region) + position_in(region, offset - region.first_element);
    }
    before = &region;
  }
  return "outside the memory of this call";
}

}  // namespace warpfuzz
