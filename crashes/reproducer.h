// The reproducer: one file that holds all that is needed to show a finding again, without the
// generator that made it. Layout:
//
//     8 bytes   "WFREPRO\0"
//     4 bytes   version, little-endian
//     rest      one zstd frame with checksum: 4 bytes header length (little-endian), the header
//               (JSON, see reproducer_header.h), the input tensors, then the observed outputs, each
//               as its elements' bits in row-major order, with nothing between them.
//
// Readers treat the file as hostile: every length is checked against what is there before it is
// used, and sizes are bounded. Writing what was read gives the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crashes/reproducer_error.h"
#include "crashes/stored_call.h"
#include "schemas/tensor.h"
#include "schemas/vocabulary.h"

namespace warpfuzz {

inline constexpr uint32_t reproducer_version = 1;
inline constexpr std::string_view reproducer_extension = ".wfr";

struct KernelIdentity {
  std::string name;
  std::string path;
  std::string content_hash;
  bool operator==(const KernelIdentity&) const = default;
};

// One offending element of an output.
struct EvidenceElement {
  std::vector<int64_t> index;  // one per axis of the output
  std::string kind;            // "value", "non_finite", "subnormal"
  double observed = 0;
  double expected = 0;
  double low = 0;  // accepted interval
  double high = 0;
  double ratio = 0;  // error / tolerance
  double ulps = 0;   // error in units of the output's last place; 0 where it has no meaning
};

struct EvidenceFault {
  std::string kind;
  std::string message;
  std::string file;
  int64_t line = 0;
  std::array<uint32_t, 3> block{};
  std::array<uint32_t, 3> thread{};
  bool operator==(const EvidenceFault&) const = default;
};

struct Evidence {
  std::string reason;      // one sentence
  std::string output;      // name of the output concerned; empty if none is
  std::string pattern;     // "columns >= 1024 of every row"; empty without offending elements
  uint64_t offending = 0;  // number of offending elements
  std::vector<EvidenceElement> elements;  // the first of them
  std::string quantisation;               // of a quantised operator: its error as a whole
  std::vector<EvidenceFault> faults;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
  bool operator==(const NamedTensor&) const = default;
};

struct Reproducer {
  std::string warpfuzz_version;
  std::string toolchain;  // "clang 19.1.7"
  std::string date;       // empty where files must be reproducible
  std::string gate;
  std::string signature;
  Tier tier = Tier::everyday;
  std::string op;
  std::string description;          // describe(case)
  std::vector<uint8_t> case_bytes;  // encode(case); means the same call only to this codec
  CaseLimits limits;                // under which case_bytes decode
  StoredCall call;                  // the same call for any codec
  KernelIdentity kernel;
  std::string device;
  Evidence evidence;
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;
};

// Bounds of what a reader accepts.
struct ReproducerLimits {
  size_t unpacked_bytes = size_t{1} << 30;
  size_t header_bytes = size_t{1} << 20;
};

std::vector<uint8_t> pack_reproducer(const Reproducer& reproducer);
// `file` is used in messages only. Throws ReproducerError.
Reproducer unpack_reproducer(std::span<const uint8_t> bytes, const std::string& file,
                             const ReproducerLimits& limits = {});
// The same without container and compression: the parser that sees hostile lengths.
Reproducer parse_payload(std::span<const uint8_t> payload, const std::string& file,
                         const ReproducerLimits& limits = {});

// Whole or absent (durable_file.h). Throws std::system_error, "<path>: cannot write: <reason>".
void write_reproducer(const std::filesystem::path& path, const Reproducer& reproducer);
// Throws ReproducerError, or std::system_error "<path>: cannot read: <reason>".
Reproducer read_reproducer(const std::filesystem::path& path, const ReproducerLimits& limits = {});

}  // namespace warpfuzz
