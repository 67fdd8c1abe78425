#include "crashes/reproducer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <string>
#include <system_error>

#include "crashes/durable_file.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t prologue = 12;

std::vector<std::byte> some_bytes(size_t count) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i * 37 + 11));
  return bytes;
}

Reproducer sample() {
  Reproducer r;
  r.warpfuzz_version = "0.1.0";
  r.toolchain = "clang 19.1.7";
  r.gate = "CMP-03";
  r.signature = "CMP-03-softmax-float32-value";
  r.tier = Tier::unusual;
  r.op = "softmax";
  r.description = "softmax float32 m=2 n=3 \"x\"";
  r.case_bytes = {0, 1, 0xfe, 0xff};
  r.limits = {.max_tier = Tier::exotic, .max_size_class = 2};
  r.call.size_class = 1;
  r.call.extra_runs = 3;
  r.call.schedule_seed = 4'000'000'000;
  r.call.dtypes = {{"T", DType::float32}};
  r.call.axes = {{"m", 2}, {"n", 3}};
  r.call.attributes = {{"eps", {0, -0.0}, ""}, {"mode", {-7, infinity}, "erf"}};
  TensorCase strided;
  strided.layout = Layout::row_strided;
  strided.row_padding = 5;
  strided.offset = 1;
  strided.law = ValueLaw::outliers;
  strided.seed = 4'294'967'295;
  strided.pokes = {{~uint64_t{0}, PokeValue::tiny}, {0, PokeValue::nan}};
  r.call.inputs = {{"x", strided}};
  r.call.outputs = {{"y", {}}};
  r.kernel = {"softmax", "/tmp/k\xff.cu", "00ff"};
  r.device = "cpu";
  r.evidence.reason = "2 elements differ";
  r.evidence.output = "y";
  r.evidence.pattern = "columns >= 1 of row 0";
  r.evidence.offending = 2;
  r.evidence.elements = {{{0, 1}, "value", 0.1, 0.5, 0.25, 0.75, 1e300, 3},
                         {{0, 2}, "non_finite", std::nan(""), -infinity, -0.0, infinity, 0, 0}};
  r.evidence.faults = {{"time limit", "2 s", "k.cu", 12, {1, 2, 3}, {4, 5, 4'294'967'295}}};
  r.inputs = {{"x", {DType::float32, {2, 3}, some_bytes(24)}},
              {"scalar", {DType::int64, {}, some_bytes(8)}}};
  r.outputs = {{"y", {DType::bfloat16, {2, 3}, some_bytes(12)}},
               {"empty", {DType::float64, {0, 1'000'000}, {}}}};
  return r;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ReproducerError& error) {
    return error.what();
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "no error";
}

std::filesystem::path fresh_directory(const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / ("warpfuzz_" + name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

size_t files_in(const std::filesystem::path& directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

TEST(Reproducer, RoundTripKeepsEverything) {
  const Reproducer written = sample();
  const Reproducer read = unpack_reproducer(pack_reproducer(written), "a.wfr");
  EXPECT_EQ(read.call, written.call);
  EXPECT_TRUE(std::signbit(read.call.attributes[0].value.real));
  EXPECT_EQ(read.case_bytes, written.case_bytes);
  EXPECT_EQ(read.description, written.description);
  EXPECT_EQ(read.inputs, written.inputs);
  EXPECT_EQ(read.outputs, written.outputs);
  EXPECT_EQ(read.evidence.faults, written.evidence.faults);
  EXPECT_EQ(read.evidence.elements[0].observed, 0.1);
  EXPECT_TRUE(std::isnan(read.evidence.elements[1].observed));
  EXPECT_EQ(read.evidence.elements[1].expected, -infinity);
  EXPECT_EQ(read.kernel.path, "/tmp/k\xEF\xBF\xBD.cu") << "not UTF-8: U+FFFD";
  EXPECT_EQ(read.tier, Tier::unusual);
  EXPECT_EQ(read.limits.max_tier, Tier::exotic);
  EXPECT_EQ(read.limits.max_size_class, 2);
}

TEST(Reproducer, WritingWhatWasReadGivesTheSameBytes) {
  Reproducer r = sample();
  r.kernel.path = "/tmp/k.cu";
  const std::vector<uint8_t> bytes = pack_reproducer(r);
  EXPECT_EQ(pack_reproducer(unpack_reproducer(bytes, "a.wfr")), bytes);
}

// A container around any payload.
std::vector<uint8_t> container(std::span<const uint8_t> payload, bool checksum = true) {
  std::vector<uint8_t> bytes = pack_reproducer(sample());
  bytes.resize(prologue + ZSTD_compressBound(payload.size()));
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  const size_t size = ZSTD_compress2(context, bytes.data() + prologue, bytes.size() - prologue,
                                     payload.data(), payload.size());
  ZSTD_freeCCtx(context);
  bytes.resize(prologue + size);
  return bytes;
}

TEST(Reproducer, SaysWhatIsWrongWithAContainer) {
  const std::vector<uint8_t> good = pack_reproducer(sample());
  const auto first = [&](size_t count) {
    return std::vector(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto with = [&](size_t position, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[position] = value;
    return bytes;
  };
  std::vector<uint8_t> longer = good;
  longer.insert(longer.end(), 3, 0);
  std::vector<uint8_t> wrong_checksum = good;
  wrong_checksum.back() ^= 1;
  const struct {
    std::vector<uint8_t> bytes;
    std::string message;
  } rows[] = {
      {{}, "a.wfr: not a warpfuzz reproducer (the file is empty)"},
      {with(0, 'X'), "a.wfr: not a warpfuzz reproducer (it does not start with WFREPRO)"},
      {first(4), "a.wfr: truncated: 4 bytes, a reproducer has more than 12"},
      {with(8, 2), "a.wfr: version 2 is too new: this warpfuzz reads up to version 1"},
      {with(8, 0), "a.wfr: version 0 does not exist: the file is damaged"},
      {first(12), "a.wfr: truncated: the compressed data end early"},
      {first(13), "a.wfr: truncated: the compressed data end early"},
      {first(good.size() - 1), "a.wfr: truncated: the compressed data end early"},
      {with(12, 0), "a.wfr: damaged: Unknown frame descriptor"},
      {longer, "a.wfr: damaged: 3 bytes after the end"},
      {wrong_checksum, "a.wfr: damaged: Restored data doesn't match checksum"},
      {container(good, false), "a.wfr: damaged: no checksum"},
      {container(std::vector<uint8_t>(2)), "a.wfr: truncated: the header is missing"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(message_of([&] { unpack_reproducer(row.bytes, "a.wfr"); }), row.message);
  }
}

TEST(Reproducer, DoesNotUnpackBombs) {
  const std::vector<uint8_t> bomb = container(std::vector<uint8_t>(64 << 20));
  EXPECT_LT(bomb.size(), 10'000u);
  EXPECT_EQ(message_of([&] { unpack_reproducer(bomb, "a.wfr", {.unpacked_bytes = 1 << 20}); }),
            "a.wfr: unpacks to more than 1048576 bytes");
}

// A payload with this header, followed by this many bytes for tensors.
std::vector<uint8_t> payload(const std::string& header, size_t tensor_bytes = 0) {
  std::vector<uint8_t> bytes(4 + header.size() + tensor_bytes);
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(header.size() >> (8 * i));
  std::copy(header.begin(), header.end(), bytes.begin() + 4);
  return bytes;
}

// The sample's header with one text replaced.
std::string header_with(const std::string& from, const std::string& to) {
  const std::vector<uint8_t> packed = pack_reproducer(sample());
  std::vector<uint8_t> unpacked(1 << 16);
  unpacked.resize(ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data() + prologue,
                                  packed.size() - prologue));
  const size_t size = unpacked[0] | size_t{unpacked[1]} << 8;
  std::string header(unpacked.begin() + 4,
                     unpacked.begin() + 4 + static_cast<std::ptrdiff_t>(size));
  const size_t position = header.find(from);
  EXPECT_NE(position, std::string::npos) << from << " in " << header;
  return header.replace(position, from.size(), to);
}

TEST(Reproducer, SaysWhatIsWrongWithAHeader) {
  const struct {
    std::vector<uint8_t> payload;
    std::string message;
  } rows[] = {
      {{0xff, 0xff, 0xff, 0xff}, "a.wfr: header of 4294967295 bytes, at most 1048576 are accepted"},
      {{9, 0, 0, 0, '{'}, "a.wfr: truncated: header of 9 bytes, 1 are there"},
      {payload("{\"op\": "), "a.wfr: header: not JSON at byte 8"},
      {payload("[1e999]"), "a.wfr: header: a number beyond the range of double"},
      {payload("[]"), "a.wfr: header: found an array, expected an object"},
      {payload("{}"), "a.wfr: header: key \"limits\" is missing"},
      {payload(header_with("\"op\":\"softmax\"", "\"op\":7")),
       "a.wfr: header.op: found 7, expected a string"},
      {payload(header_with("\"tier\":2", "\"tier\":4")),
       "a.wfr: header.tier: found 4, expected an integer in [1, 3]"},
      {payload(header_with("0001feff", "0001fefg")),
       "a.wfr: header.case: found \"0001fefg\", expected an even number of hexadecimal digits"},
      {payload(header_with("row_strided", "diagonal")),
       "a.wfr: header.call.inputs[0].layout: found \"diagonal\", expected the name of a layout"},
      {payload(header_with("4000000000", "4294967296")),
       "a.wfr: header.call.schedule_seed: found 4294967296, expected an integer in [0, "
       "4294967295]"},
      {payload(header_with("\"block\":[1,2,3]", "\"block\":[1,2]")),
       "a.wfr: header.evidence.faults[0].block: found an array, expected three integers"},
      {payload(header_with("\"float32\",\"shape\":[2,3]", "\"float32\",\"shape\":[2,-3]")),
       "a.wfr: header.inputs[0].shape[1]: found -3, expected an integer in [0, "
       "9223372036854775807]"},
      {payload(header_with("\"shape\":[0,1000000]", "\"shape\":[0,4611686018427387904]")),
       "a.wfr: header.outputs[1].shape: found an array, expected a product of extents within 63 "
       "bits"},
      {payload(header_with("", ""), 43), "a.wfr: the tensors take 44 bytes, 43 follow the header"},
      {payload(
           header_with("\"float32\",\"shape\":[2,3]", "\"float32\",\"shape\":[1048576,1048576]"),
           44),
       "a.wfr: the tensors take 4398046511124 bytes, 44 follow the header"},
      {payload(header_with("", ""), 44), "no error"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(message_of([&] { parse_payload(row.payload, "a.wfr"); }), row.message);
  }
}

// A flipped bit may hit what zstd does not use; then nothing else may come out either.
TEST(Reproducer, NoticesOrSurvivesEverySingleByteFlip) {
  const std::vector<uint8_t> good = pack_reproducer(sample());
  const std::vector<uint8_t> again = pack_reproducer(unpack_reproducer(good, "a.wfr"));
  size_t noticed = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<uint8_t> bytes = good;
    bytes[i] ^= 0x10;
    try {
      EXPECT_EQ(pack_reproducer(unpack_reproducer(bytes, "a.wfr")), again) << "byte " << i;
    } catch (const ReproducerError&) {
      ++noticed;
    }
  }
  EXPECT_GT(noticed, good.size() * 9 / 10);
}

TEST(ReproducerFile, IsReplacedInOneStepAndLeavesNothingBehind) {
  const auto directory = fresh_directory("replace");
  const auto path = directory / "a.wfr";
  write_reproducer(path, sample());
  Reproducer other = sample();
  other.op = "matmul";
  write_reproducer(path, other);
  EXPECT_EQ(read_reproducer(path).op, "matmul");
  EXPECT_EQ(files_in(directory), 1u);
}

TEST(ReproducerFile, SaysWhyItCannotBeRead) {
  const auto directory = fresh_directory("read");
  const auto path = directory / "a.wfr";
  const auto reading = [&](const std::filesystem::path& file) {
    return message_of([&] { read_reproducer(file, {.unpacked_bytes = 1 << 10}); });
  };
  EXPECT_EQ(reading(path), path.string() + ": cannot read: No such file or directory");
  EXPECT_EQ(reading(directory), directory.string() + ": cannot read: Is a directory");
  EXPECT_EQ(reading("/dev/zero"), "/dev/zero: cannot read: Invalid argument");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(reading(path), path.string() + ": cannot read: Invalid argument");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  replace_file(path, std::vector<uint8_t>(1 << 20));
  EXPECT_EQ(reading(path), path.string() + ": cannot read: File too large");
}

TEST(ReproducerFile, SaysWhyItCannotBeWritten) {
  const auto directory = fresh_directory("write");
  const auto writing = [&](const std::filesystem::path& file) {
    return message_of([&] { write_reproducer(file, sample()); });
  };
  EXPECT_EQ(writing(directory / "none" / "a.wfr"),
            (directory / "none" / "a.wfr").string() + ": cannot write: No such file or directory");
  replace_file(directory / "file", {});
  EXPECT_EQ(writing(directory / "file" / "a.wfr"),
            (directory / "file" / "a.wfr").string() + ": cannot write: Not a directory");
  std::filesystem::create_directory(directory / "taken");
  EXPECT_EQ(writing(directory / "taken"),
            (directory / "taken").string() + ": cannot write: Is a directory");
  const auto refused = [](const std::filesystem::path& file) {
    return file.string() + ": cannot replace what is not a regular file: File exists";
  };
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(writing(directory / "pipe"), refused(directory / "pipe"));
  EXPECT_TRUE(std::filesystem::is_fifo(directory / "pipe"));
  std::filesystem::create_symlink("/dev/null", directory / "link");
  EXPECT_EQ(writing(directory / "link"), refused(directory / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(files_in(directory), 4u) << "temporary files are removed";
}

TEST(ReproducerFile, SaysThatTheDirectoryIsReadOnly) {
  const auto directory = fresh_directory("readonly");
  std::filesystem::permissions(directory, std::filesystem::perms{0555});
  const bool root = ::geteuid() == 0;  // whom permissions do not stop
  constexpr uid_t nobody = 65534;
  if (root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string message = message_of([&] { write_reproducer(directory / "a.wfr", sample()); });
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(message, (directory / "a.wfr").string() + ": cannot write: Permission denied");
}

TEST(ReproducerFile, LeavesTheOldFileWhenTheDiskIsFull) {
  const auto directory = fresh_directory("full");
  const auto path = directory / "a.wfr";
  write_reproducer(path, sample());
  // A limit on the size of files fails the same call in the same way as a full disk.
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Reproducer other = sample();
  other.op = "matmul";
  const std::string message = message_of([&] { write_reproducer(path, other); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(message, path.string() + ": cannot write: File too large");
  EXPECT_EQ(read_reproducer(path).op, "softmax");
  EXPECT_EQ(files_in(directory), 1u);
}

}  // namespace
}  // namespace warpfuzz
