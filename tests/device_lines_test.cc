// Lines of device code from the counters of instrumented PTX.
#include "kernels/cuda/device_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/ptx/instrument.h"

namespace warpfuzz::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Two instances of one template; lines 3 and 7 of k.cu, line 9 of inlined.h, and a header of the
// toolkit.
constexpr const char* text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry a()
{
  .loc 1 3 1
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $end;
  .loc 2 9 1
  add.s32 %r1, %r1, 1;
  .loc 1 7 1
  setp.ge.s32 %p2, %r1, 8;
  setp.lt.f32 %p3, %f1, %f2;
$end:
  .loc 1 8 1
  ret;
}
.visible .entry b()
{
  .loc 1 3 1
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $end;
  .loc 1 7 1
  setp.ge.s32 %p2, %r1, 8;
  .loc 3 100 1
  add.s32 %r1, %r1, 1;
$end:
  .loc 1 8 1
  ret;
}
.file 1 "k.cu"
.file 2 "/src/inlined.h"
.file 3 "/usr/include/math.h"
)";

TEST(DeviceLines, BlocksHoldLines) {
  const ptx::CoverageMap map = ptx::instrument(text).map;
  EXPECT_EQ(ptx::CoverageMap::from_json(map.to_json()).lines, map.lines);
  std::vector<uint64_t> hits(map.counters.size());
  // Entry a three times, always beyond the end; entry b twice, once to its end.
  for (size_t slot = 0; slot < hits.size(); ++slot) {
    const ptx::Counter& counter = map.counters[slot];
    const bool a = counter.function == "a";
    using enum ptx::CounterKind;
    if (counter.kind == entry) hits[slot] = a ? 3 : 2;
    if (counter.kind == fall_through) hits[slot] = a ? 0 : 1;
    if (counter.kind == label) hits[slot] = a ? 3 : 2;
    if (counter.line == 3 && counter.kind == predicate_true) hits[slot] = a ? 3 : 1;
    if (counter.line == 3 && counter.kind == predicate_false) hits[slot] = a ? 0 : 1;
    if (counter.line == 7 && counter.kind == predicate_true) hits[slot] = a ? 0 : 1;
  }
  const std::vector<FileCounts> files = device_line_counts(map, hits, "/src/k.cu");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].file, "/src/k.cu");
  EXPECT_THAT(files[0].lines, ElementsAre(Pair(3, 3), Pair(7, 1), Pair(8, 3)));
  EXPECT_EQ(files[1].file, "/src/inlined.h");
  EXPECT_THAT(files[1].lines, ElementsAre(Pair(9, 0)));
  ASSERT_EQ(files[0].branches.size(), 3u);
  const BranchCount& end = files[0].branches[0];
  EXPECT_EQ(end.line, 3);
  EXPECT_EQ(end.comparison, "ge.s32");
  EXPECT_THAT(end.taken, ElementsAre(3, 1));
  EXPECT_EQ(files[0].branches[1].comparison, "ge.s32");
  EXPECT_THAT(files[0].branches[1].taken, ElementsAre(1, 0));
  EXPECT_EQ(files[0].branches[2].comparison, "lt.f32");
  EXPECT_THAT(files[0].branches[2].taken, ElementsAre(0, 0));
}

TEST(DeviceLines, WithoutLinesThoseOfThePtx) {
  const std::string plain =
      ".version 7.0\n.target sm_80\n.visible .entry a()\n{\n"
      "  add.s32 %r1, %r1, 1;\n  ret;\n}\n";
  EXPECT_TRUE(ptx::instrument(plain).map.lines.empty());
  const ptx::CoverageMap map = ptx::instrument(plain, {.lines_of_text = "/src/k.ptx"}).map;
  const std::vector<uint64_t> hits = {4};
  const std::vector<FileCounts> files = device_line_counts(map, hits, "/src/k.ptx");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0].lines, ElementsAre(Pair(5, 4), Pair(6, 4)));
}

TEST(DeviceLines, MapsThatLieAreRefused) {
  ptx::CoverageMap map;
  map.counters.resize(1);
  map.files = {"k.cu"};
  map.lines = {{1, 0, 7}};
  EXPECT_THROW(ptx::CoverageMap::from_json(map.to_json()), std::runtime_error);
  map.lines = {{0, 1, 7}};
  EXPECT_THROW(ptx::CoverageMap::from_json(map.to_json()), std::runtime_error);
}

}  // namespace
}  // namespace warpfuzz::cuda
