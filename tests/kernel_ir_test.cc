// What is added to LLVM IR, and what is left alone.
#include "kernels/simt/kernel_ir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace warpfuzz {
namespace {

struct Row {
  const char* name;
  const char* ir;
  const char* added;  // before the last line; empty: the text stays as it is
};

const Row rows[] = {
    {"LoadedPointer",
     "define void @k(ptr %p) {\n"
     "  %v = alloca %struct.float4, align 16\n"
     "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %v, ptr align 16 %p, i64 16, i1 false), !dbg "
     "!7\n",
     "  call void @wf.check_alignment(ptr %p, i64 15), !dbg !7\n"},
    {"BothOperands",
     "define void @k(ptr %0, ptr %1) {\n"
     "  call void @llvm.memmove.p0.p0.i64(ptr align 8 %0, ptr noundef align 4 %1, i64 8, i1 "
     "false)\n",
     "  call void @wf.check_alignment(ptr %0, i64 7)\n"
     "  call void @wf.check_alignment(ptr %1, i64 3)\n"},
    {"Bytes",
     "  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %a, ptr align 1 %b, i64 3, i1 false)\n", ""},
    {"ParametersOnTheStack",
     "define void @k(ptr noundef byval(%struct.View) align 8 %x) {\n"
     "  %y = alloca %struct.View, align 8\n"
     "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %y, ptr align 8 %x, i64 24, i1 false)\n",
     ""},
    {"Constants",
     "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 @table, ptr align 16 %\"odd name\", i64 16, "
     "i1 "
     "false)\n",
     "  call void @wf.check_alignment(ptr %\"odd name\", i64 15)\n"},
    {"OtherCalls", "  call void @llvm.memset.p0.i64(ptr align 16 %p, i8 0, i64 16, i1 false)\n",
     ""},
};

class Alignment : public testing::TestWithParam<Row> {};

TEST_P(Alignment, IsCheckedBeforeStructCopies) {
  const Row& row = GetParam();
  const std::string ir = row.ir;
  std::string expected = ir;
  expected.insert(ir.rfind('\n', ir.size() - 2) + 1, row.added);
  EXPECT_THAT(add_alignment_checks(ir), testing::StartsWith(expected));
  EXPECT_THAT(add_alignment_checks(ir),
              testing::HasSubstr("declare void @wf_misaligned(ptr, i64)"));
}

INSTANTIATE_TEST_SUITE_P(Rows, Alignment, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(VolatilePolls, FollowLoadsOfVolatileVariables) {
  EXPECT_EQ(add_volatile_polls("  %3 = load volatile i32, ptr %p, align 4, !dbg !12, !tbaa !5\n"
                               "  %4 = load i32, ptr %p, align 4, !dbg !13\n"
                               "  store volatile i32 %4, ptr %p, align 4, !dbg !14\n"
                               "  %5 = load atomic volatile i32, ptr %p monotonic, align 4\n"),
            "  %3 = load volatile i32, ptr %p, align 4, !dbg !12, !tbaa !5\n"
            "  call void @wf_volatile_read(), !dbg !12\n"
            "  %4 = load i32, ptr %p, align 4, !dbg !13\n"
            "  store volatile i32 %4, ptr %p, align 4, !dbg !14\n"
            "  %5 = load atomic volatile i32, ptr %p monotonic, align 4\n"
            "  call void @wf_volatile_read()\n"
            "declare void @wf_volatile_read()\n");
  const std::string other = "@s = constant [23 x i8] c\" %1 = load volatile i32\\00\"\n";
  EXPECT_EQ(add_volatile_polls(other), other);
}

}  // namespace
}  // namespace warpfuzz
