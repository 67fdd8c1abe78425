// Fuzzes the reader of reproducers: any bytes are a reproducer or a ReproducerError, and what was
// read can be written and read again. A checksum or a missing key stops a fuzzer at once, so the
// first byte leads to the container, to the payload inside, or to a good header with bytes
// replaced.
#include <cstdint>
#include <span>

#include "crashes/reproducer.h"
#include "crashes/reproducer_header.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

constexpr ReproducerLimits limits{.unpacked_bytes = 1 << 20, .header_bytes = 1 << 16};

std::string good_header() {
  Reproducer r;
  r.case_bytes = {1, 2};
  r.call.dtypes = {{"T", DType::float16}};
  r.call.axes = {{"n", 3}};
  r.call.attributes = {{"eps", {1, 0.5}, "a"}};
  r.call.inputs = {{"x", {}}};
  r.call.inputs[0].tensor.pokes = {{1, PokeValue::nan}};
  r.evidence.elements = {{{1}, "value", 1, 2, 3, 4, 5, 6}};
  r.evidence.faults = {{"hang", "", "k.cu", 1, {1, 2, 3}, {4, 5, 6}}};
  r.outputs = {{"y", {DType::float16, {0, 3}, {}}}};
  return header_text(r);
}

Reproducer read(uint8_t way, std::span<const uint8_t> bytes) {
  if (way % 3 == 0) return unpack_reproducer(bytes, "fuzz.wfr", limits);
  if (way % 3 == 1) return parse_payload(bytes, "fuzz.wfr", limits);
  std::string edited = good_header();
  for (; bytes.size() >= 3; bytes = bytes.subspan(3)) {
    edited[(bytes[0] * 256u + bytes[1]) % edited.size()] = static_cast<char>(bytes[2]);
  }
  return parse_header(edited, "fuzz.wfr");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return -1;
  Reproducer reproducer;
  try {
    reproducer = read(data[0], {data + 1, size - 1});
  } catch (const ReproducerError&) {
    return 0;
  }
  for (const NamedTensor& named : reproducer.outputs) {
    if (tensor_bytes(named.tensor) != named.tensor.data.size()) return 0;  // a header alone
  }
  const std::vector<uint8_t> bytes = pack_reproducer(reproducer);
  const auto again = pack_reproducer(unpack_reproducer(bytes, "again.wfr"));
  WARPFUZZ_CHECK(again == bytes, "{} bytes became {}", bytes.size(), again.size());
  return 0;
}

}  // namespace warpfuzz
