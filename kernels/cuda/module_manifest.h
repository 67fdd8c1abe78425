// How a PTX or cubin kernel is launched: a JSON file that names the module, its entries, and for
// each launch the grid, block, shared memory and arguments, as expressions over the call
// (schemas/call_names.h). PTX_KERNELS.md describes the format. Files are hostile: sizes are
// bounded, and whatever is unknown, of the wrong type or impossible is an error that names its key.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/call_names.h"
#include "schemas/expression.h"

namespace warpfuzz::cuda {

inline constexpr size_t max_manifest_bytes = 64 << 10;
inline constexpr size_t max_module_bytes = 64 << 20;

// Of a kernel's parameter, as C names it.
enum class ArgumentType : uint8_t {
  pointer,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
};
std::string_view name(ArgumentType type);  // "int32_t"
size_t bytes(ArgumentType type);

struct Argument {
  enum class Source : uint8_t { null, workspace, input, output, expression, attribute, number };
  ArgumentType type = ArgumentType::pointer;
  Source source = Source::null;
  size_t index = 0;                      // of the tensor or the attribute
  std::optional<Expression> expression;  // Source::expression
  double number = 0;                     // Source::number
};

struct LaunchSpec {
  std::string entry;
  std::optional<Expression> when;        // absent: always
  std::array<Expression, 3> grid;        // an extent of 0: no launch
  std::array<Expression, 3> block;       // threads
  std::optional<Expression> shared;      // dynamic, bytes
  std::optional<int64_t> block_threads;  // where all extents are plain numbers
  std::vector<Argument> arguments;
  std::string where;  // "relu.json: launches[0]", for messages
};

struct ModuleManifest {
  std::filesystem::path module;  // as found from here
  std::string preconditions;
  std::optional<Expression> workspace;  // bytes
  std::vector<LaunchSpec> launches;
};

// All of these throw KernelError, "k.json: launches[0].entry: found ..., expected ...".
ModuleManifest read_module_manifest(const std::filesystem::path& file, const Schema& schema);
ModuleManifest parse_module_manifest(const std::string& text, const std::filesystem::path& file,
                                     const Schema& schema);
// Only which module it names, whatever the operator.
std::filesystem::path module_of(const std::filesystem::path& manifest);
// The bytes of a file, at most so many.
std::string read_bounded(const std::filesystem::path& file, size_t most_bytes);

}  // namespace warpfuzz::cuda
