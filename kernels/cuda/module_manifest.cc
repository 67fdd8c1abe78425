#include "kernels/cuda/module_manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "kernels/device.h"
#include "schemas/json_reader.h"

namespace warpfuzz::cuda {
namespace {

namespace fs = std::filesystem;

struct TypeRow {
  std::string_view name;
  size_t bytes;
};
// Rows in the order of ArgumentType.
constexpr std::array<TypeRow, 12> types = {{{"pointer", 8},
                                            {"bool", 1},
                                            {"int8_t", 1},
                                            {"uint8_t", 1},
                                            {"int16_t", 2},
                                            {"uint16_t", 2},
                                            {"int32_t", 4},
                                            {"uint32_t", 4},
                                            {"int64_t", 8},
                                            {"uint64_t", 8},
                                            {"float", 4},
                                            {"double", 8}}};
constexpr size_t max_launches = 64;
constexpr size_t max_entry_length = 4096;  // of templates, mangled
constexpr std::array<std::string_view, 3> extent_names = {"x", "y", "z"};

bool is_floating(ArgumentType type) {
  return type == ArgumentType::float32 || type == ArgumentType::float64;
}

class ManifestReader {
 public:
  ManifestReader(const fs::path& file, const Schema& schema)
      : file_(file), schema_(schema), names_(call_names(schema)) {}

  ModuleManifest read(const JsonNode& root) {
    root.object({"module", "preconditions", "workspace", "launches"});
    ModuleManifest manifest;
    manifest.module = module_path(root, file_);
    if (const auto node = root.find("preconditions")) {
      manifest.preconditions = node->text();
      expression(*node);
    }
    if (const auto node = root.find("workspace")) manifest.workspace = expression(*node);
    const auto launches = root.member("launches", "a list of launches").list("launches", 1);
    if (launches.size() > max_launches) {
      root.member("launches", "")
          .fail(fmt::format("{} launches", launches.size()),
                fmt::format("at most {}", max_launches));
    }
    for (const JsonNode& launch : launches) manifest.launches.push_back(read_launch(launch));
    return manifest;
  }

  // Relative to the manifest.
  static fs::path module_path(const JsonNode& root, const fs::path& file) {
    const JsonNode node = root.member("module", "the name of a .ptx or .cubin file");
    const fs::path named(node.text());
    if (named.extension() != ".ptx" && named.extension() != ".cubin") {
      node.fail("the name of a .ptx or .cubin file");
    }
    fs::path path = file.parent_path() / named;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      node.fail(fmt::format("a file: there is no {}", path.string()));
    }
    return path;
  }

 private:
  LaunchSpec read_launch(const JsonNode& node) {
    node.object({"entry", "when", "grid", "block", "shared", "arguments"});
    LaunchSpec launch;
    launch.where = node.where();
    const JsonNode entry = node.member("entry", "the name of an entry of the module");
    launch.entry = entry.text();
    if (launch.entry.empty() || launch.entry.size() > max_entry_length ||
        launch.entry.find('\0') != std::string::npos) {
      entry.fail("the name of an entry of the module");
    }
    if (const auto when = node.find("when")) launch.when = expression(*when);
    launch.grid = extents(node.member("grid", "one to three extents"), nullptr);
    launch.block = extents(node.member("block", "one to three extents"), &launch.block_threads);
    if (const auto shared = node.find("shared")) launch.shared = expression(*shared);
    for (const JsonNode& argument :
         node.member("arguments", "a list of arguments").list("arguments", 0)) {
      launch.arguments.push_back(read_argument(argument));
    }
    return launch;
  }

  std::array<Expression, 3> extents(const JsonNode& node, std::optional<int64_t>* product) {
    const std::vector<JsonNode> given = node.list("extents", 1);
    if (given.size() > extent_names.size()) {
      node.fail(fmt::format("{} extents", given.size()), "at most three: x, y, z");
    }
    std::array<Expression, 3> result = {number(1), number(1), number(1)};
    if (product != nullptr) *product = 1;
    for (size_t i = 0; i < given.size(); ++i) {
      result[i] = expression(given[i]);
      if (product == nullptr || !*product) continue;
      if (given[i].is_text()) {
        product->reset();
      } else {
        **product *= given[i].integer(1, 1 << 20);
      }
    }
    return result;
  }

