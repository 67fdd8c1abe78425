#include "kernels/line_counts.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernels/device.h"
#include "kernels/simt/source_lines.h"
#include "kernels/subprocess.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes tool_time{5};

// Files that go away with their owner.
class Profile {
 public:
  Profile()
      : stem_((fs::temp_directory_path() / fmt::format("warpfuzz-{}", ::getpid())).string()) {}
  ~Profile() {
    std::error_code ignored;
    fs::remove(raw(), ignored);
    fs::remove(merged(), ignored);
  }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  std::string raw() const { return stem_ + ".profraw"; }
  std::string merged() const { return stem_ + ".profdata"; }

 private:
  std::string stem_;
};

void write_raw_counts(const fs::path& object, const std::string& file) {
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* symbol = handle != nullptr ? dlsym(handle, "wf_write_line_counts") : nullptr;
  if (symbol == nullptr) {
    throw KernelError(fmt::format(
        "{}: has no counts of lines; only a .cu file compiled for them has", object.string()));
  }
  const auto write = reinterpret_cast<int (*)(const char*)>(symbol);
  if (write(file.c_str()) != 0) throw KernelError(fmt::format("{}: cannot be written", file));
}

std::string run_tool(const std::vector<std::string>& command) {
  const ProcessResult result = run_process(command, tool_time);
  if (result.exit_code == 0 && !result.timed_out) return result.output;
  throw KernelError(fmt::format("{} failed: {}", command[0], result.errors));
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A place where the count of the text changes, in LLVM's export.
struct Segment {
  uint64_t line = 0;
  uint64_t count = 0;
  bool has_count = false;
  bool starts_region = false;  // of code, not a gap between two regions
};

class Counts {
 public:
  Counts(const SourceLines& lines, const fs::path& source, const fs::path& include_directory)
      : lines_(lines), index_(lines.files.size(), none) {
    add_file(source.string());
    for (const SourceLines::File& file : lines.files) {
      if (is_users(file, include_directory)) add_file(file.name);
    }
  }

  // One file of the export of llvm-cov. Instances of a template are together in it.
  void add(const nlohmann::json& file) {
    std::vector<Segment> segments;
    for (const auto& s : file.at("segments")) {
      const bool has_count = s.at(3), gap = s.at(5);
      segments.push_back({s.at(0), s.at(2), has_count, has_count && s.at(4) && !gap});
    }
    add_lines(segments);
    // By position: a branch of a template is there once for each instance.
    std::map<std::array<uint64_t, 4>, std::array<uint64_t, 2>> branches;
    for (const auto& b : file.at("branches")) {
      auto& taken = branches[{b.at(0), b.at(1), b.at(2), b.at(3)}];
      taken[0] += b.at(4).get<uint64_t>();
      taken[1] += b.at(5).get<uint64_t>();
    }
    for (const auto& [position, taken] : branches) {
      const auto [counts, line] = locate(position[0]);
      if (counts != nullptr) counts->branches.push_back({line, taken, {}});
    }
  }
  std::vector<FileCounts> take() { return std::move(files_); }

 private:
  static constexpr size_t none = ~size_t{0};

  static bool is_users(const SourceLines::File& file, const fs::path& include_directory) {
    if (file.system_header || file.name.empty() || file.name[0] == '<') return false;
    const fs::path path(file.name);
    if (path.filename() == "warpfuzz_kernel.h" || path.filename() == "warpfuzz_kernel.hpp") {
      return false;
    }
    const fs::path inside = path.lexically_relative(include_directory);
    return inside.empty() || *inside.begin() == "..";
  }

  void add_file(const std::string& name) {
    const auto known = std::find_if(files_.begin(), files_.end(),
                                    [&](const FileCounts& counts) { return counts.file == name; });
    const size_t position = static_cast<size_t>(known - files_.begin());
    if (known == files_.end()) files_.push_back({name, {}, {}});
    for (size_t i = 0; i < index_.size(); ++i) {
      if (lines_.files[i].name == name) index_[i] = position;
    }
  }

  // The line of the user that a line of the preprocessed text is, if it is one.
  std::pair<FileCounts*, int> locate(uint64_t line) {
    if (line == 0 || line > lines_.lines.size()) return {nullptr, 0};
    const SourceLine& from = lines_.lines[line - 1];
    if (from.line == 0 || index_[from.file] == none) return {nullptr, 0};
    return {&files_[index_[from.file]], from.line};
  }

  // The count of a line is the largest of the regions that start on it, and otherwise that of the
  // region which reaches into it; a line has no count where there is no code.
  void add_lines(const std::vector<Segment>& segments) {
    size_t next = 0;
    Segment before;
    const uint64_t last = segments.empty() ? 0 : segments.back().line;
    for (uint64_t line = 1; line <= last; ++line) {
      uint64_t count = before.count;
      bool code = before.has_count;
      for (bool first = true; next < segments.size() && segments[next].line == line; ++next) {
        before = segments[next];
        if (before.starts_region) {
          count = std::max(code || !first ? count : 0, before.count);
          code = true;
        }
        first = false;
      }
      if (!code) continue;
      const auto [counts, number] = locate(line);
      if (counts != nullptr) counts->lines[number] += count;
    }
  }

  const SourceLines& lines_;
  std::vector<FileCounts> files_;
  std::vector<size_t> index_;  // of a file of lines_ in files_
};

}  // namespace

std::vector<FileCounts> read_line_counts(const fs::path& object, const fs::path& source,
                                         const fs::path& include_directory) {
  const Profile profile;
  write_raw_counts(object, profile.raw());
  run_tool({"llvm-profdata-19", "merge", "-sparse", profile.raw(), "-o", profile.merged()});
  const std::string text = run_tool({"llvm-cov-19", "export", "-format=text", "-skip-functions",
                                     "-instr-profile=" + profile.merged(), object.string()});
  const SourceLines lines = source_lines(read_text(fs::path(object).replace_extension(".ii")));
  Counts counts(lines, source, include_directory);
  try {
    const nlohmann::json exported = nlohmann::json::parse(text);
    for (const auto& data : exported.at("data")) {
      for (const auto& file : data.at("files")) counts.add(file);
    }
  } catch (const nlohmann::json::exception& error) {
    throw KernelError(
        fmt::format("the output of llvm-cov-19 is not as expected: {}", error.what()));
  }
  return counts.take();
}

}  // namespace warpfuzz
