// The instrumenter of PTX: exact output for a small function, and the constructs that must not
// break.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/cuda/ptx/instrument.h"
#include "tests/ptx_interpreter.h"

namespace warpfuzz::ptx {
namespace {

using ::testing::AllOf;
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
            ".visible .global .align 8 .b32 __warpfuzz_coverage[1];\n"
            ".visible .entry k(\n\t.param .u64 k_p\n)\n{\n"
            "\t.reg .pred \t%wf_new;\n"
            "\t.reg .b32 \t%wf_value, %wf_seen0;\n"
            "\tmov.b32 \t%wf_seen0, 0;\n"
            "\t.reg .pred \t%p<2>;\n"
            "\t.loc\t1 7 3\n"
            "\tor.b32 \t%wf_seen0, %wf_seen0, 1;\n"
            "\tsetp.lt.s32 \t%p1, %r1, 10;\n"
            "\tselp.b32 \t%wf_value, 4, 2, %p1;\n"
            "\tor.b32 \t%wf_seen0, %wf_seen0, %wf_value;\n"
            "\t@%p1 bra \t$L_2;\n"
            "\n"
            "\t.loc\t1 8 3\n"
            "\tor.b32 \t%wf_seen0, %wf_seen0, 8;\n"
            "\tmov.u32 \t%r1, 0;\n"
            "$L_2:\n"
            "\t.loc\t1 9 1\n"
            "\tor.b32 \t%wf_seen0, %wf_seen0, 16;\n"
            "\tld.global.u32 \t%wf_value, [__warpfuzz_coverage+0];\n"
            "\tand.b32 \t%wf_value, %wf_value, %wf_seen0;\n"
            "\tsetp.ne.u32 \t%wf_new, %wf_value, %wf_seen0;\n"
            "\t@%wf_new red.global.or.b32 \t[__warpfuzz_coverage+0], %wf_seen0;\n"
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
  EXPECT_THAT(instrument(kernel("@!%q setp.eq.s32 %p, %r, 1;\n ret;")).text,
              HasSubstr("@!%q or.b32 \t%wf_seen0, %wf_seen0, %wf_value;"));
}

// A kernel of so many comparisons: its words do not fit into registers.
std::string many_comparisons(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) body += "@%q setp.eq.s32 %p, %r, 1;\n";
  return body + " ret;";
}

TEST(PtxInstrument, VeryManyProbesAreWrittenAtOnce) {
  const Instrumented few = instrument(kernel(many_comparisons(63)));
  EXPECT_EQ(few.map.counters.size(), 127u);
  EXPECT_THAT(few.text, AllOf(HasSubstr("__warpfuzz_coverage[4];"), HasSubstr("%wf_seen3")));
  const Instrumented many = instrument(kernel(many_comparisons(64)));
  EXPECT_THAT(many.text, HasSubstr("__warpfuzz_coverage[5];"));
  EXPECT_THAT(many.text, Not(HasSubstr("seen")));
  EXPECT_THAT(many.text, HasSubstr("\tselp.b64 \t%wf_offset, 4, 0, %p;\n"
                                   "\tadd.u64 \t%wf_address, %wf_address, %wf_offset;\n"
                                   "\tselp.b32 \t%wf_bit, 1, 2147483648, %p;\n"
                                   "\tmov.b32 \t%wf_value, -1;\n"
                                   "\t@%q ld.global.u32 \t%wf_value, [%wf_address];\n"));
  EXPECT_THAT(few.text, HasSubstr("\tselp.b32 \t%wf_value, 0, 2147483648, %p;\n"
                                  "\t@%q or.b32 \t%wf_seen0, %wf_seen0, %wf_value;\n"
                                  "\tselp.b32 \t%wf_value, 1, 0, %p;\n"
                                  "\t@%q or.b32 \t%wf_seen1, %wf_seen1, %wf_value;"));
}

