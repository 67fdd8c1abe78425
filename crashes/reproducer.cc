#include "crashes/reproducer.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>

#include "crashes/durable_file.h"
#include "crashes/reproducer_header.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr std::string_view magic("WFREPRO\0", 8);
constexpr size_t length_bytes = sizeof(uint32_t);
constexpr size_t prologue_bytes = magic.size() + length_bytes;
constexpr int compression_level = 3;

void append_number(std::vector<uint8_t>& bytes, uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<uint8_t>(number >> shift));
  }
}

uint32_t read_number(std::span<const uint8_t> bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < length_bytes; ++i) number |= uint32_t{bytes[i]} << (8 * i);
  return number;
}

void append_tensors(std::vector<uint8_t>& bytes, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& named : tensors) {
    WARPFUZZ_CHECK(named.tensor.data.size() == tensor_bytes(named.tensor),
                   "tensor {} holds {} bytes", named.name, named.tensor.data.size());
    const auto* data = reinterpret_cast<const uint8_t*>(named.tensor.data.data());
    bytes.insert(bytes.end(), data, data + named.tensor.data.size());
  }
}

std::vector<uint8_t> make_payload(const Reproducer& reproducer) {
  const std::string header = header_text(reproducer);
  std::vector<uint8_t> payload;
  append_number(payload, static_cast<uint32_t>(header.size()));
  payload.insert(payload.end(), header.begin(), header.end());
  append_tensors(payload, reproducer.inputs);
  append_tensors(payload, reproducer.outputs);
  return payload;
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw ReproducerError(fmt::format("{}: {}", file, why));
}

void check_prologue(std::span<const uint8_t> bytes, const std::string& file) {
  const size_t compared = std::min(bytes.size(), magic.size());
  const bool has_magic = std::equal(magic.begin(), magic.begin() + compared, bytes.begin(),
                                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
  if (bytes.empty()) refuse(file, "not a warpfuzz reproducer (the file is empty)");
  if (!has_magic) refuse(file, "not a warpfuzz reproducer (it does not start with WFREPRO)");
  if (bytes.size() < prologue_bytes) {
    refuse(file, fmt::format("truncated: {} bytes, a reproducer has more than {}", bytes.size(),
                             prologue_bytes));
  }
  const uint32_t version = read_number(bytes.subspan(magic.size()));
  if (version > reproducer_version) {
    refuse(file, fmt::format("version {} is too new: this warpfuzz reads up to version {}", version,
                             reproducer_version));
  }
  if (version == 0) refuse(file, "version 0 does not exist: the file is damaged");
}

// A frame of ours: it ends where the file ends and has a checksum.
void check_frame(std::span<const uint8_t> frame, const std::string& file) {
  constexpr size_t descriptor_offset = 4;  // RFC 8878, section 3.1.1.1
  constexpr uint8_t checksum_flag = 4;
  const size_t size = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  if (ZSTD_isError(size)) {
    const bool truncated = ZSTD_getErrorCode(size) == ZSTD_error_srcSize_wrong;
    refuse(file, truncated ? std::string("truncated: the compressed data end early")
                           : fmt::format("damaged: {}", ZSTD_getErrorName(size)));
  }
  if (size != frame.size()) {
    refuse(file, fmt::format("damaged: {} bytes after the end", frame.size() - size));
  }
  if (!(frame[descriptor_offset] & checksum_flag)) refuse(file, "damaged: no checksum");
}

// Grows with what the frame really holds: the size that the frame claims is not trusted.
std::vector<uint8_t> decompress(std::span<const uint8_t> frame, const std::string& file,
                                size_t limit) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   &ZSTD_freeDCtx);
  WARPFUZZ_CHECK(context, "no memory for zstd");
  std::vector<uint8_t> unpacked;
  std::vector<uint8_t> chunk(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  for (size_t more = 1; more != 0;) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    const size_t position = in.pos;
    more = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(more)) refuse(file, fmt::format("damaged: {}", ZSTD_getErrorName(more)));
    if (out.pos > limit - unpacked.size()) {
      refuse(file, fmt::format("unpacks to more than {} bytes", limit));
    }
    unpacked.insert(unpacked.end(), chunk.begin(),
                    chunk.begin() + static_cast<std::ptrdiff_t>(out.pos));
    if (more != 0 && out.pos == 0 && in.pos == position) {
      refuse(file, "truncated: the compressed data end early");
    }
  }
  return unpacked;
}

