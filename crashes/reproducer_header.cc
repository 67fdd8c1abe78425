#include "crashes/reproducer_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "crashes/header_reader.h"
#include "crashes/stored_call_json.h"

namespace warpfuzz {
namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

std::string to_hex(std::span<const uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::vector<uint8_t> read_hex(const HeaderReader& json) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::string text = json.string();
  if (text.size() % 2 != 0 || text.find_first_not_of(digits) != std::string::npos) {
    json.refuse("an even number of hexadecimal digits");
  }
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(digits.find(text[i]) * 16 + digits.find(text[i + 1])));
  }
  return bytes;
}

Json evidence_to_json(const Evidence& evidence) {
  Json elements = Json::array();
  for (const EvidenceElement& element : evidence.elements) {
    elements.push_back({{"index", element.index},
                        {"kind", element.kind},
                        {"observed", real_to_json(element.observed)},
                        {"expected", real_to_json(element.expected)},
                        {"low", real_to_json(element.low)},
                        {"high", real_to_json(element.high)},
                        {"ratio", real_to_json(element.ratio)},
                        {"ulps", real_to_json(element.ulps)}});
  }
  Json faults = Json::array();
  for (const EvidenceFault& fault : evidence.faults) {
    faults.push_back({{"kind", fault.kind},
                      {"message", fault.message},
                      {"file", fault.file},
                      {"line", fault.line},
                      {"block", fault.block},
                      {"thread", fault.thread}});
  }
  Json json = {{"reason", evidence.reason},       {"output", evidence.output},
               {"pattern", evidence.pattern},     {"offending", evidence.offending},
               {"elements", std::move(elements)}, {"faults", std::move(faults)}};
  if (!evidence.quantisation.empty()) json["quantisation"] = evidence.quantisation;
  return json;
}

std::array<uint32_t, 3> read_triple(const HeaderReader& json) {
  const std::vector<HeaderReader> elements = json.elements();
  std::array<uint32_t, 3> triple{};
  if (elements.size() != triple.size()) json.refuse("three integers");
  for (size_t i = 0; i < triple.size(); ++i) triple[i] = elements[i].number<uint32_t>();
  return triple;
}

Evidence read_evidence(const HeaderReader& json) {
  Evidence evidence;
  evidence.reason = json["reason"].string();
  evidence.output = json["output"].string();
  evidence.pattern = json["pattern"].string();
  evidence.offending = json["offending"].natural();
  if (json.has("quantisation")) evidence.quantisation = json["quantisation"].string();
  for (const HeaderReader& element : json["elements"].elements()) {
    std::vector<int64_t> index;
    for (const HeaderReader& position : element["index"].elements()) {
      index.push_back(position.integer(0, largest));
    }
    evidence.elements.push_back({std::move(index), element["kind"].string(),
                                 element["observed"].real(), element["expected"].real(),
                                 element["low"].real(), element["high"].real(),
                                 element["ratio"].real(), element["ulps"].real()});
  }
  for (const HeaderReader& fault : json["faults"].elements()) {
    evidence.faults.push_back({fault["kind"].string(), fault["message"].string(),
                               fault["file"].string(), fault["line"].integer(0, largest),
                               read_triple(fault["block"]), read_triple(fault["thread"])});
  }
  return evidence;
}

Json tensors_to_json(const std::vector<NamedTensor>& tensors) {
  Json json = Json::array();
  for (const auto& [name_of_tensor, tensor] : tensors) {
    json.push_back(
        {{"name", name_of_tensor}, {"dtype", name(tensor.dtype)}, {"shape", tensor.shape}});
  }
  return json;
}

std::vector<NamedTensor> read_tensors(const HeaderReader& json) {
  std::vector<NamedTensor> tensors;
  for (const HeaderReader& element : json.elements()) {
    Tensor tensor;
    tensor.dtype = read_dtype(element["dtype"]);
    // Whoever multiplies the extents later, in whatever order, must not overflow, even if one is 0.
    int64_t bytes = info(tensor.dtype).bytes;
    for (const HeaderReader& extent : element["shape"].elements()) {
      tensor.shape.push_back(extent.integer(0, largest));
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(tensor.shape.back(), 1), &bytes)) {
        element["shape"].refuse("a product of extents within 63 bits");
      }
    }
    tensors.push_back({element["name"].string(), std::move(tensor)});
  }
  return tensors;
}

Json parse_json(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw ReproducerError(fmt::format("{}: header: not JSON at byte {}", file, error.byte));
  } catch (const Json::out_of_range&) {
    throw ReproducerError(fmt::format("{}: header: a number beyond the range of double", file));
  }
}

}  // namespace

size_t tensor_bytes(const Tensor& tensor) {
  const bool empty = std::ranges::find(tensor.shape, 0) != tensor.shape.end();
  size_t bytes = empty ? 0 : info(tensor.dtype).bytes;
  for (int64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return SIZE_MAX;
  }
  return bytes;
}

std::string header_text(const Reproducer& r) {
  const Json json = {
      {"warpfuzz", r.warpfuzz_version},
      {"toolchain", r.toolchain},
      {"date", r.date},
      {"gate", r.gate},
      {"signature", r.signature},
      {"tier", static_cast<int>(r.tier)},
      {"op", r.op},
      {"description", r.description},
      {"case", to_hex(r.case_bytes)},
      {"limits",
       {{"max_tier", static_cast<int>(r.limits.max_tier)},
        {"max_size_class", r.limits.max_size_class}}},
      {"call", call_to_json(r.call)},
      {"kernel",
       {{"name", r.kernel.name}, {"path", r.kernel.path}, {"content_hash", r.kernel.content_hash}}},
      {"device", r.device},
      {"evidence", evidence_to_json(r.evidence)},
      {"inputs", tensors_to_json(r.inputs)},
      {"outputs", tensors_to_json(r.outputs)},
  };
  // A path need not be UTF-8, JSON must be: what is not becomes U+FFFD.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Reproducer parse_header(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const HeaderReader json(document, fmt::format("{}: header", file));
  const HeaderReader limits = json["limits"];
  const HeaderReader kernel = json["kernel"];
  return Reproducer{
      .warpfuzz_version = json["warpfuzz"].string(),
      .toolchain = json["toolchain"].string(),
      .date = json["date"].string(),
      .gate = json["gate"].string(),
      .signature = json["signature"].string(),
      .tier = static_cast<Tier>(json["tier"].integer(1, 3)),
      .op = json["op"].string(),
      .description = json["description"].string(),
      .case_bytes = read_hex(json["case"]),
      .limits = {.max_tier = static_cast<Tier>(limits["max_tier"].integer(1, 3)),
                 .max_size_class = static_cast<uint8_t>(
                     limits["max_size_class"].integer(0, size_class_count - 1))},
      .call = call_from_json(json["call"]),
      .kernel = {kernel["name"].string(), kernel["path"].string(), kernel["content_hash"].string()},
      .device = json["device"].string(),
      .evidence = read_evidence(json["evidence"]),
      .inputs = read_tensors(json["inputs"]),
      .outputs = read_tensors(json["outputs"]),
  };
}

}  // namespace warpfuzz