TEST(PtxInstrument, ThreadsWriteWhereverTheyEnd) {
  const auto writes = [](std::string_view body) {
    const std::string text = instrument(kernel(body)).text;
    size_t count = 0;
    for (size_t at = 0; (at = text.find("red.global", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(writes("ret;"), 1u);
  EXPECT_EQ(writes("a.b;"), 1u) << "falls off the end";
  EXPECT_EQ(writes("@%p exit;\n ret;"), 2u);
  EXPECT_EQ(writes("@%p bra L;\n ret;\nL: ret.uni;"), 2u);
  EXPECT_EQ(writes("ret;\nL: a.b;"), 2u);
  EXPECT_EQ(writes("a.b; trap;"), 0u);
  EXPECT_EQ(writes("L: bra L;"), 0u);
  EXPECT_THAT(
      instrument(kernel("@!%p ret;\n @%q exit;\n ret;")).text,
      AllOf(HasSubstr("@%p bra \t$wf_go_on0;\n\tld.global"), HasSubstr("@!%p ret;\n$wf_go_on0:"),
            HasSubstr("@!%q bra \t$wf_go_on1;\n"), HasSubstr("@%q exit;\n$wf_go_on1:")));
}

// Whether threads keep their bits or not, the same ones are set, and the results are the same.
TEST(PtxInstrument, BothWaysSetTheSameBits) {
  constexpr std::string_view body =
      "  .reg .pred %p<3>;\n  .reg .b32 %r<5>;\n  .reg .b64 %rd<4>;\n"
      "  mov.u32 %r1, %tid.x;\n"
      "  ld.param.u64 %rd1, [k_p];\n"
      "  setp.gt.s32 %p1, %r1, 5;\n"
      "  @%p1 ret;\n"
      "  mul.wide.s32 %rd2, %r1, 4;\n"
      "  add.s64 %rd3, %rd1, %rd2;\n"
      "loop:\n"
      "  add.s32 %r1, %r1, 3;\n"
      "  @!%p1 setp.lt.s32 %p2, %r1, 9;\n"
      "  @%p2 bra loop;\n"
      "  st.global.u32 [%rd3], %r1;\n"
      "  setp.eq.s32 %p1, %r1, 99;\n"
      "  @!%p1 exit;\n"
      "  add.s32 %r1, %r1, 1;\n"
      "  ret;\n";
  std::vector<std::vector<uint8_t>> bits;
  for (const size_t most_words : {size_t{4}, size_t{0}}) {
    test::PtxProgram program(instrument(kernel(body), {.most_words = most_words}).text);
    for (const unsigned threads : {9u, 1u}) {
      std::array<uint32_t, 6> result{};
      auto* pointer = result.data();
      void* arguments[] = {&pointer};
      program.run(program.entries()[0],
                  {{1, 1, 1}, {threads, 1, 1}, 0, static_cast<void**>(arguments)});
      EXPECT_EQ(result[0], 9u);
      EXPECT_EQ(result[5], threads == 9 ? 11u : 0u);
      std::vector<uint8_t>& array = *program.variable(coverage_symbol);
      bits.push_back(array);
      array.assign(array.size(), 0);
    }
  }
  // entry, beyond 5: no and yes, behind that, loop, below 9: no and yes, behind the loop, 99: no
  // and yes, behind that.
  EXPECT_EQ(bits[0], (std::vector<uint8_t>{0b11111111, 0b00000001, 0, 0}));
  EXPECT_EQ(bits[1], (std::vector<uint8_t>{0b11111011, 0b00000001, 0, 0}));
  EXPECT_EQ(bits[2], bits[0]);
  EXPECT_EQ(bits[3], bits[1]);
}

TEST(PtxInstrument, NoLaunchIsRefusedForRegistersOfOurs) {
  const std::string text = std::string(header) +
                           ".entry k()\n{ ret; }\n"
                           ".entry bounded() .maxntid 128, 1, 1\n{ ret; }\n"
                           ".entry wide()\n{ ret; }\n"
                           ".entry large()\n{ ret; }\n"
                           ".entry unknown()\n{ ret; }\n";
  const std::string result =
      instrument(text, {.registers = {{"k", 26}, {"bounded", 26}, {"wide", 66}, {"large", 250}}})
          .text;
  EXPECT_THAT(result, HasSubstr(".entry k()\n.maxnreg 64\n{"));
  EXPECT_THAT(result, HasSubstr(".entry wide()\n.maxnreg 72\n{"));
  EXPECT_THAT(result, HasSubstr(".entry bounded() .maxntid 128, 1, 1\n{"));
  EXPECT_THAT(result, HasSubstr(".entry large()\n.maxnreg 255\n{"));
  EXPECT_THAT(result, HasSubstr(".entry unknown()\n{"));
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
      instrument(".version 4.0\n.target sm_20\n.entry k { setp.eq.s32 %p, %r, 1; ret; }",
                 {.most_words = 0})
          .text;
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
