// The byte form of a Case. All integers little-endian; bytes beyond the end read as zero; bytes
// after the last field are ignored.
//
//   version       1 byte; whatever it says is read as version 1
//   size class    1 byte: below 128 tiny, 205 small, 248 medium, else large
//   dtypes        1 byte: row of Schema::dtype_combinations, modulo their number
//   extra runs    1 byte: bits 0-2 ExtraRun; bits 3-7 the axis to keep longest if the work is too
//                 much (meaningless and 0 in a legal case); if one of the runs has a schedule, a
//                 varint follows: its seed
//   axes          per variable axis: a selector byte s and its payload
//                   00-7f  the value s                  80-bf  general_axis_values[s - 80]
//                   c0-cf  the schema's boundary value  d0-df  12 bits: 4 of s, then 1 byte
//                   e0-ef  20 bits: 4 of s, 2 bytes     f0-ff  36 bits: 4 of s, 4 bytes
//                 values outside the axis' range wrap around; encode() writes plain values only
//   attributes    boolean, choice: 1 byte; integer: as an axis, relative to the minimum;
//                 real: 00-7f  Attribute::values[s]     80-fe  the power of two 2^(bf - s)
//                       ff     8 bytes, a double
//   tensors       per input, then per output: a byte f; below 80 the tensor is contiguous, aligned
//                 and without pokes, else bits 0-1 layout, bit 2 an offset byte follows, bits 3-5
//                 pokes. Then, as f says, row padding (1 byte), offset (1 byte); for inputs law
//                 (1 byte), seed (varint), pokes (value byte, position varint).
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "schemas/axis_values.h"
#include "schemas/case.h"

