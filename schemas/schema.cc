#include "schemas/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace warpfuzz {

bool Attribute::is_usual(double value) const {
  return std::find(usual.begin(), usual.end(), value) != usual.end();
}

bool TensorSpec::allows(Layout layout) const {
  return std::find(layouts.begin(), layouts.end(), layout) != layouts.end();
}
bool TensorSpec::allows(ValueLaw law) const {
  return std::find(laws.begin(), laws.end(), law) != laws.end();
}

std::optional<size_t> Schema::find_attribute(std::string_view attribute) const {
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name == attribute) return i;
  }
  return std::nullopt;
}

std::vector<std::string> Schema::expression_names() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  for (const Attribute& attribute : attributes) names.push_back(attribute.name);
  return names;
}

std::shared_ptr<const Schema> load_schema(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw SchemaError(
        fmt::format("{}: found {}, expected a schema file", file.string(), std::strerror(errno)));
  }
  std::string text(max_schema_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) {
    throw SchemaError(fmt::format("{}: found a read error, expected a schema file", file.string()));
  }
  text.resize(static_cast<size_t>(stream.gcount()));
  std::shared_ptr<const Schema> schema = parse_schema(text, file.string());
  if (file.stem() != schema->name) {
    throw SchemaError(fmt::format("{}: name: found \"{}\", expected \"{}\", the name of the file",
                                  file.string(), schema->name, file.stem().string()));
  }
  return schema;
}

std::vector<std::shared_ptr<const Schema>> load_schemas(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error || files.empty()) {
    throw SchemaError(fmt::format("{}: found {}, expected a folder of schema files (*.json)",
                                  directory.string(), error ? error.message() : "no *.json"));
  }
  std::sort(files.begin(), files.end());
  std::vector<std::shared_ptr<const Schema>> schemas;
  for (const auto& file : files) schemas.push_back(load_schema(file));
  return schemas;
}

}  // namespace warpfuzz
