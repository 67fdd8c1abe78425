// warpfuzz-ptx in.ptx out.ptx: instruments PTX text between the compiler and ptxas. Also for
// compilers with a hook there (Triton, NVRTC).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/cuda/ptx/instrument.h"

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Adds coverage counters to PTX", "warpfuzz-ptx"};
  std::string in, out, map, dictionary;
  bool no_predicates = false;
  app.add_option("in", in, "PTX text")->required();
  app.add_option("out", out, "The same, instrumented")->required();
  app.add_option("--map", map, "JSON: what each counter means");
  app.add_option("--dict", dictionary, "libFuzzer dictionary of the constants compared with");
  app.add_flag("--no-predicates", no_predicates, "Blocks only, no outcomes of comparisons");
  CLI11_PARSE(app, argc, argv);
  try {
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
