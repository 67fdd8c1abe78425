#include "kernels/memory_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace warpfuzz {
namespace {

// y[m,n] = f(x[m,n]) in float32, without a schema file.
std::shared_ptr<const Schema> make_schema() {
  auto schema = std::make_shared<Schema>();
  schema->name = "copy";
  for (const char* axis : {"m", "n"}) {
    Axis a;
    a.name = axis;
    a.maximum = 1 << 20;
    schema->axes.push_back(a);
  }
  schema->dtype_variables = {"T"};
  schema->dtype_combinations = {{{DType::float32}, Tier::everyday}};
  TensorSpec x;
  x.name = "x";
  x.axes = {0, 1};
  schema->inputs = {x};
  x.name = "y";
  schema->outputs = {x};
  return schema;
}

Case make_case(int64_t m, int64_t n) {
  Case c;
  c.schema = make_schema();
  c.axes = {m, n};
  c.inputs.resize(1);
  c.outputs.resize(1);
  return c;
}

Tensor make_ramp(int64_t m, int64_t n) {
  Tensor tensor;
  tensor.shape = {m, n};
  std::vector<float> values(static_cast<size_t>(m * n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  tensor.data.resize(values.size() * 4);
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

void repeat_first_row(Tensor& tensor) {
  const size_t row = static_cast<size_t>(tensor.shape[1]) * 4;
  for (size_t i = row; i < tensor.data.size(); ++i) tensor.data[i] = tensor.data[i - row];
}

// Copies x to y through the strides of the image, as a kernel would.
void run_copy(MemoryImage& image) {
  const Region& x = image.input(0);
  const Region& y = image.output(0);
  for (int64_t i = 0; i < x.shape[0]; ++i) {
    for (int64_t j = 0; j < x.shape[1]; ++j) {
      const auto from = static_cast<size_t>(i * x.strides[0] + j * x.strides[1]) * 4;
      const auto to = static_cast<size_t>(i * y.strides[0] + j * y.strides[1]) * 4;
      std::memcpy(&image.bytes()[y.first_element + to], &image.bytes()[x.first_element + from], 4);
    }
  }
}

struct LayoutRow {
  Layout input, output;
  int64_t padding, offset;
};

class Layouts : public testing::TestWithParam<LayoutRow> {};

TEST_P(Layouts, GatherWhatWasCopied) {
  for (const auto& [m, n] : {std::pair{5L, 7L}, {1L, 1L}, {1L, 9L}, {9L, 1L}, {0L, 3L}, {3L, 0L}}) {
    Case c = make_case(m, n);
    c.inputs[0].layout = GetParam().input;
    c.outputs[0].layout = GetParam().output;
    c.inputs[0].row_padding = GetParam().input == Layout::row_strided ? GetParam().padding : 0;
    c.outputs[0].row_padding = GetParam().output == Layout::row_strided ? GetParam().padding : 0;
    c.inputs[0].offset = c.outputs[0].offset = GetParam().offset;
    Tensor x = make_ramp(m, n);
    if (GetParam().input == Layout::broadcast) repeat_first_row(x);
    MemoryImage image;
    image.compose(c, std::span(&x, 1), 0, nan_fill, 3);
    EXPECT_EQ(image.gather_output(0).data,
              std::vector(static_cast<size_t>(m * n) * 4, std::byte{0xFF}));
    if (GetParam().input != Layout::broadcast) {
      run_copy(image);
      EXPECT_EQ(image.gather_output(0).data, x.data) << m << "x" << n;
    }
    EXPECT_TRUE(image.find_damage(std::span(&x, 1)).empty());
    EXPECT_EQ(image.input(0).first_element % 4, 0u);
    EXPECT_EQ(image.input(0).first_element % 256, static_cast<size_t>(GetParam().offset) * 4 % 256);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Values(LayoutRow{Layout::contiguous, Layout::contiguous, 0, 0},
                                         LayoutRow{Layout::row_strided, Layout::contiguous, 3, 0},
                                         LayoutRow{Layout::contiguous, Layout::row_strided, 5, 1},
                                         LayoutRow{Layout::transposed, Layout::contiguous, 0, 2},
                                         LayoutRow{Layout::contiguous, Layout::transposed, 0, 0},
                                         LayoutRow{Layout::broadcast, Layout::contiguous, 0, 0}));

TEST(MemoryImage, BroadcastRowsShareTheirMemory) {
  Case c = make_case(4, 3);
  c.inputs[0].layout = Layout::broadcast;
  const Tensor x = make_ramp(4, 3);
  MemoryImage image;
  image.compose(c, std::span(&x, 1), 0, nan_fill, 0);
  EXPECT_EQ(image.input(0).strides, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(image.input(0).end - image.input(0).begin, 12u);
}

struct DamageRow {
  const char* name;
  Layout output_layout;
  // Where one byte is changed, from the regions of the image.
  size_t (*where)(const MemoryImage&);
  RegionKind kind;
  const char* text;
};

class DamageIsFound : public testing::TestWithParam<DamageRow> {};

TEST_P(DamageIsFound, AndNamed) {
  Case c = make_case(4, 3);
  c.outputs[0].layout = GetParam().output_layout;
  if (GetParam().output_layout == Layout::row_strided) c.outputs[0].row_padding = 2;
  const Tensor x = make_ramp(4, 3);
  MemoryImage image;
  image.compose(c, std::span(&x, 1), 0, nan_fill, 0);
  image.bytes()[GetParam().where(image)] ^= std::byte{1};
  const std::vector<Damage> damage = image.find_damage(std::span(&x, 1));
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].where, GetParam().text);
  EXPECT_EQ(damage[0].kind, GetParam().kind);
  EXPECT_EQ(damage[0].bytes, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    All, DamageIsFound,
    testing::Values(DamageRow{"input", Layout::contiguous,
                              [](const MemoryImage& i) { return i.input(0).begin + 5; },
                              RegionKind::input, "input x"},
                    DamageRow{"past", Layout::contiguous,
                              [](const MemoryImage& i) { return i.output(0).end; },
                              RegionKind::guard, "the guard after output y"},
                    DamageRow{"before", Layout::contiguous,
                              [](const MemoryImage& i) { return i.output(0).begin - 1; },
                              RegionKind::guard, "the guard after input x"},
                    DamageRow{"first", Layout::contiguous,
                              [](const MemoryImage&) { return size_t{0}; }, RegionKind::guard,
                              "the guard before the first tensor"},
                    DamageRow{"last_of_input", Layout::contiguous,
                              [](const MemoryImage& i) { return i.input(0).end - 1; },
                              RegionKind::input, "input x"},
                    DamageRow{"gap", Layout::row_strided,
                              [](const MemoryImage& i) { return i.output(0).begin + 13; },
                              RegionKind::output, "the gap between rows of output y"}),
    [](const auto& row) { return row.param.name; });

TEST(MemoryImage, EveryByteOfAnInputIsWatched) {
  for (const Layout layout : {Layout::row_strided, Layout::transposed, Layout::broadcast}) {
    Case c = make_case(4, 3);
    c.inputs[0].layout = layout;
    if (layout == Layout::row_strided) c.inputs[0].row_padding = 2;
    Tensor x = make_ramp(4, 3);
    if (layout == Layout::broadcast) repeat_first_row(x);
    MemoryImage image;
    image.compose(c, std::span(&x, 1), 0, other_fill, 0);
    for (size_t i = image.input(0).begin; i < image.input(0).end; ++i) {
      image.bytes()[i] ^= std::byte{1};
      const std::vector<Damage> damage = image.find_damage(std::span(&x, 1));
      ASSERT_EQ(damage.size(), 1u) << name(layout) << " byte " << i;
      EXPECT_EQ(damage[0].where, "input x");
      EXPECT_EQ(damage[0].offset, i - image.input(0).begin);
      image.bytes()[i] ^= std::byte{1};
    }
    EXPECT_TRUE(image.find_damage(std::span(&x, 1)).empty());
  }
}

TEST(MemoryImage, ASmallerImageLeavesNothingOfALargerOneBehindItself) {
  const Case large = make_case(40, 30), small = make_case(4, 3);
  const Tensor x = make_ramp(40, 30), y = make_ramp(4, 3);
  MemoryImage image;
  image.compose(large, std::span(&x, 1), 0, nan_fill, 0);
  const size_t before = image.bytes().size();
  std::memset(image.bytes().data(), 7, before);
  image.compose(small, std::span(&y, 1), 0, nan_fill, 0);
  const std::byte* const block = image.bytes().data();
  ASSERT_LT(image.bytes().size(), before);
  for (size_t i = image.bytes().size(); i < before; ++i) ASSERT_EQ(block[i], std::byte{0xFF}) << i;
}

TEST(MemoryImage, OutputsAndWorkspaceMayChange) {
  const Case c = make_case(4, 3);
  const Tensor x = make_ramp(4, 3);
  MemoryImage image;
  image.compose(c, std::span(&x, 1), 100, other_fill, 2);
  ASSERT_NE(image.workspace(), nullptr);
  EXPECT_EQ(image.workspace()->first_element % 256, 0u);
  for (const Region* region : {&image.output(0), image.workspace()}) {
    for (size_t i = region->begin; i < region->end; ++i) image.bytes()[i] = std::byte{0};
  }
  EXPECT_TRUE(image.find_damage(std::span(&x, 1)).empty());
}

TEST(MemoryImage, GuardsAndGapsMayHoldAnotherPatternThanOutputs) {
  Case c = make_case(4, 3);
  c.outputs[0].layout = Layout::row_strided;
  c.outputs[0].row_padding = 2;
  const Tensor x = make_ramp(4, 3);
  MemoryImage image;
  image.compose(c, std::span(&x, 1), 100, Fill{Poison::quiet_nan, Poison::other}, 0);
  EXPECT_EQ(image.gather_output(0).data, std::vector(size_t{4 * 3 * 4}, std::byte{0xFF}));
  EXPECT_EQ(image.bytes()[image.workspace()->begin], std::byte{0xFF});
  EXPECT_EQ(image.bytes()[image.output(0).begin + 3 * 4], std::byte{0x5A});  // the first gap
  EXPECT_EQ(image.bytes()[0], std::byte{0x5A});
  EXPECT_TRUE(image.find_damage(std::span(&x, 1)).empty());
}

TEST(MemoryImage, PlacementSeedMovesTensors) {
  const Case c = make_case(4, 3);
  const Tensor x = make_ramp(4, 3);
  MemoryImage a, b;
  a.compose(c, std::span(&x, 1), 0, nan_fill, 0);
  b.compose(c, std::span(&x, 1), 0, nan_fill, 1);
  EXPECT_NE(a.input(0).begin, b.input(0).begin);
}

TEST(MemoryImage, RegionsCoverTheBlock) {
  const Case c = make_case(4, 3);
  const Tensor x = make_ramp(4, 3);
  MemoryImage image;
  image.compose(c, std::span(&x, 1), 40, nan_fill, 5);
  size_t at = 0;
  for (const Region& region : image.regions()) {
    EXPECT_EQ(region.begin, at);
    EXPECT_LE(region.begin, region.end);
    at = region.end;
  }
  EXPECT_EQ(at, image.bytes().size());
}

TEST(MemoryImage, AddressesInWords) {
  const Case c = make_case(4, 3);
  const Tensor x = make_ramp(4, 3);
  MemoryImage image;
  image.compose(c, std::span(&x, 1), 0, nan_fill, 0);
  const std::byte* base = image.bytes().data();
  EXPECT_EQ(image.describe_address(base + image.output(0).end), "0 bytes past the end of output y");
  EXPECT_EQ(image.describe_address(base + image.input(0).begin), "input x[0,0]");
  EXPECT_EQ(image.describe_address(base + image.output(0).end - 2), "output y[3,2] + 2 bytes");
  EXPECT_EQ(image.describe_address(base + image.input(0).begin - 4),
            "4 bytes before the start of input x");
  EXPECT_EQ(image.describe_address(base - 1), "outside the memory of this call");
}

}  // namespace
}  // namespace warpfuzz
