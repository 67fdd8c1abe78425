// The instrumenter of PTX: exact output for a small function, and the constructs that must not
// break.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/ptx/instrument.h"

namespace warpfuzz::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view header = ".version 9.0\n.target sm_90\n.address_size 64\n";

// The text of a kernel with these statements.
std::string kernel(std::string_view body) {
  return std::string(header) + ".visible .entry k(\n\t.param .u64 k_p\n)\n{\n" + std::string(body) +
         "}\n";
}

std::vector<std::string> kinds(const CoverageMap& map) {
  std::vector<std::string> names;
  for (const Counter& counter : map.counters) names.emplace_back(name(counter.kind));
  return names;
}

TEST(PtxInstrument, SmallKernelExactly) {
  const Instrumented result = instrument(kernel("\t.reg .pred \t%p<2>;\n"
                                                "\t.loc\t1 7 3\n"
                                                "\tsetp.lt.s32 \t%p1, %r1, 10;\n"
                                                "\t@%p1 bra \t$L_2;\n"
                                                "\n"
                                                "\t.loc\t1 8 3\n"
                                                "\tmov.u32 \t%r1, 0;\n"
                                                "$L_2:\n"
                                                "\t.loc\t1 9 1\n"
                                                "\tret;\n") +
                                         ".file\t1 \"/k.cu\"\n");
  EXPECT_EQ(result.text,
            ".version 9.0\n.target sm_90\n.address_size 64\n"
            ".visible .global .align 8 .b8 __warpfuzz_coverage[5];\n"
            ".visible .entry k(\n\t.param .u64 k_p\n)\n{\n"
            "\t.reg .pred \t%wf_new;\n"
            "\t.reg .b32 \t%wf_value;\n"
            "\t.reg .b64 \t%wf_address, %wf_offset;\n"
            "\t.reg .pred \t%p<2>;\n"
            "\t.loc\t1 7 3\n"
            "\tld.global.u8 \t%wf_value, [__warpfuzz_coverage+0];\n"
            "\tsetp.eq.u32 \t%wf_new, %wf_value, 0;\n"
            "\t@%wf_new st.global.u8 \t[__warpfuzz_coverage+0], 1;\n"
            "\tsetp.lt.s32 \t%p1, %r1, 10;\n"
            "\tmov.u64 \t%wf_address, __warpfuzz_coverage;\n"
            "\tselp.b64 \t%wf_offset, 2, 1, %p1;\n"
            "\tadd.u64 \t%wf_address, %wf_address, %wf_offset;\n"
            "\tld.global.u8 \t%wf_value, [%wf_address];\n"
            "\tsetp.eq.u32 \t%wf_new, %wf_value, 0;\n"
            "\t@%wf_new st.global.u8 \t[%wf_address], 1;\n"
            "\t@%p1 bra \t$L_2;\n"
            "\n"
            "\t.loc\t1 8 3\n"
            "\tld.global.u8 \t%wf_value, [__warpfuzz_coverage+3];\n"
            "\tsetp.eq.u32 \t%wf_new, %wf_value, 0;\n"
            "\t@%wf_new st.global.u8 \t[__warpfuzz_coverage+3], 1;\n"
            "\tmov.u32 \t%r1, 0;\n"
            "$L_2:\n"
            "\t.loc\t1 9 1\n"
            "\tld.global.u8 \t%wf_value, [__warpfuzz_coverage+4];\n"
            "\tsetp.eq.u32 \t%wf_new, %wf_value, 0;\n"
            "\t@%wf_new st.global.u8 \t[__warpfuzz_coverage+4], 1;\n"
            "\tret;\n}\n"
            ".file\t1 \"/k.cu\"\n");
  const std::vector<Counter> expected = {
      {"k", "/k.cu", 7, CounterKind::entry, 0, ""},
      {"k", "/k.cu", 7, CounterKind::predicate_false, 0, "lt.s32"},
      {"k", "/k.cu", 7, CounterKind::predicate_true, 0, "lt.s32"},
      {"k", "/k.cu", 8, CounterKind::fall_through, 0, ""},
      {"k", "/k.cu", 9, CounterKind::label, 0, ""}};
  EXPECT_EQ(result.map.counters, expected);
  const std::vector<CoveredLine> lines = {{0, 0, 7}, {3, 0, 8}, {4, 0, 9}};
  EXPECT_EQ(result.map.lines, lines);
  EXPECT_EQ(result.map.to_dictionary(), "\"\\x0a\\x00\\x00\\x00\"\n");
  EXPECT_EQ(CoverageMap::from_json(result.map.to_json()).counters, expected);
}

struct BlockRow {
  const char* what;
  const char* body;
  std::vector<std::string> expected;
};

