#include "kernels/cuda/device_lines.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

namespace warpfuzz::cuda {
namespace {

namespace fs = std::filesystem;

// A folder of headers that come with the compiler: this file lies at its top.
constexpr const char* toolkit_header = "cuda_runtime.h";

bool lies_in_toolkit(const fs::path& file) {
  for (fs::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    std::error_code error;
    if (fs::exists(folder / toolkit_header, error)) return true;
  }
  return false;
}

bool is_users(const fs::path& file) {
  if (file.empty() || file.filename() == "warpfuzz_kernel.h" ||
      file.filename() == "warpfuzz_kernel.hpp") {
    return false;
  }
  const std::string name = file.string();
  return !name.starts_with("/usr/include/") && !name.starts_with("/usr/lib/") &&
         !lies_in_toolkit(file);
}

bool is_same(const fs::path& a, const fs::path& b) {
  return a.lexically_normal() == b.lexically_normal();
}

class Counts {
 public:
  explicit Counts(const fs::path& source) : folder_(source.parent_path()) {
    files_.push_back({source, {}, {}});
  }

  // As a .file directive names it; nullptr for files that are not the user's.
  FileCounts* file(const std::string& directive) {
    const auto [known, added] = positions_.emplace(directive, none);
    const fs::path name = directive.empty() ? fs::path() : folder_ / directive;
    if (added && is_users(name)) {
      const auto same = std::find_if(files_.begin(), files_.end(), [&](const FileCounts& counts) {
        return is_same(counts.file, name);
      });
      known->second = static_cast<size_t>(same - files_.begin());
      if (same == files_.end()) files_.push_back({name, {}, {}});
    }
    return known->second == none ? nullptr : &files_[known->second];
  }

  void add_comparison(const ptx::Counter& counter, uint64_t hits) {
    FileCounts* const counts = counter.line == 0 ? nullptr : file(counter.file);
    if (counts == nullptr) return;
    const auto line = static_cast<int>(counter.line);
    const auto known = std::find_if(
        counts->branches.begin(), counts->branches.end(), [&](const BranchCount& branch) {
          return branch.line == line && branch.comparison == counter.comparison;
        });
    BranchCount& branch =
        known != counts->branches.end()
            ? *known
            : counts->branches.emplace_back(line, std::array<uint64_t, 2>(), counter.comparison);
    uint64_t& taken = branch.taken[counter.kind == ptx::CounterKind::predicate_false];
    taken = std::max(taken, hits);
  }

  std::vector<FileCounts> take() {
    for (FileCounts& file : files_) {
      std::sort(file.branches.begin(), file.branches.end(),
                [](const BranchCount& a, const BranchCount& b) {
                  return std::tie(a.line, a.comparison) < std::tie(b.line, b.comparison);
                });
    }
    return std::move(files_);
  }

 private:
  static constexpr size_t none = ~size_t{0};
  fs::path folder_;  // relative names begin there
  std::vector<FileCounts> files_;
  std::map<std::string, size_t> positions_;  // in files_
};

bool is_comparison(ptx::CounterKind kind) {
  return kind == ptx::CounterKind::predicate_false || kind == ptx::CounterKind::predicate_true;
}

}  // namespace

std::vector<FileCounts> device_line_counts(const ptx::CoverageMap& map,
                                           std::span<const uint64_t> hits, const fs::path& source) {
  Counts counts(source);
  const auto hits_of = [&](size_t slot) { return slot < hits.size() ? hits[slot] : 0; };
  for (const ptx::CoveredLine& line : map.lines) {
    FileCounts* const file = counts.file(map.files[line.file]);
    if (file == nullptr) continue;
    uint64_t& count = file->lines[static_cast<int>(line.line)];
    count = std::max(count, hits_of(line.slot));
  }
  for (size_t slot = 0; slot < map.counters.size(); ++slot) {
    if (is_comparison(map.counters[slot].kind)) {
      counts.add_comparison(map.counters[slot], hits_of(slot));
    }
  }
  return counts.take();
}

}  // namespace warpfuzz::cuda
