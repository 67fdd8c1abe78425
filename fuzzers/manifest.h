// The kernels of this project, from kernels/manifest.json: what each is, what is wrong with it and
// which gates may say so. The file is checked as a whole: a mistake in it would otherwise show as a
// kernel that silently is not tested.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers/installation.h"

namespace warpfuzz {

// Where a kernel comes from; certify counts by group.
enum class KernelGroup : uint8_t {
  control,        // correct
  transcription,  // the mistakes typical of generated code
  cheat,          // made to pass a benchmark without doing the work
  further,        // defects of kernels that people wrote
};
inline constexpr std::array<std::string_view, 4> kernel_group_names = {"control", "transcription",
                                                                       "cheat", "further"};
inline std::string_view name(KernelGroup group) {
  return kernel_group_names[static_cast<size_t>(group)];
}

struct ManifestEntry {
  std::string name;
  std::filesystem::path source;  // absolute
  std::string op;
  bool faulty = false;
  KernelGroup group = KernelGroup::control;
  // Faulty: the gates that may name it. More than one where the fault breaks several contracts,
  // depending on the case.
  std::vector<std::string> gates;
  std::string device;  // where the fault shows, if not everywhere
  int tier = 1;        // smallest tier at which the fault shows
  std::string about;   // the fault, or the style of a correct kernel
  std::string report;  // the public report that the fault comes from, if any: R and three digits

  bool may_be_named_by(std::string_view gate) const;
};

// Throws EnvironmentError, "<file>: <kernel>: <key>: found ..., expected ...".
std::vector<ManifestEntry> load_manifest(const Installation& installation);

}  // namespace warpfuzz
