// What a user sees when something is wrong: message, exit code, and nothing lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/command.h"

namespace warpfuzz {
namespace {

using test::warpfuzz_command;
using testing::HasSubstr;

constexpr const char* softmax = WARPFUZZ_SOURCE_DIR "/kernels/correct/softmax.cu";

struct Row {
  std::string name;
  std::vector<std::string> arguments;  // "@" at the start: a file in the temporary directory
  int exit_code;
  std::string message;  // part of stderr, "@" stands for the temporary directory
};

class BadInput : public testing::TestWithParam<Row> {};

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string replace_at(std::string text, const std::string& directory) {
  for (size_t at = 0; (at = text.find('@', at)) != text.npos; at += directory.size()) {
    text.replace(at, 1, directory + "/");
  }
  return text;
}

TEST_P(BadInput, SaysWhatWhereAndWhatToDo) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path root = directory.path();
  write(root / "broken.cu",
        "#include \"warpfuzz_kernel.hpp\"\n__global__ void k() {\n  oops;\n}\n");
  write(root / "no_entry.cu", "__global__ void k(float* x) { x[0] = 1; }\n");
  write(root / "demanding.cu",
        "#include \"warpfuzz_kernel.hpp\"\nWARPFUZZ_KERNEL(\"n == 0\") { return WF_OK; }\n");
  write(root / "asm.cu",
        "__global__ void k(int* x) {\n  int y;\n  asm(\"mov.u32 %0, %laneid;\" : \"=r\"(y));\n  "
        "*x = y;\n}\n");
  write(root / "garbage.wfr", "this is no reproducer");
  write(root / "empty.wfr", "");
  write(root / "file", "");
  std::vector<std::string> arguments;
  for (const std::string& argument : GetParam().arguments) {
    arguments.push_back(replace_at(argument, directory.path()));
  }
  const ProcessResult result = warpfuzz_command(arguments);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.output << result.errors;
  EXPECT_THAT(result.errors, HasSubstr(replace_at(GetParam().message, directory.path())));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInput,
    testing::Values(
        Row{"unknown_op",
            {"fuzz", "sofmax", "--kernel", softmax},
            2,
            "unknown operator 'sofmax': there are amax, argmax, attention, "},
        Row{"op_is_a_path",
            {"fuzz", "../schemas/softmax", "--kernel", softmax},
            2,
            "unknown operator '../schemas/softmax'"},
        Row{"no_kernel_file",
            {"fuzz", "softmax", "--kernel", "@nothing.cu"},
            2,
            "no such kernel file: @nothing.cu"},
        Row{"unknown_kernel",
            {"fuzz", "softmax", "--kernel", "nothing"},
            2,
            "unknown kernel 'nothing': give a .cu file, a .so file, the manifest of a PTX or cubin "
            "kernel (.json), or a name that `warpfuzz list` prints"},
        Row{"no_kernel", {"fuzz", "softmax"}, 2, "--kernel is required"},
        Row{"no_command", {}, 2, "A subcommand is required"},
        Row{"does_not_compile",
            {"fuzz", "softmax", "--kernel", "@broken.cu"},
            2,
            "broken.cu:3:3: error: use of undeclared identifier 'oops'"},
        Row{"no_entry_point",
            {"fuzz", "softmax", "--kernel", "@no_entry.cu"},
            2,
            "warpfuzz_kernel"},
        Row{"inline_ptx", {"fuzz", "softmax", "--kernel", "@asm.cu"}, 2, "asm.cu:3"},
        Row{"impatient",
            {"fuzz", "softmax", "--kernel", softmax, "--worker-timeout", "0.5s"},
            2,
            "--worker-timeout: expected at least 1s"},
        Row{"bad_time",
            {"fuzz", "softmax", "--kernel", softmax, "--time", "soon"},
            2,
            "--time soon: expected a duration such as 90s, 10m, 2h or 1d"},
        Row{"no_workers",
            {"fuzz", "softmax", "--kernel", softmax, "--workers", "0"},
            2,
            "--workers: expected 1 to 1024"},
        Row{"no_device",
            {"fuzz", "softmax", "--kernel", softmax, "--device", "tpu"},
            2,
            "--device tpu: expected cpu, cuda or cuda:N"},
        Row{"bad_tier", {"fuzz", "softmax", "--kernel", softmax, "--tier", "9"}, 2, "--tier"},
        Row{"work_is_a_file",
            {"fuzz", "softmax", "--kernel", softmax, "--work", "@file"},
            3,
            "@file"},
        Row{"certify_unknown_kernel",
            {"certify", "--kernel", "nothing"},
            2,
            "--kernel nothing: expected the name of a kernel that `warpfuzz list` prints"},
        Row{"certify_unknown_op",
            {"certify", "--ops", "softmax,sofmax"},
            2,
            "unknown operator 'sofmax': there are amax, argmax, attention, "},
        Row{"certify_nothing_selected",
            {"certify", "--ops", "gelu,silu", "--kernel", "softmax"},
            2,
            "no kernel among those of --kernel is one of the operators gelu, silu"},
        Row{"certify_no_seeds", {"certify", "--seeds", "0"}, 2, "--seeds: expected 1 to 1000"},
        Row{"certify_no_jobs", {"certify", "--jobs", "0"}, 2, "--jobs: expected 1 to 1024"},
        Row{"certify_bad_time",
            {"certify", "--time", "soon"},
            2,
            "--time soon: expected a duration such as 90s, 10m, 2h or 1d"},
        Row{"certify_quick_has_one_seed",
            {"certify", "--quick", "--seeds", "3"},
            2,
            "--seeds excludes --quick"},
        Row{"certify_no_directory",
            {"certify", "--json", "@none/result.json"},
            2,
            "--json @none/result.json: there is no directory @none"},
        Row{"certify_output_is_a_directory",
            {"certify", "--html", "@"},
            3,
            "@: cannot write: Is a directory"},
        Row{"profile_unknown_op",
            {"profile", "sofmax", "--kernel", softmax},
            2,
            "unknown operator 'sofmax': there are amax, argmax, attention, "},
        Row{"profile_unknown_kernel",
            {"profile", "softmax", "--kernel", "nothing"},
            2,
            "unknown kernel 'nothing': give a .cu file, a .so file, the manifest of a PTX or cubin "
            "kernel (.json), or a name that `warpfuzz list` prints"},
        Row{"profile_bad_time",
            {"profile", "softmax", "--kernel", softmax, "--time", "soon"},
            2,
            "--time soon: expected a duration such as 90s, 10m, 2h or 1d"},
        Row{"profile_time_and_runs",
            {"profile", "softmax", "--kernel", softmax, "--time", "1s", "--runs", "5"},
            2,
            "--time excludes --runs"},
        Row{"profile_no_runs",
            {"profile", "softmax", "--kernel", softmax, "--runs", "0"},
            2,
            "--runs 0: expected at least 1"},
        Row{"profile_no_time",
            {"profile", "softmax", "--kernel", softmax, "--time", "0"},
            2,
            "--time 0: expected more"},
        Row{"profile_no_directory",
            {"profile", "softmax", "--kernel", softmax, "--svg", "@none/plot.svg"},
            2,
            "--svg @none/plot.svg: there is no directory @none"},
        Row{"profile_output_is_a_directory",
            {"profile", "softmax", "--kernel", softmax, "--json", "@"},
            3,
            "@: cannot write: Is a directory"},
        Row{"profile_plot_on_stdout",
            {"profile", "softmax", "--kernel", softmax, "--svg", "-"},
            2,
            "--svg -: expected a file"},
        Row{"profile_of_another_operator",
            {"profile", "gelu", "--kernel", "@demanding.cu"},
            2,
            "@demanding.cu: no call of gelu up to tier 2 meets its preconditions: n == 0"},
        Row{"no_program", {"run", "@nothing.cu"}, 2, "no such program: @nothing.cu"},
        Row{"program_without_main",
            {"run", "@no_entry.cu"},
            2,
            "@no_entry.cu: there is no main(); a program has one (kernels with WARPFUZZ_KERNEL are "
            "for `warpfuzz fuzz`)"},
        Row{"program_does_not_compile",
            {"run", "@broken.cu"},
            2,
            "broken.cu:3:3: error: use of undeclared identifier 'oops'"},
        Row{"unknown_check",
            {"run", "@no_entry.cu", "--sanitize", "everything"},
            2,
            "--sanitize everything: expected one of address, race, none"},
        Row{"unknown_schedule",
            {"run", "@no_entry.cu", "--schedule", "up"},
            2,
            "--schedule up: expected sequential, reversed or random"},
        Row{"no_reproducer",
            {"replay", "@nothing.wfr"},
            3,
            "@nothing.wfr: cannot read: No such file or directory"},
        Row{"garbage_reproducer", {"replay", "@garbage.wfr"}, 2, "@garbage.wfr: not a warpfuzz"},
        Row{"empty_reproducer", {"show", "@empty.wfr"}, 2, "@empty.wfr"},
        Row{"unknown_option",
            {"--op=softmax", "--nonsense=1"},
            2,
            "unknown option --nonsense=1: options of ours are --name=value, flags of libFuzzer "
            "-name=value (-help=1 lists them)"}),
    [](const auto& row) { return row.param.name; });

TEST(BadInput, AnUnwritableOutputLosesNothing) {
  const test::TemporaryDirectory directory;
  const ProcessResult found = warpfuzz_command(
      {"fuzz", "softmax", "--kernel", "softmax_tail_leak", "--work", directory.path() + "/work"});
  ASSERT_EQ(found.exit_code, 1) << found.errors;
  std::string file;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory.path() + "/work/findings")) {
    file = entry.path();
  }
  // A file is no directory to write into, whoever asks.
  const std::string link = directory.path() + "/link";
  std::filesystem::create_symlink("/dev/null", link);
  const std::pair<std::string, std::string> outputs[] = {
      {file + "/smaller", "cannot write: Not a directory"},
      {link, link + ": cannot replace what is not a regular file"}};
  for (const auto& [output, message] : outputs) {
    const ProcessResult failed = warpfuzz_command({"minimize", file, "--output", output});
    EXPECT_EQ(failed.exit_code, 3) << failed.output << failed.errors;
    EXPECT_THAT(failed.errors, HasSubstr(message));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(warpfuzz_command({"show", file}).exit_code, 0);
}

