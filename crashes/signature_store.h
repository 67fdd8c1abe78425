// The findings that all workers of a campaign share: one directory, `<signature>.wfr` each. A
// finding is claimed by putting its whole reproducer in place under that name, which only the first
// can do; so there is no state in which a finding is claimed but its reproducer missing, whenever a
// worker is killed, on one machine or on several that share the directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "crashes/reproducer.h"
#include "crashes/signature.h"

namespace warpfuzz {

class SignatureStore {
 public:
  // Creates the directory, `<work>/findings`. Throws std::system_error.
  explicit SignatureStore(std::filesystem::path directory);

  // Whether some worker has this finding. Fast for those this process has seen before: a campaign
  // asks again at each violation.
  bool knows(const Signature& signature);
  // True for exactly one of all callers of all processes; its reproducer is stored then.
  // Throws std::system_error, "<path>: cannot write: <reason>".
  bool claim(const Signature& signature, const Reproducer& reproducer);
  // Replaces the reproducer of a finding, by a smaller one.
  void replace(const Signature& signature, const Reproducer& reproducer);

  std::filesystem::path path(const Signature& signature) const;
  // All findings, sorted. Other files in the directory are ignored.
  std::vector<Signature> list() const;

 private:
  std::filesystem::path directory_;
  std::set<Signature> seen_;
};

}  // namespace warpfuzz
