// All paths of a campaign's work directory. Workers of a campaign share it.
#pragma once

#include <fmt/format.h>

#include <filesystem>

namespace warpfuzz {

struct WorkDirectory {
  std::filesystem::path root;

  std::filesystem::path corpus() const { return root / "corpus"; }
  std::filesystem::path findings() const { return root / "findings"; }
  std::filesystem::path artifacts() const { return root / "artifacts"; }  // libFuzzer's own
  std::filesystem::path logs() const { return root / "logs"; }
  std::filesystem::path log(size_t worker) const {
    return logs() / fmt::format("worker-{}.log", worker);
  }
  std::filesystem::path status(size_t worker) const {
    return logs() / fmt::format("worker-{}.status", worker);
  }

  // Throws std::filesystem::filesystem_error.
  void create() const {
    for (const auto& path : {corpus(), findings(), artifacts(), logs()}) {
      std::filesystem::create_directories(path);
    }
  }
};

}  // namespace warpfuzz
