#include "fuzzers/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "fuzzers/installation.h"
#include "kernels/content_hash.h"
#include "seeds/boundary.h"

namespace warpfuzz {

namespace fs = std::filesystem;

namespace {

constexpr uint8_t largest_seed_class = 2;

}  // namespace

size_t write_corpus(const fs::path& directory, const std::vector<Case>& cases) {
  fs::create_directories(directory);
  for (const Case& c : cases) {
    const std::vector<uint8_t> bytes = encode(c);
    const std::string content(bytes.begin(), bytes.end());
    const fs::path file = directory / content_hash(content);
    std::ofstream stream(file, std::ios::binary);
    stream << content;
    stream.close();
    if (!stream) throw std::system_error(errno, std::generic_category(), file.string());
  }
  return cases.size();
}

void fill_empty_corpus(const fs::path& corpus, const WorkerOptions& worker) {
  if (!fs::is_empty(corpus)) return;
  const Installation installation = Installation::find();
  const auto schema = installation.schema(worker.op);
  // Without the largest class: hundreds of those would keep a campaign from its first thousand
  // runs.
  CaseLimits limits = worker.limits;
  limits.max_size_class = std::min(limits.max_size_class, largest_seed_class);
  write_corpus(corpus, boundary_cases(schema, limits));
  const fs::path stored = installation.seeds() / worker.op;
  if (!fs::is_directory(stored)) return;
  for (const auto& entry : fs::directory_iterator(stored)) {
    fs::copy_file(entry.path(), corpus / entry.path().filename(), fs::copy_options::skip_existing);
  }
}

}  // namespace warpfuzz