TEST(Certify, QuickOverOneFaultyAndOneCorrectKernel) {
  const test::TemporaryDirectory directory;
  const std::string json = directory.path() + "/result.json",
                    page = directory.path() + "/page.html";
  const ProcessResult result =
      warpfuzz_command({"certify", "--quick", "--kernel", "softmax", "--kernel",
                        "softmax_tail_leak", "--json", json, "--html", page});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("transcription mistakes found 1/1\n"));
  EXPECT_THAT(result.output,
              HasSubstr("CMP-03  shape polymorphism       named 1 of the 1 kernels"));
  EXPECT_THAT(result.output, HasSubstr("ORD-01  summation order          not exercised\n"));
  EXPECT_THAT(result.output, HasSubstr("false alarms on correct kernels 0/1 (over 1000 runs, "));
  EXPECT_THAT(result.output, HasSubstr("certified 1 of the 1 faulty ones, refused 0 of the 1 "));
  std::ifstream stream(json);
  const auto stored = nlohmann::json::parse(stream);
  EXPECT_EQ(stored.at("summary").at("passes"), true);
  EXPECT_EQ(stored.at("kernels").at(1).at("campaigns").at(0).at("alarms").at(0).at("gate"),
            "CMP-03");
  EXPECT_GT(std::filesystem::file_size(page), 1000u);
}

}  // namespace
}  // namespace warpfuzz
