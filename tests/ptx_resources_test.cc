// What kernels ask of a multiprocessor, from their PTX alone: what must be accused, and its nearest
// innocent.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kernels/cuda/ptx/resources.h"
#include "kernels/subprocess.h"

namespace warpfuzz::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Columns = std::vector<std::optional<uint64_t>>;

const std::string example = std::string(WARPFUZZ_SOURCE_DIR) + "/tests/ptx_tensor_memory.ptx";
constexpr std::string_view header = ".version 9.0\n.target sm_100a\n.address_size 64\n";

std::string read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Statements in a few letters: "alloc 64;" "free;" "relinquish;".
std::string expanded(std::string text) {
  const std::pair<std::string, std::string> words[] = {
      {"alloc ", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%a], "},
      {"free;", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, %n;"},
      {"relinquish;", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"}};
  for (const auto& [word, meaning] : words) {
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += meaning.size()) {
      text.replace(at, word.size(), meaning);
    }
  }
  return text;
}

std::vector<EntryResources> of_module(const std::string& text) {
  const std::string whole = std::string(header) + expanded(text);
  return resources(parse(whole));
}

EntryResources of_kernel(const std::string& body) {
  return of_module(".entry k(.param .u64 p)\n{\n" + body + "\n}\n").at(0);
}

std::vector<std::string> messages(const EntryResources& entry) {
  std::vector<std::string> all;
  for (const Problem& problem : entry.problems) all.push_back(problem.message);
  return all;
}

struct Row {
  std::string name;
  std::string body;
  std::string problem;  // the only one; "" for none
};

const std::string no_free = "tcgen05.alloc without a tcgen05.dealloc before the kernel ends";
const std::string too_late = "tcgen05.alloc after tcgen05.relinquish_alloc_permit";
std::string bad_columns(int columns) {
  return fmt::format("tcgen05.alloc of {} columns, expected a power of two from 32 to 512",
                     columns);
}
std::string taken(int columns, int before) {
  return fmt::format("tcgen05.alloc of {} columns while {} of 512 are taken", columns, before);
}

const std::vector<Row> rows = {
    {"all_of_it", "alloc 512; free; ret;", ""},
    {"least", "alloc 32; free;", ""},
    {"hexadecimal", "alloc 0x100; free;", ""},
    {"no_power_of_two", "alloc 96; free;", bad_columns(96)},
    {"too_few", "alloc 16; free;", bad_columns(16)},
    {"none", "alloc 0; free;", bad_columns(0)},
    {"more_than_there_is", "alloc 1024; free;", bad_columns(1024)},
    {"constant_in_a_register", "mov.b32 %r1, 48; alloc %r1; free;", bad_columns(48)},
    {"copied_constant", "mov.u32 %r1, 48; mov.b32 %r2, %r1; alloc %r2; free;", bad_columns(48)},
    {"copies_in_a_circle", "mov.b32 %r1, %r2; mov.b32 %r2, %r1; alloc %r1; free;", ""},
    {"register_written_twice", "mov.b32 %r1, 48; @%p mov.b32 %r1, 64; alloc %r1; free;", ""},
    {"register_of_a_vector", "mov.b32 %r1, 48; ld.v2.u32 {%r0, %r1}, [%a]; alloc %r1; free;", ""},
    {"guarded_constant", "@%p mov.b32 %r1, 48; alloc %r1; free;", ""},
    {"address_is_no_result", "mov.b32 %r1, 48; st.shared.u32 [%r1], 1; alloc %r1; free;",
     bad_columns(48)},
    {"parameter", "ld.param.u32 %r1, [p]; alloc %r1; free;", ""},
    {"negative", "alloc -64; free;", ""},
    {"never_freed", "alloc 64; ret;", no_free},
    {"unknown_never_freed", "ld.param.u32 %r1, [p]; alloc %r1; ret;", no_free},
    {"freed_elsewhere", "@%p bra L; alloc 64; L: bar.sync 0; @%p bra M; free; M: ret;", ""},
    {"unknown_callee", "alloc 64; call.uni release, (%a); ret;", ""},
    {"unknown_pointer", "alloc 64; call (%r1), %rd1, (%a), prototype; ret;", ""},
    {"harmless_callee", "alloc 64; call.uni (%r), vprintf, (%a, %b); ret;", no_free},
    {"sum", "alloc 512; mov.b32 %r1, 0; alloc 64; free; free;", taken(64, 512)},
    {"sum_of_three", "alloc 256; alloc 128; alloc 256; free;", taken(256, 384)},
    {"exactly_all", "alloc 256; alloc 128; alloc 128; free;", ""},
    {"sum_in_a_branch", "@%p bra L; alloc 512; bar.warp.sync -1; alloc 32; L: bar.sync 0; free;",
     taken(32, 512)},
    {"freed_between", "alloc 512; free; alloc 512; free;", ""},
    {"one_branch_or_the_other", "@%p bra L; alloc 512; bra M; L: alloc 512; M: ret; free;", ""},
    {"perhaps_before", "@%p bra L; alloc 512; L: alloc 512; free;", ""},
    {"guarded_before", "@%p alloc; @%p tcgen05.alloc.x [%a], 512; alloc 512; free;", ""},
    {"both_branches_before", "@%p bra L; alloc 512; bra M; L: alloc 256; M: alloc 512; free;",
     taken(512, 256)},
    // Another warp may know the address and free it meanwhile.
    {"barrier_between", "alloc 512; bar.sync 0; alloc 512; free;", ""},
    {"store_between", "alloc 512; st.release.shared.u32 [%b], 1; alloc 512; free;", ""},
    {"call_between", "alloc 512; call.uni vprintf, (%a); alloc 512; free;", ""},
    {"loop", "L: alloc 512; free; @%p bra L; ret;", ""},
    {"loop_that_keeps", "alloc 256; L: alloc 256; @%p bra L; free;", ""},
    {"unreachable", "alloc 512; ret; alloc 512; free;", ""},
    {"indirect_branch", "alloc 512; @%p brx.idx %r, T; L: alloc 512; T: .branchtargets L; free;",
     ""},
    {"same_label_twice", "bra L; { L: alloc 512; } { L: alloc 512; } free;", ""},
    {"relinquished", "relinquish; alloc 64; free;", too_late},
    {"relinquished_across_barriers", "alloc 64; relinquish; bar.sync 0; alloc 64; free;", too_late},
    {"perhaps_relinquished", "@%p bra L; relinquish; L: alloc 64; free;", ""},
    {"guarded_relinquish", "@%p relinquish; alloc 64; free;", ""},
    {"relinquished_last", "alloc 64; relinquish; free;", ""},
    {"without_operands", "tcgen05.alloc.x; tcgen05.alloc.x ,; tcgen05.alloc.x [; free;", ""},
    {"branch_without_target", "alloc 512; bra; free;", ""},
};

class TensorMemory : public testing::TestWithParam<Row> {};

TEST_P(TensorMemory, OnlyWhatIsCertainIsAccused) {
  const auto found = messages(of_kernel(GetParam().body));
  if (GetParam().problem.empty()) {
    EXPECT_THAT(found, IsEmpty()) << GetParam().body;
  } else {
    EXPECT_THAT(found, ElementsAre(GetParam().problem)) << GetParam().body;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, TensorMemory, testing::ValuesIn(rows),
                         [](const auto& row) { return row.param.name; });

TEST(PtxResources, FunctionsBelongToWhoCallsThem) {
  const auto entries = of_module(
      ".func (.param .b32 r) take(.param .b32 n)\n{ alloc 96; ret; }\n"
      ".func give()\n{ free; call.uni give; ret; }\n"
      ".entry both()\n{ call.uni (r), take, (n); call.uni give; ret; }\n"
      ".entry one()\n{ call.uni (r), take, (n); ret; }\n"
      ".entry neither()\n{ ret; }\n");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].tensor_columns, Columns{96});
  EXPECT_THAT(messages(entries[0]), ElementsAre(bad_columns(96)));
  EXPECT_THAT(messages(entries[1]), testing::UnorderedElementsAre(no_free, bad_columns(96)));
  EXPECT_TRUE(entries[2].tensor_columns.empty());
  EXPECT_TRUE(entries[2].problems.empty());
}

TEST(PtxResources, SharedMemory) {
  const auto entries = of_module(
      ".shared .align 16 .b8 used[100];\n"
      ".shared .b32 unused[9];\n"
      ".extern .shared .align 16 .b8 dynamic[];\n"
      ".entry a(.param .u64 .ptr .shared .align 4 p)\n"
      "{ .shared .align 4 .u32 x; .shared .b8 y[3], z[2][4]; .shared .v4 .f32 w;\n"
      "  mov.u32 %r1, used; mov.u32 %r2, dynamic; ret; }\n"
      ".entry b()\n{ .shared .f64 x[0x10]; ret; }\n"
      ".entry c()\n{ .shared .b8 x[99999999999][99999999999]; ret; }\n");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].shared_bytes,
            144u);  // used ends at 100, x at 104, y at 107, z at 115, w from 128
  EXPECT_TRUE(entries[0].dynamic_shared);
  EXPECT_EQ(entries[1].shared_bytes, 128u);
  EXPECT_FALSE(entries[1].dynamic_shared);
  EXPECT_EQ(entries[2].shared_bytes, ~uint64_t{0});
}

