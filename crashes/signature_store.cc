#include "crashes/signature_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "crashes/durable_file.h"

namespace warpfuzz {

SignatureStore::SignatureStore(std::filesystem::path directory) : directory_(std::move(directory)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw std::system_error(error, fmt::format("{}: cannot create", directory_.string()));
  }
}

bool SignatureStore::knows(const Signature& signature) {
  if (seen_.contains(signature)) return true;
  std::error_code ignored;  // an unreadable directory knows nothing; claim() will say why
  if (!std::filesystem::exists(path(signature), ignored)) return false;
  seen_.insert(signature);
  return true;
}

bool SignatureStore::claim(const Signature& signature, const Reproducer& reproducer) {
  if (knows(signature)) return false;
  const bool first = create_file(path(signature), pack_reproducer(reproducer));
  seen_.insert(signature);
  return first;
}

void SignatureStore::replace(const Signature& signature, const Reproducer& reproducer) {
  write_reproducer(path(signature), reproducer);
  seen_.insert(signature);
}

std::filesystem::path SignatureStore::path(const Signature& signature) const {
  return directory_ / (signature.text() + std::string(reproducer_extension));
}

std::vector<Signature> SignatureStore::list() const {
  std::vector<Signature> signatures;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    if (entry.path().extension() != reproducer_extension) continue;
    if (auto signature = Signature::parse(entry.path().stem().string())) {
      signatures.push_back(std::move(*signature));
    }
  }
  std::ranges::sort(signatures);
  return signatures;
}

}  // namespace warpfuzz
