// Files that are whole or absent, even when the process is killed or the machine stops: written to
// a temporary file beside the target, synced, put in place in one step, directory synced. A killed
// writer leaves at most a file whose name starts with a dot, which every reader here ignores.
// Knows nothing of formats. Errors are std::system_error: "<path>: cannot write: <reason>".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace warpfuzz {

// Throws if there is something at `path` that is not a regular file: a directory, a device, a pipe,
// a link. Nothing of that kind is replaced.
void check_replaceable(const std::filesystem::path& path);

// Creates or replaces the file.
void replace_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

// Creates the file; false, and nothing changes, if it exists. Exactly one of any number of
// concurrent callers, in any number of processes, gets true.
bool create_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

// The content of a regular file. Throws std::system_error: no such file, not a regular file
// ("Is a directory", or "Invalid argument" for a device or pipe), larger than `limit` ("File too
// large").
std::vector<uint8_t> read_file(const std::filesystem::path& path, size_t limit);

}  // namespace warpfuzz