  // A text, or a plain integer.
  Expression expression(const JsonNode& node) {
    if (!node.is_text()) return number(node.integer(0, INT64_MAX));
    try {
      return Expression::parse(node.text(), names_);
    } catch (const ExpressionError& error) {
      throw KernelError(fmt::format("{}: {}", node.where(), error.what()));
    }
  }
  Expression number(int64_t value) { return Expression::parse(std::to_string(value), {}); }

  Argument read_argument(const JsonNode& node) {
    node.object({"type", "value"});
    Argument argument;
    std::array<std::string_view, types.size()> type_names;
    std::transform(types.begin(), types.end(), type_names.begin(),
                   [](const TypeRow& row) { return row.name; });
    argument.type = static_cast<ArgumentType>(
        node.member("type", "a C type of a parameter").choice(type_names));
    const JsonNode value = node.member("value", "what the parameter gets");
    if (argument.type == ArgumentType::pointer) {
      set_pointer(argument, value);
    } else if (is_floating(argument.type)) {
      set_real(argument, value);
    } else {
      argument.source = Argument::Source::expression;
      argument.expression = value.is_text()
                                ? expression(value)
                                : number_or_negative(value.integer(INT64_MIN, INT64_MAX));
    }
    return argument;
  }

  // Expressions know no negative literals, only the operator.
  Expression number_or_negative(int64_t value) {
    return value >= 0 ? number(value) : Expression::parse(fmt::format("-{}-1", -(value + 1)), {});
  }

  void set_pointer(Argument& argument, const JsonNode& value) {
    std::vector<std::string> known;
    for (const auto* tensors : {&schema_.inputs, &schema_.outputs}) {
      for (const TensorSpec& tensor : *tensors) known.push_back(tensor.name);
    }
    known.insert(known.end(), {"workspace", "null"});
    const size_t found = value.choice(known);
    const size_t inputs = schema_.inputs.size(), tensors = inputs + schema_.outputs.size();
    using enum Argument::Source;
    argument.source = found < inputs     ? input
                      : found < tensors  ? output
                      : found == tensors ? workspace
                                         : null;
    argument.index = found < inputs ? found : found < tensors ? found - inputs : 0;
  }

  // A number, a real attribute, or an integer expression.
  void set_real(Argument& argument, const JsonNode& value) {
    if (!value.is_text()) {
      argument.source = Argument::Source::number;
      argument.number = value.number();
      return;
    }
    const auto attribute = schema_.find_attribute(value.text());
    if (attribute && schema_.attributes[*attribute].kind == AttributeKind::real) {
      argument.source = Argument::Source::attribute;
      argument.index = *attribute;
      return;
    }
    argument.source = Argument::Source::expression;
    argument.expression = expression(value);
  }

  const fs::path& file_;
  const Schema& schema_;
  std::vector<std::string> names_;
};

template <class Read>
auto with_document(const std::string& text, const fs::path& file, Read read) {
  const std::string name = file.string();
  try {
    const Json document = parse_json(text, name);
    return read(JsonNode(document, name));
  } catch (const SchemaError& error) {
    throw KernelError(error.what());
  }
}

}  // namespace

std::string_view name(ArgumentType type) { return types[static_cast<size_t>(type)].name; }
size_t bytes(ArgumentType type) { return types[static_cast<size_t>(type)].bytes; }

std::string read_bounded(const fs::path& file, size_t most_bytes) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);  // fails for what is no regular file
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) {
    throw KernelError(
        fmt::format("{}: cannot be read: {}", file.string(),
                    error ? error.message() : std::strerror(errno != 0 ? errno : EIO)));
  }
  if (size > most_bytes) {
    throw KernelError(
        fmt::format("{}: found {} bytes, expected at most {}", file.string(), size, most_bytes));
  }
  std::string content(size, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(size));
  content.resize(static_cast<size_t>(stream.gcount()));
  return content;
}

ModuleManifest parse_module_manifest(const std::string& text, const fs::path& file,
                                     const Schema& schema) {
  return with_document(
      text, file, [&](const JsonNode& root) { return ManifestReader(file, schema).read(root); });
}

ModuleManifest read_module_manifest(const fs::path& file, const Schema& schema) {
  return parse_module_manifest(read_bounded(file, max_manifest_bytes), file, schema);
}

fs::path module_of(const fs::path& manifest) {
  return with_document(
      read_bounded(manifest, max_manifest_bytes), manifest,
      [&](const JsonNode& root) { return ManifestReader::module_path(root, manifest); });
}

}  // namespace warpfuzz::cuda