namespace warpfuzz {
namespace {

constexpr uint8_t version = 1;

// First byte value of each size class.
constexpr uint8_t class_bytes[] = {0, 128, 205, 248};
static_assert(std::size(class_bytes) == size_class_count);

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint8_t byte() { return position_ < bytes_.size() ? bytes_[position_++] : uint8_t{0}; }
  uint64_t fixed(int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  // Seven bits a byte, low first; at most ten bytes.
  uint64_t varint() {
    uint64_t value = 0;
    for (int i = 0; i < 10; ++i) {
      const uint8_t next = byte();
      value |= uint64_t{next & 0x7Fu} << (7 * i);
      if (next < 0x80) break;
    }
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
};

class Writer {
 public:
  explicit Writer(std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  void byte(uint64_t value) { bytes_.push_back(static_cast<uint8_t>(value)); }
  void fixed(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) byte(value >> (8 * i));
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte((value & 0x7F) | 0x80);
    byte(value);
  }

 private:
  std::vector<uint8_t>& bytes_;
};

int64_t wrap(int64_t value, int64_t minimum, int64_t maximum) {
  if (value >= minimum && value <= maximum) return value;
  const uint64_t count = static_cast<uint64_t>(maximum) - static_cast<uint64_t>(minimum) + 1;
  const uint64_t step = count == 0 ? 0 : static_cast<uint64_t>(value) % count;
  return static_cast<int64_t>(static_cast<uint64_t>(minimum) + step);
}

int64_t read_extent(Reader& in, std::span<const int64_t> boundary) {
  const uint8_t s = in.byte();
  const uint64_t low = s & 0xFu;
  if (s < 0x80) return s;
  if (s < 0xC0) return general_axis_values[(s - 0x80) % std::size(general_axis_values)];
  if (s < 0xD0) return boundary.empty() ? s : boundary[low % boundary.size()];
  if (s < 0xE0) return static_cast<int64_t>(low << 8 | in.fixed(1));
  if (s < 0xF0) return static_cast<int64_t>(low << 16 | in.fixed(2));
  return static_cast<int64_t>(low << 32 | in.fixed(4));
}

void write_extent(Writer& out, int64_t extent) {
  const auto value = static_cast<uint64_t>(extent);
  if (value < 0x80) {
    out.byte(value);
  } else if (value < 1u << 12) {
    out.byte(0xD0 | value >> 8);
    out.fixed(value, 1);
  } else if (value < 1u << 20) {
    out.byte(0xE0 | value >> 16);
    out.fixed(value, 2);
  } else {
    out.byte(0xF0 | value >> 32);
    out.fixed(value, 4);
  }
}

double read_real(Reader& in, const Attribute& attribute) {
  const uint8_t s = in.byte();
  if (s < 0x80) return attribute.values[s % attribute.values.size()];
  if (s < 0xFF) return std::ldexp(1.0, 0xBF - s);
  return std::bit_cast<double>(in.fixed(8));
}

void write_real(Writer& out, const Attribute& attribute, double value) {
  const auto found = std::find(attribute.values.begin(), attribute.values.end(), value);
  const auto position = found - attribute.values.begin();
  // -0 equals 0 but is another value.
  if (found != attribute.values.end() && position < 0x80 &&
      std::signbit(*found) == std::signbit(value)) {
    out.byte(static_cast<uint64_t>(position));
  } else {
    out.byte(0xFF);
    out.fixed(std::bit_cast<uint64_t>(value), 8);
  }
}

AttributeValue read_attribute(Reader& in, const Attribute& attribute) {
  if (attribute.kind == AttributeKind::real) return {0, read_real(in, attribute)};
  const auto minimum = static_cast<int64_t>(attribute.minimum);
  const auto maximum = static_cast<int64_t>(attribute.maximum);
  if (attribute.kind != AttributeKind::integer) return {wrap(in.byte(), minimum, maximum), 0};
  return {minimum + wrap(static_cast<int64_t>(in.varint() >> 1), 0, maximum - minimum), 0};
}

void write_attribute(Writer& out, const Attribute& attribute, const AttributeValue& value) {
  if (attribute.kind == AttributeKind::real) {
    write_real(out, attribute, value.real);
  } else if (attribute.kind == AttributeKind::integer) {
    const int64_t above = value.integer - static_cast<int64_t>(attribute.minimum);
    out.varint(static_cast<uint64_t>(above) << 1);
  } else {
    out.byte(static_cast<uint64_t>(value.integer));
  }
}

constexpr uint8_t special_tensor = 0x80;
constexpr uint8_t offset_follows = 4;
constexpr int poke_shift = 3;

void read_tensor(Reader& in, const TensorSpec& spec, bool is_input, TensorCase& tensor) {
  const uint8_t f = in.byte();
  size_t pokes = 0;
  if (f >= special_tensor) {
    tensor.layout = static_cast<Layout>(f & 3u);
    if (tensor.layout == Layout::row_strided) {
      tensor.row_padding = wrap(in.byte(), 1, max_row_padding);
    }
    if ((f & offset_follows) != 0) tensor.offset = wrap(in.byte(), 0, max_offset);
    pokes = std::min<size_t>(f >> poke_shift & 7u, max_pokes);
  }
  if (!is_input) return;
  const uint8_t law = in.byte();
  tensor.law = static_cast<ValueLaw>(law % value_law_count);
  if (!spec.allows(tensor.law)) tensor.law = spec.laws[law % spec.laws.size()];
  tensor.seed = static_cast<uint32_t>(in.varint());
  tensor.pokes.resize(pokes);
  for (Poke& poke : tensor.pokes) {
    poke.value = static_cast<PokeValue>(in.byte() % poke_value_count);
    poke.position = in.varint();
  }
}

void write_tensor(Writer& out, const TensorCase& tensor, bool is_input) {
  const bool plain =
      tensor.layout == Layout::contiguous && tensor.offset == 0 && tensor.pokes.empty();
  out.byte(plain ? 0
                 : special_tensor | static_cast<uint64_t>(tensor.layout) |
                       (tensor.offset != 0 ? offset_follows : 0) |
                       static_cast<uint64_t>(tensor.pokes.size()) << poke_shift);
  if (tensor.layout == Layout::row_strided) out.byte(static_cast<uint64_t>(tensor.row_padding));
  if (tensor.offset != 0) out.byte(static_cast<uint64_t>(tensor.offset));
  if (!is_input) return;
  out.byte(static_cast<uint64_t>(tensor.law));
  out.varint(tensor.seed);
  for (const Poke& poke : tensor.pokes) {
    out.byte(static_cast<uint64_t>(poke.value));
    out.varint(poke.position);
  }
}

}  // namespace

Case decode(std::shared_ptr<const Schema> schema, std::span<const uint8_t> bytes,
            const CaseLimits& limits) {
  Reader in(bytes);
  Case c;
  c.schema = std::move(schema);
  const Schema& s = *c.schema;
  in.byte();  // version: there is only one
  const uint8_t class_byte = in.byte();
  while (c.size_class + 1u < size_class_count && class_byte >= class_bytes[c.size_class + 1u]) {
    ++c.size_class;
  }
  c.dtype_combination = in.byte();
  const uint8_t runs = in.byte();
  c.extra_runs = runs & all_extra_runs;
  if (has_choice(c.extra_runs)) c.schedule_seed = static_cast<uint32_t>(in.varint());
  c.axes.resize(s.axes.size());
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const Axis& axis = s.axes[i];
    if (!axis.variable()) continue;
    c.axes[i] = wrap(read_extent(in, axis.boundary), axis.minimum, axis.maximum);
  }
  c.attributes.resize(s.attributes.size());
  for (size_t i = 0; i < s.attributes.size(); ++i) {
    c.attributes[i] = read_attribute(in, s.attributes[i]);
  }
  c.inputs.resize(s.inputs.size());
  for (size_t i = 0; i < s.inputs.size(); ++i) read_tensor(in, s.inputs[i], true, c.inputs[i]);
  c.outputs.resize(s.outputs.size());
  for (size_t i = 0; i < s.outputs.size(); ++i) read_tensor(in, s.outputs[i], false, c.outputs[i]);
  legalize(c, limits, static_cast<size_t>(runs >> 5) % s.axes.size());
  return c;
}

void encode(const Case& c, std::vector<uint8_t>& bytes) {
  bytes.clear();
  Writer out(bytes);
  out.byte(version);
  out.byte(class_bytes[c.size_class]);
  out.byte(c.dtype_combination);
  out.byte(c.extra_runs);
  if (has_choice(c.extra_runs)) out.varint(c.schedule_seed);
  const Schema& s = *c.schema;
  for (size_t i = 0; i < s.axes.size(); ++i) {
    if (s.axes[i].variable()) write_extent(out, c.axes[i]);
  }
  for (size_t i = 0; i < s.attributes.size(); ++i) {
    write_attribute(out, s.attributes[i], c.attributes[i]);
  }
  for (const TensorCase& tensor : c.inputs) write_tensor(out, tensor, true);
  for (const TensorCase& tensor : c.outputs) write_tensor(out, tensor, false);
}

std::vector<uint8_t> encode(const Case& c) {
  std::vector<uint8_t> bytes;
  bytes.reserve(64);
  encode(c, bytes);
  return bytes;
}

}  // namespace warpfuzz
