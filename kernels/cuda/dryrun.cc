#include "kernels/cuda/dryrun.h"

#include <cctype>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace warpfuzz::cuda {
namespace {

constexpr std::string_view line_prefix = "#$ ";

// "PATH=/usr/bin:/bin" is the environment of the commands; values with blanks or quotes are
// fragments of command lines, already substituted.
bool is_environment(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == line.npos || equals == 0) return false;
  for (const char c : line.substr(0, equals)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

bool is_plain(std::string_view value) { return value.find_first_of(" \"'$`\\") == value.npos; }

// The one quoted argument that ends in .ptx and is no output.
std::filesystem::path ptx_argument(const std::string& command) {
  const size_t end = command.find(".ptx\"");
  const size_t begin = end == command.npos ? end : command.rfind('"', end);
  if (begin == command.npos) {
    throw std::runtime_error("nvcc --dryrun: no PTX file in the step '" + command + "'");
  }
  return command.substr(begin + 1, end + 4 - begin - 1);
}

}  // namespace

CompilationSteps split_dryrun(const std::string& text) {
  CompilationSteps steps;
  std::string environment = "set -e\n";
  std::string* script = &steps.to_ptx;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(line_prefix)) continue;
    line.erase(0, line_prefix.size());
    // Clears away what the run before may have left: nothing, in a directory of our own.
    if (line.starts_with("rm ")) continue;
    if (is_environment(line)) {
      const size_t equals = line.find('=');
      const std::string value = line.substr(equals + 1);
      if (is_plain(value)) environment += "export " + line.substr(0, equals) + "='" + value + "'\n";
      continue;
    }
    if (line.starts_with("ptxas ")) {
      if (!steps.ptx.empty()) {
        throw std::runtime_error("nvcc --dryrun: several ptxas steps; give one architecture");
      }
      steps.ptx = ptx_argument(line);
      steps.assemble = line + " -v\n";
      script = &steps.from_ptx;
    }
    *script += line + "\n";
  }
  if (steps.ptx.empty()) throw std::runtime_error("nvcc --dryrun: no ptxas step in its output");
  steps.to_ptx.insert(0, environment);
  steps.assemble.insert(0, environment);
  steps.from_ptx.insert(0, environment);
  return steps;
}

// "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'", and in a later line
// "ptxas info    : Used 32 registers, used 1 barriers".
ptx::EntryRegisters entry_registers(const std::string& text) {
  constexpr std::string_view of_entry = "Compiling entry function '", used = "Used ";
  ptx::EntryRegisters registers;
  std::string name;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find(of_entry); at != line.npos) {
      const size_t begin = at + of_entry.size();
      name = line.substr(begin, line.find('\'', begin) - begin);
    } else if (const size_t number = line.find(used); number != line.npos && !name.empty()) {
      const char* const begin = line.data() + number + used.size();
      unsigned count = 0;
      if (std::from_chars(begin, line.data() + line.size(), count).ec == std::errc()) {
        registers[std::exchange(name, "")] = count;
      }
    }
  }
  return registers;
}

}  // namespace warpfuzz::cuda
