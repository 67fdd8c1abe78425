// The corpus of a campaign and the seeds it starts from.
#pragma once

#include <filesystem>

#include "fuzzers/worker.h"

namespace warpfuzz {

// Boundary cases of the operator's schema and its stored seeds, for a corpus without files. Cases
// that the kernel excludes cost one decode each and drop out by themselves.
void fill_empty_corpus(const std::filesystem::path& corpus, const WorkerOptions& worker);

// Writes `cases` as files named after their content; returns how many.
size_t write_corpus(const std::filesystem::path& directory, const std::vector<Case>& cases);

}  // namespace warpfuzz
