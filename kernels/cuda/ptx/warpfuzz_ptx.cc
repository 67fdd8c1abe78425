// warpfuzz-ptx in.ptx out.ptx: instruments PTX text between the compiler and ptxas. Also for
// compilers with a hook there (Triton, NVRTC). warpfuzz-ptx --resources in.ptx: what its kernels
// ask of a multiprocessor; exit code 1 where one asks for what there is not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/cuda/ptx/instrument.h"
#include "kernels/cuda/ptx/resources.h"

namespace {

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot be read");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary);
  stream << content;
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + path);
}

std::string tensor_memory(const std::vector<std::optional<uint64_t>>& columns) {
  if (columns.empty()) return "none";
  std::string text;
  for (const auto& asked : columns) {
    text += text.empty() ? "" : " + ";
    text += asked ? fmt::format("{}", *asked) : "unknown";
  }
  return text + " columns";
}

// Whether nothing is wrong.
bool print_resources(const std::string& text) {
  const warpfuzz::ptx::Module module = warpfuzz::ptx::parse(text);
  bool fine = true;
  for (const auto& entry : warpfuzz::ptx::resources(module)) {
    fmt::print("{}: registers not known, shared memory {} bytes{}, tensor memory {}\n", entry.entry,
               entry.shared_bytes, entry.dynamic_shared ? " and dynamic" : "",
               tensor_memory(entry.tensor_columns));
    for (const auto& problem : entry.problems) {
      fmt::print("  {}: {}\n", warpfuzz::ptx::position(module, problem), problem.message);
      fine = false;
    }
  }
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Adds coverage counters to PTX", "warpfuzz-ptx"};
  std::string in, out, map, dictionary;
  bool no_predicates = false, only_resources = false;
  app.add_option("in", in, "PTX text")->required();
  CLI::Option* const instrumented = app.add_option("out", out, "The same, instrumented");
  app.add_flag("--resources", only_resources,
               "Print what each kernel asks of a multiprocessor; exit 1 if it cannot get it")
      ->excludes(instrumented);
  app.add_option("--map", map, "JSON: what each counter means");
  app.add_option("--dict", dictionary, "libFuzzer dictionary of the constants compared with");
  app.add_flag("--no-predicates", no_predicates, "Blocks only, no outcomes of comparisons");
  CLI11_PARSE(app, argc, argv);
  try {
    if (only_resources) return print_resources(read_file(in)) ? 0 : 1;
    if (out.empty()) throw std::runtime_error("expected a second file, to write to");
    const auto result = warpfuzz::ptx::instrument(read_file(in), {.predicates = !no_predicates});
    write_file(out, result.text);
    if (!map.empty()) write_file(map, result.map.to_json());
    if (!dictionary.empty()) write_file(dictionary, result.map.to_dictionary());
  } catch (const std::exception& error) {
    fmt::print(stderr, "warpfuzz-ptx: {}: {}\n", in, error.what());
    return 2;
  }
  return 0;
}
