// Shared memory of the block that runs: the kernel object's .wfshared section (static arrays, with
// ASan's redzones between them) and the dynamic arena, one for the process. Both hold
// RunOptions::fill when a block starts, and ASan knows where the dynamic part ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace warpfuzz::simt {

inline constexpr size_t default_shared_limit = 48 << 10;
inline constexpr size_t max_dynamic_shared_bytes = 227 << 10;
inline constexpr size_t dynamic_shared_slack = 1 << 10;  // poisoned bytes after the largest arena

// Static shared memory of one loaded kernel object.
struct StaticShared {
  std::byte* begin = nullptr;
  size_t bytes = 0;  // with redzones
};

class SharedMemory {
 public:
  // The sections of a kernel object; those of all loaded objects are known by their context.
  void select(StaticShared section) { section_ = section; }
  void set_dynamic_bytes(size_t bytes);
  size_t dynamic_bytes() const { return dynamic_bytes_; }
  void fill(uint8_t byte);
  StaticShared section() const { return section_; }
  bool contains(const void* address) const;

 private:
  StaticShared section_;
  size_t dynamic_bytes_ = 0;
  bool poisoned_ = false;
};
extern SharedMemory shared_memory;

// The contents, set aside while another block runs.
class SharedMemoryCopy {
 public:
  void save();
  void restore() const;

 private:
  std::vector<std::byte> section_;
  std::vector<std::byte> dynamic_;
};

}  // namespace warpfuzz::simt
