#include "crashes/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>  // renameat2 is not in <cstdio>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

namespace warpfuzz {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, int error) {
  throw std::system_error(error, std::generic_category(),
                          fmt::format("{}: cannot {}", path.string(), action));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A new file beside `target`, removed on destruction unless kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : path_(free_name(target)), descriptor_(open_new(target)) {}
  ~TemporaryFile() {
    if (!kept_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_.get(); }
  const char* name() const { return path_.c_str(); }
  void keep() { kept_ = true; }

 private:
  // Unique in this process; workers on other machines that share the directory may have the same
  // process id, which O_EXCL finds out.
  static std::filesystem::path free_name(const std::filesystem::path& target) {
    static std::atomic<unsigned> serial{0};
    return target.parent_path() /
           fmt::format(".{}.{}-{}", target.filename().string(), ::getpid(), serial++);
  }
  int open_new(const std::filesystem::path& target) {
    constexpr int attempts = 100;
    for (int attempt = 1;; ++attempt) {
      const int fd = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
      if (fd >= 0) return fd;
      if (errno != EEXIST || attempt == attempts) fail(target, "write", errno);
      path_ = free_name(target);
    }
  }

  std::filesystem::path path_;
  Descriptor descriptor_;
  bool kept_ = false;
};

void write_synced(const std::filesystem::path& target, int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(target, "write", errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  if (::fsync(fd) != 0) fail(target, "write", errno);
}

void sync_directory_of(const std::filesystem::path& target) {
  const std::filesystem::path parent = target.parent_path();
  const Descriptor directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) fail(target, "write", errno);
  // Some network file systems cannot sync a directory and say EINVAL; nothing better exists there.
  if (::fsync(directory.get()) != 0 && errno != EINVAL) fail(target, "write", errno);
}

// Gives the temporary file its final name unless that is taken.
bool publish_new(const std::filesystem::path& target, TemporaryFile& file) {
  if (::link(file.name(), target.c_str()) == 0) return true;
  const int error = errno;
  if (error == EEXIST) {
    // A network file system may repeat a request whose answer was lost: then the other is us.
    struct stat status;
    return ::fstat(file.descriptor(), &status) == 0 && status.st_nlink == 2;
  }
  const bool no_links = error == EPERM || error == EOPNOTSUPP || error == ENOSYS;
  if (!no_links) fail(target, "write", error);
  if (::renameat2(AT_FDCWD, file.name(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
    file.keep();
    return true;
  }
  if (errno == EEXIST) return false;
  fail(target, "write", errno);
}

}  // namespace

void check_replaceable(const std::filesystem::path& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, "write", errno);
  } else if (S_ISDIR(status.st_mode)) {
    fail(path, "write", EISDIR);
  } else if (!S_ISREG(status.st_mode)) {
    fail(path, "replace what is not a regular file", EEXIST);
  }
}

void replace_file(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  check_replaceable(path);
  TemporaryFile file(path);
  write_synced(path, file.descriptor(), bytes);
  if (::rename(file.name(), path.c_str()) != 0) fail(path, "write", errno);
  file.keep();
  sync_directory_of(path);
}

bool create_file(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  TemporaryFile file(path);
  write_synced(path, file.descriptor(), bytes);
  if (!publish_new(path, file)) return false;
  sync_directory_of(path);
  return true;
}

std::vector<uint8_t> read_file(const std::filesystem::path& path, size_t limit) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail(path, "read", errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) fail(path, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "read", EISDIR);
  if (!S_ISREG(status.st_mode)) fail(path, "read", EINVAL);
  if (static_cast<uint64_t>(status.st_size) > limit) fail(path, "read", EFBIG);
  std::vector<uint8_t> bytes(static_cast<size_t>(status.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;  // the file shrank meanwhile
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace warpfuzz