TEST(PtxInstrument, Blocks) {
  const std::vector<BlockRow> rows = {
      {"guarded exit", "@%p exit;\n ret;", {"entry", "fall-through"}},
      {"guarded return, negated", "@!%p ret;\n ret;", {"entry", "fall-through"}},
      {"uniform branch", "@%p bra.uni L;\n nop.x;\nL: ret;", {"entry", "fall-through", "label"}},
      {"unguarded branch: no fall-through", "bra.uni L;\n nop.x;\nL: ret;", {"entry", "label"}},
      {"labels in a row are one block", "a.b;\nL1:\nL2:\n ret;", {"entry", "label"}},
      {"a label at the very start is the entry", "L1: ret;", {"entry"}},
      {"a label without code has no block", "ret;\nL1:\n", {"entry"}},
      {"scopes", "{ .reg .b32 t; @%p bra L; a.b; }\nL: ret;", {"entry", "fall-through", "label"}},
      {"indexed branch",
       "ts: .branchtargets L1, L2;\n brx.idx %r, ts;\nL1: a.b;\nL2: ret;",
       {"entry", "label", "label"}},
      {"indirect call",
       "pr: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
       "{ .param .b64 q; st.param.b64 [q], %rd1; call (r), %rd2, (q), pr; }\n ret;",
       {"entry"}},
      {"vector operands", "ld.v2.f32 {%f1, %f2}, [%rd1];\n ret;", {"entry"}},
      {"guarded comparison",
       "@%q setp.eq.s32 %p, %r, 1;\n ret;",
       {"entry", "predicate-false", "predicate-true"}},
      {"comparison that overwrites its guard", "@%p setp.eq.s32 %p, %r, 1;\n ret;", {"entry"}},
      {"two results",
       "setp.eq.s32 %p|%q, %r, 1;\n ret;",
       {"entry", "predicate-false", "predicate-true", "predicate-false", "predicate-true"}},
      {"unwanted result",
       "setp.eq.s32 _|%q, %r, 1;\n ret;",
       {"entry", "predicate-false", "predicate-true"}},
      {"text in comments and strings",
       "// L: @%p bra X;\n /* } */ .pragma \"L: } {\";\n ret;",
       {"entry"}},
      {"clusters and double colons",
       "mbarrier.try_wait.parity.shared::cta.b64 %p, [%r], 0;\n @%p bra L;\n a.b;\nL: ret;",
       {"entry", "fall-through", "label"}},
  };
  for (const BlockRow& row : rows) {
    EXPECT_EQ(kinds(instrument(kernel(row.body)).map), row.expected) << row.what;
  }
}

TEST(PtxInstrument, GuardedComparisonsCountOnlyWhereTheyRan) {
  EXPECT_THAT(
      instrument(kernel("@!%q setp.eq.s32 %p, %r, 1;\n ret;")).text,
      HasSubstr("mov.u32 \t%wf_value, 1;\n\t@!%q ld.global.u8 \t%wf_value, [%wf_address];"));
}

TEST(PtxInstrument, ModuleLevel) {
  const std::string text =
      std::string(header) +
      ".global .align 4 .b8 table[4] = {1, 2, 3, 4};\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".func (.param .b32 out) helper(.param .b32 in) .noreturn { ret; }\n"
      ".visible .entry big(.param .u32 a, .param .align 8 .b8 b[16]) .maxntid 128, 1, 1\n{ ret; }\n"
      ".section .debug_info { .b8 1 L: .b32 2 }\n";
  const Instrumented result = instrument(text);
  ASSERT_EQ(result.map.counters.size(), 2u);
  EXPECT_EQ(result.map.counters[0].function, "helper");
  EXPECT_EQ(result.map.counters[1].function, "big");
}

TEST(PtxInstrument, NamesDoNotClash) {
  const std::string text = instrument(kernel(".reg .b32 %wf_value;\n ret;")).text;
  EXPECT_THAT(text, HasSubstr("%wf0_value"));
}

TEST(PtxInstrument, ThirtyTwoBitAddresses) {
  const std::string text =
      instrument(".version 4.0\n.target sm_20\n.entry k { setp.eq.s32 %p, %r, 1; ret; }").text;
  EXPECT_THAT(text, HasSubstr("add.u32 \t%wf_address"));
  EXPECT_THAT(text, Not(HasSubstr("u64")));
}

TEST(PtxInstrument, NothingToDoChangesNothing) {
  const std::string text = std::string(header) + ".global .b32 x;\n";
  EXPECT_EQ(instrument(text).text, text);
}

TEST(PtxInstrument, Constants) {
  const auto constants = instrument(kernel("setp.gt.f32 %p, %f1, 0f41200000;\n"
                                           "setp.lt.s64 %p, %rd1, -2;\n"
                                           "setp.ne.s16 %p, %rs1, 0x7FFF;\n"
                                           "setp.gt.f64 %p, %fd1, 0d3FF0000000000000;\n"
                                           "setp.eq.and.s32 %p, %r1, 017, %q;\n"
                                           "set.eq.u32.f32 %r1, %f1, 1.5;\n"
                                           "ret;"))
                             .map.constants;
  const std::vector<Constant> expected = {{0xf, 4, false},
                                          {0x7fff, 2, false},
                                          {0x3fc00000, 4, true},
                                          {0x41200000, 4, true},
                                          {0x3ff0000000000000, 8, true},
                                          {0xfffffffffffffffe, 8, false}};
  EXPECT_EQ(constants, expected);
}

struct ErrorRow {
  std::string text;
  const char* message;
};

TEST(PtxInstrument, Errors) {
  const std::vector<ErrorRow> rows = {
      {"", "line 1: no .version and .target: not a PTX module"},
      {std::string(header) + "/* open", "line 4: comment without end"},
      {std::string(header) + ".file 1 \"open", "line 4: string without end"},
      {std::string(header) + ".entry k { ret;", "line 4: function without end"},
      {std::string(header) + ".entry k { ret }", "line 4: statement without a semicolon"},
      {std::string(header) + ".entry k { @; }", "line 4: guard without a predicate"},
      {std::string(header) + ".entry k { + }", "line 4: expected an instruction, found '+'"},
      {std::string(header) + ".entry { ret; }", "line 4: function without a name"},
      {std::string(header) + ".global .b32 x", "line 4: statement without end"},
      {std::string(header) + "\n}", "line 5: closing brace outside a function"},
      {instrument(kernel("ret;")).text,
       "line 1: __warpfuzz_coverage is there: the module is instrumented already"},
  };
  for (const ErrorRow& row : rows) {
    try {
      instrument(row.text);
      ADD_FAILURE() << "no error for: " << row.text;
    } catch (const PtxError& error) {
      EXPECT_STREQ(error.what(), row.message);
    }
  }
}

}  // namespace
}  // namespace warpfuzz::ptx