size_t total_bytes(const Reproducer& reproducer) {
  size_t total = 0;
  for (const auto* tensors : {&reproducer.inputs, &reproducer.outputs}) {
    for (const NamedTensor& named : *tensors) {
      if (__builtin_add_overflow(total, tensor_bytes(named.tensor), &total)) return SIZE_MAX;
    }
  }
  return total;
}

void take_tensors(std::vector<NamedTensor>& tensors, std::span<const uint8_t>& bytes) {
  for (NamedTensor& named : tensors) {
    const auto data = std::as_bytes(bytes.first(tensor_bytes(named.tensor)));
    named.tensor.data.assign(data.begin(), data.end());
    bytes = bytes.subspan(data.size());
  }
}

}  // namespace

std::vector<uint8_t> pack_reproducer(const Reproducer& reproducer) {
  const std::vector<uint8_t> payload = make_payload(reproducer);
  std::vector<uint8_t> bytes(magic.begin(), magic.end());
  append_number(bytes, reproducer_version);
  const size_t bound = ZSTD_compressBound(payload.size());
  bytes.resize(prologue_bytes + bound);
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   &ZSTD_freeCCtx);
  WARPFUZZ_CHECK(context, "no memory for zstd");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const size_t size = ZSTD_compress2(context.get(), bytes.data() + prologue_bytes, bound,
                                     payload.data(), payload.size());
  WARPFUZZ_CHECK(!ZSTD_isError(size), "zstd: {}", ZSTD_getErrorName(size));
  bytes.resize(prologue_bytes + size);
  return bytes;
}

Reproducer unpack_reproducer(std::span<const uint8_t> bytes, const std::string& file,
                             const ReproducerLimits& limits) {
  check_prologue(bytes, file);
  const std::span<const uint8_t> frame = bytes.subspan(prologue_bytes);
  check_frame(frame, file);
  return parse_payload(decompress(frame, file, limits.unpacked_bytes), file, limits);
}

Reproducer parse_payload(std::span<const uint8_t> payload, const std::string& file,
                         const ReproducerLimits& limits) {
  if (payload.size() < length_bytes) refuse(file, "truncated: the header is missing");
  const size_t header_size = read_number(payload);
  payload = payload.subspan(length_bytes);
  if (header_size > limits.header_bytes) {
    refuse(file, fmt::format("header of {} bytes, at most {} are accepted", header_size,
                             limits.header_bytes));
  }
  if (header_size > payload.size()) {
    refuse(file,
           fmt::format("truncated: header of {} bytes, {} are there", header_size, payload.size()));
  }
  Reproducer reproducer = parse_header(
      std::string_view(reinterpret_cast<const char*>(payload.data()), header_size), file);
  payload = payload.subspan(header_size);
  const size_t expected = total_bytes(reproducer);
  if (expected != payload.size()) {
    refuse(file, fmt::format("the tensors take {} bytes, {} follow the header", expected,
                             payload.size()));
  }
  take_tensors(reproducer.inputs, payload);
  take_tensors(reproducer.outputs, payload);
  return reproducer;
}

void write_reproducer(const std::filesystem::path& path, const Reproducer& reproducer) {
  replace_file(path, pack_reproducer(reproducer));
}

Reproducer read_reproducer(const std::filesystem::path& path, const ReproducerLimits& limits) {
  // A frame of incompressible data is slightly larger than its content.
  const size_t file_limit = prologue_bytes + ZSTD_compressBound(limits.unpacked_bytes);
  return unpack_reproducer(read_file(path, file_limit), path.string(), limits);
}

}  // namespace warpfuzz