TEST(PtxResources, WhatIsWrongIsSaidWithItsLine) {
  const std::string text = read(example);
  const auto refused = refused_entries(text);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].entry, "too_many");
  EXPECT_EQ(refused[0].message,
            "tcgen05.alloc of 64 columns while 512 of 512 are taken (too_many.cu:10)");
  std::string without = text;
  without.replace(without.find(".file"), 5, "//");
  EXPECT_THAT(refused_entries(without).at(0).message, HasSubstr("(PTX line 23)"));
}

TEST(PtxResources, HostileTextEnds) {
  EXPECT_THROW(refused_entries("tcgen05.alloc"), PtxError);
  std::string branches = "alloc 512; ";
  for (int i = 0; i < 20000; ++i) {
    branches += fmt::format("L{}: @%p bra L{}; alloc 32; ", i, (i * 7919) % 20000);
  }
  EXPECT_THAT(messages(of_kernel(branches + "free;")), testing::Each(HasSubstr("are taken")));
  std::string chain;  // of branches backwards, that settles one label a pass
  for (int i = 5000; i > 0; --i) chain += fmt::format("L{}: bra L{}; ", i, i + 1);
  EXPECT_THAT(
      messages(of_kernel("@%p bra L1; alloc 512; bra L1; " + chain + "L5001: alloc 512; free;")),
      IsEmpty());
}

TEST(PtxResources, CommandPrintsThem) {
  const auto run = [](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {WARPFUZZ_PTX_COMMAND};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command, std::chrono::seconds(20));
  };
  ProcessResult result = run({"--resources", example});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_EQ(result.output,
            "too_many: registers not known, shared memory 8 bytes, tensor memory 512 + 64 columns\n"
            "  too_many.cu:10: tcgen05.alloc of 64 columns while 512 of 512 are taken\n");
  result = run({"--resources", std::string(WARPFUZZ_SOURCE_DIR) + "/kernels/ptx/softmax_rows.ptx"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("bytes and dynamic, tensor memory none\n"));
  EXPECT_EQ(run({"--resources", "/no/such.ptx"}).exit_code, 2);
  EXPECT_THAT(run({example}).errors, HasSubstr("expected a second file, to write to"));
}

}  // namespace
}  // namespace warpfuzz::ptx
