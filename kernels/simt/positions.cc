#include "kernels/simt/positions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <iterator>

extern char** environ;

namespace warpfuzz::simt {

namespace {

constexpr const char* symbolizers[] = {"llvm-symbolizer-19", "llvm-symbolizer"};

// What the program writes to stdout; empty if it cannot be run.
std::string output_of(std::vector<std::string> arguments) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (failed == 0) {
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  return text;
}

// "path:line:column".
SourcePosition parse(std::string_view text) {
  const size_t column = text.rfind(':');
  if (column == std::string_view::npos) return {};
  const size_t line = text.rfind(':', column - 1);
  if (line == std::string_view::npos || text.starts_with("??")) return {};
  SourcePosition position;
  position.file = text.substr(0, line);
  std::from_chars(text.data() + line + 1, text.data() + column, position.line);
  return position;
}

// An instruction that the compiler moved or merged has no line of its own: that of one of its
// neighbours counts, the next ones first, since it was most likely moved in front of them.
constexpr intptr_t neighbours[] = {0, 8, 16, 24, 32, 48, 64, -8, -16, -32, -64};

std::vector<SourcePosition> look_up(const std::filesystem::path& object,
                                    const std::vector<uintptr_t>& offsets) {
  std::vector<SourcePosition> positions(offsets.size());
  std::string text;
  for (const char* symbolizer : symbolizers) {
    std::vector<std::string> arguments = {symbolizer, "--obj=" + object.string(),
                                          "--functions=none", "--inlining=false"};
    for (uintptr_t offset : offsets) arguments.push_back(fmt::format("{:#x}", offset));
    text = output_of(std::move(arguments));
    if (!text.empty()) break;
  }
  // One line per address, each followed by an empty one.
  size_t next = 0;
  for (size_t begin = 0; begin < text.size() && next < positions.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    const std::string_view line(text.data() + begin, end - begin);
    if (!line.empty()) positions[next++] = parse(line);
    begin = end + 1;
  }
  return positions;
}

}  // namespace

std::vector<SourcePosition> find_positions(const std::filesystem::path& object,
                                           const std::vector<uintptr_t>& offsets) {
  if (offsets.empty()) return {};
  std::vector<uintptr_t> candidates;
  for (uintptr_t offset : offsets) {
    for (intptr_t distance : neighbours) {
      candidates.push_back(offset + static_cast<uintptr_t>(distance));
    }
  }
  const std::vector<SourcePosition> found = look_up(object, candidates);
  std::vector<SourcePosition> positions(offsets.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    SourcePosition& position = positions[i / std::size(neighbours)];
    if (position.line == 0) position = found[i];
  }
  return positions;
}

}  // namespace warpfuzz::simt
