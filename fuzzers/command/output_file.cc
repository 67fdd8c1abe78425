#include "fuzzers/command/output_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "crashes/durable_file.h"
#include "fuzzers/installation.h"

namespace warpfuzz {

void check_output_file(const std::string& option, const std::string& file) {
  if (file.empty() || file == "-") return;
  const std::filesystem::path directory = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(directory)) {
    throw UsageError(
        fmt::format("{} {}: there is no directory {}", option, file, directory.string()));
  }
  check_replaceable(file);
}

void write_output_file(const std::string& file, const std::string& text) {
  replace_file(file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace warpfuzz
