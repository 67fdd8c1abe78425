// PTX and cubin kernels on the driver without a GPU, which interprets PTX (ptx_interpreter.h): what
// a manifest may say, what the device makes of it, and how hostile files are refused.
#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "fuzzers/temporary_directory.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/module_manifest.h"
#include "kernels/cuda/ptx/coverage_map.h"
#include "schemas/schema.h"
#include "seeds/value_law.h"

namespace warpfuzz::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y[i] = scale * x[i] for i < n, as little PTX as that takes.
constexpr const char* scale_ptx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(
  .param .u64 x, .param .u64 y, .param .u32 n, .param .f32 factor)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<6>;
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $done;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [factor];
  mul.wide.s32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd5], %f3;
$done:
  ret;
}
)";

constexpr const char* scale_launch =
    R"({"entry": "scale", "grid": ["(m * n + 63) / 64"], "block": [64], "arguments": [)"
    R"({"type": "pointer", "value": "x"}, {"type": "pointer", "value": "y"}, )"
    R"({"type": "int32_t", "value": "m * n"}, {"type": "float", "value": 0.5}]})";

class CudaModule : public testing::Test {
 protected:
  CudaModule() : schema_(load_schema(std::string(WARPFUZZ_SOURCE_DIR) + "/schemas/relu.json")) {
    write("k.ptx", scale_ptx);
  }

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = std::filesystem::path(directory_.path()) / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  void load(const std::string& manifest) { load(write("k.json", manifest)); }
  void load(const std::filesystem::path& manifest) {
    image_.reset();
    kernel_.reset();
    device_ = make_device({.mapped_limit = 0});
    kernel_ = device_->load(manifest, schema_.get());
    image_.emplace(kernel_->image_memory());
  }
  // The message without the directory.
  std::string refusal(const std::string& manifest) {
    try {
      load(manifest);
    } catch (const KernelError& error) {
      std::string text = error.what();
      for (size_t at = 0; (at = text.find(directory_.path() + "/")) != text.npos;) {
        text.erase(at, directory_.path().size() + 1);
      }
      return text;
    }
    return "no error";
  }

  Case make_case(int64_t rows, int64_t columns) const {
    Case c = decode(schema_, {}, {});
    c.axes = {rows, columns};
    c.inputs[0].law = ValueLaw::normal;
    return c;
  }
  RunResult run(const Case& c) {
    inputs_ = make_inputs(c);
    image_->compose(c, inputs_, kernel_->workspace_bytes(c), nan_fill, 1);
    return kernel_->run(c, *image_, {});
  }
  // Output / input, of each element.
  std::vector<float> quotients() const {
    const Tensor output = image_->gather_output(0);
    std::vector<float> x(static_cast<size_t>(output.size())), y(x.size());
    std::memcpy(x.data(), inputs_[0].data.data(), 4 * x.size());
    std::memcpy(y.data(), output.data.data(), 4 * y.size());
    for (size_t i = 0; i < x.size(); ++i) y[i] /= x[i];
    return y;
  }

  const TemporaryDirectory directory_;
  std::shared_ptr<const Schema> schema_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Tensor> inputs_;
  std::optional<MemoryImage> image_;
};

TEST_F(CudaModule, LaunchesAsTheManifestSays) {
  load(fmt::format(R"({{"module": "k.ptx", "preconditions": "n % 2 == 0", "workspace": "8 * m",
                       "launches": [{}]}})",
                   scale_launch));
  EXPECT_EQ(kernel_->preconditions(), "n % 2 == 0");
  EXPECT_EQ(kernel_->workspace_bytes(make_case(3, 4)), 24u);
  const RunResult result = run(make_case(9, 30));
  EXPECT_EQ(result.status, RunStatus::ok) << result.message;
  EXPECT_EQ(result.launches, 1u);
  EXPECT_EQ(result.failed_launches, 0u);
  ASSERT_TRUE(result.device_use);
  EXPECT_EQ(result.device_use->registers, 24u);
  EXPECT_EQ(result.device_use->block_threads, 64u);
  EXPECT_THAT(quotients(), Each(0.5f));
  EXPECT_TRUE(image_->find_damage(inputs_).empty());
  EXPECT_TRUE(kernel_->reset()) << "no variables: every call finds it as it was loaded";
}

TEST_F(CudaModule, PtxIsInstrumented) {
  load(fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", scale_launch));
  const auto map = ptx::CoverageMap::from_json(coverage_map(*kernel_));
  ASSERT_EQ(map.counters.size(), 5u);
  EXPECT_EQ(map.counters[1].comparison, "ge.s32");
  EXPECT_EQ(map.counters[0].file, directory_.path() + "/k.ptx");  // it has no lines of a source
  EXPECT_EQ(kernel_->counters(), 5u);
  // No thread is beyond the end.
  EXPECT_THAT(run(make_case(8, 8)).coverage, ElementsAre(1, 1, 0, 1, 1));
  EXPECT_THAT(run(make_case(8, 9)).coverage, ElementsAre(1, 1, 1, 1, 1));
  image_.reset();  // it lies in memory of the kernel
  device_ = make_device({.coverage = false});
  kernel_ = device_->load(directory_.path() + "/k.json", schema_.get());
  EXPECT_EQ(coverage_map(*kernel_), "");
  EXPECT_EQ(kernel_->counters(), 0u);
}

TEST_F(CudaModule, EmptyGridsAndConditionsMakeNoLaunch) {
  load(fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", scale_launch));
  EXPECT_EQ(run(make_case(0, 5)).launches, 0u);
  std::string conditional = scale_launch;
  conditional.insert(1, R"("when": "T == float16", )");
  load(fmt::format(R"({{"module": "k.ptx", "launches": [{0}, {1}, {0}]}})", conditional,
                   scale_launch));
  EXPECT_EQ(run(make_case(3, 5)).launches, 1u);
}

TEST_F(CudaModule, RefusedLaunchesAreCounted) {
  std::string launch = scale_launch;
  launch.replace(launch.find("[64]"), 4, "[\"m * 64\"]");
  load(fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", launch));
  RunResult result = run(make_case(17, 5));
  EXPECT_EQ(result.status, RunStatus::error);
  EXPECT_EQ(result.failed_launches, 1u);
  EXPECT_EQ(result.message, "invalid argument");
  launch.replace(launch.find("m * 64"), 6, "0 - m");
  load(fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", launch));
  result = run(make_case(17, 5));
  EXPECT_EQ(result.message, "invalid configuration argument");
}

TEST_F(CudaModule, ExamplesRun) {
  for (const char* name : {"relu_vec4", "relu_drops_nan"}) {
    load(std::filesystem::path(WARPFUZZ_SOURCE_DIR) / "kernels/ptx" /
         (std::string(name) + ".json"));
    EXPECT_EQ(run(make_case(6, 10)).launches, 1u) << name;
    const Tensor output = image_->gather_output(0);
    for (size_t i = 0; i < 60; ++i) {
      float x = 0, y = 0;
      std::memcpy(&x, inputs_[0].data.data() + 4 * i, 4);
      std::memcpy(&y, output.data.data() + 4 * i, 4);
      EXPECT_EQ(y, std::max(x, 0.0f)) << name;
    }
  }
}

TEST_F(CudaModule, VariablesAreState) {
  std::string text = scale_ptx;
  text.insert(text.find(".visible"), ".visible .global .align 4 .u32 calls;\n");
  write("k.ptx", text);
  load(fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", scale_launch));
  EXPECT_FALSE(kernel_->reset());
}

struct ErrorRow {
  std::string manifest;  // @ stands for the good launch, with what follows replaced in it
  std::string from, to;  // in it
  std::string message;
};

TEST_F(CudaModule, ErrorsNameTheKey) {
  const std::string whole = R"({"module": "k.ptx", "launches": [@]})";
  const ErrorRow rows[] = {
      {"{", "", "", "k.json: found parse error at line 1, column 2: "},
      {"[]", "", "", "k.json: found [], expected an object"},
      {R"({"launches": [@]})", "", "",
       "k.json: module: found nothing, expected the name of a .ptx or .cubin file"},
      {R"({"module": "k.so", "launches": [@]})", "", "",
       R"(k.json: module: found "k.so", expected the name of a .ptx or .cubin file)"},
      {R"({"module": "other.ptx", "launches": [@]})", "", "",
       R"(k.json: module: found "other.ptx", expected a file: there is no other.ptx)"},
      {R"({"module": "k.ptx", "launches": [], "grid": 1})", "", "",
       "k.json: grid: found an unknown key, expected one of: module, preconditions, workspace, "
       "launches"},
      {R"({"module": "k.ptx", "launches": []})", "", "",
       "k.json: launches: found [], expected a list of launches, at least 1"},
      {R"({"module": "k.ptx", "preconditions": "n % k", "launches": [@]})", "", "",
       R"(k.json: preconditions: column 5 of "n % k": found 'k', expected one of: m, n, T, U, )"},
      {whole, "\"scale\"", "\"scales\"",
       "k.json: launches[0].entry: found \"scales\", expected an entry of k.ptx: scale"},
      {whole, "[64]", "[]", "k.json: launches[0].block: found [], expected a list of extents, at"},
      {whole, "[64]", "[1, 2, 3, 4]",
       "k.json: launches[0].block: found 4 extents, expected at most three: x, y, z"},
      {whole, "[64]", "[2048]",
       "k.json: launches[0].block: found 2048 threads, expected at most 1024, which scale allows"},
      {whole, "[64]", "[0]",
       "k.json: launches[0].block[0]: found 0, expected an integer from 1 to"},
      {whole, "m * n + 63", "m * q",
       R"(k.json: launches[0].grid[0]: column 6 of "(m * q) / 64": found 'q', expected one of: )"},
      {whole, R"("value": "x")", R"("value": "z")",
       R"(k.json: launches[0].arguments[0].value: found "z", expected one of: x, y, workspace, null)"},
      {whole, "int32_t", "int",
       R"(k.json: launches[0].arguments[2].type: found "int", expected one of: pointer, bool, )"},
      {whole, "int32_t", "int64_t",
       "k.json: launches[0].arguments[2].type: found int64_t of 8 bytes, expected int32_t, "
       "uint32_t, float: parameter 2 of scale has 4 bytes"},
      {whole, R"(, {"type": "float", "value": 0.5})", "",
       "k.json: launches[0].arguments: found 3, expected one for each of the 4 parameters of scale "
       "(bytes: 8, 8, 4, 4)"},
      {whole, "0.5", "\"eps\"",
       R"(k.json: launches[0].arguments[3].value: column 1 of "eps": found 'eps', expected one of: )"},
  };
  for (const ErrorRow& row : rows) {
    std::string launch = scale_launch, manifest = row.manifest;
    if (!row.from.empty()) launch.replace(launch.find(row.from), row.from.size(), row.to);
    if (const size_t at = manifest.find('@'); at != manifest.npos) manifest.replace(at, 1, launch);
    EXPECT_THAT(refusal(manifest), HasSubstr(row.message)) << manifest;
  }
}

TEST_F(CudaModule, SizesAreBounded) {
  EXPECT_EQ(refusal(std::string(max_manifest_bytes + 1, ' ')),
            "k.json: found 65537 bytes, expected at most 65536");
  std::string many = "{}";
  for (int i = 0; i < 100; ++i) many += ", {}";
  EXPECT_EQ(refusal(R"({"module": "k.ptx", "launches": [)" + many + "]}"),
            "k.json: launches: found 101 launches, expected at most 64");
  std::filesystem::resize_file(write("k.ptx", ""), max_module_bytes + 1);
  EXPECT_EQ(refusal(fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", scale_launch)),
            "k.ptx: found 67108865 bytes, expected at most 67108864");
}

TEST_F(CudaModule, TextThatIsNoPtx) {
  const std::string manifest =
      fmt::format(R"({{"module": "k.ptx", "launches": [{}]}})", scale_launch);
  write("k.ptx", "hello");
  EXPECT_EQ(refusal(manifest), "k.ptx: line 1: statement without end");
  write("k.ptx", std::string("a\0b", 3));
  EXPECT_EQ(refusal(manifest), "k.ptx: found a zero byte, expected PTX text");
}

// A cubin as far as headers go, with one section.
std::string made_up_cubin(uint16_t machine, uint64_t section_offset) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = machine;
  header.e_shoff = sizeof header;
  header.e_shnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = section_offset;
  section.sh_size = 16;
  std::string bytes(sizeof header + sizeof section, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &section, sizeof section);
  return bytes;
}

TEST_F(CudaModule, CubinsThatWouldMisleadTheDriver) {
  const std::string manifest =
      fmt::format(R"({{"module": "k.cubin", "launches": [{}]}})", scale_launch);
  struct Row {
    std::string bytes, message;
  };
  std::string headers_outside = made_up_cubin(190, 0);
  headers_outside.resize(sizeof(Elf64_Ehdr) + 10);
  const Row rows[] = {
      {scale_ptx, "k.cubin: found no 64-bit ELF file, expected a cubin"},
      {made_up_cubin(62, 0),
       "k.cubin: found an ELF file for machine 62, not CUDA's 190, expected a "
       "cubin"},
      {headers_outside, "k.cubin: found headers beyond its end, expected a cubin"},
      {made_up_cubin(190, UINT64_MAX - 4),
       "k.cubin: found section 0 beyond its end, expected a "
       "cubin"},
      // As far as we look; the driver has the last word.
      {made_up_cubin(190, 0),
       "k.cubin: does not load on fake (sm_90): a fake error "
       "(CUDA_ERROR_FAKE): line 1: "},
  };
  for (const Row& row : rows) {
    write("k.cubin", row.bytes);
    EXPECT_THAT(refusal(manifest), HasSubstr(row.message));
  }
}

TEST(ModuleArguments, TakeAttributesAndStrides) {
  const auto schema = load_schema(std::string(WARPFUZZ_SOURCE_DIR) + "/schemas/rmsnorm.json");
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/k.json";
  std::ofstream(directory.path() + "/k.ptx") << scale_ptx;
  std::ofstream(file) << R"({"module": "k.ptx", "launches": [{"entry": "scale", "grid": [1],
    "block": [1], "arguments": [{"type": "float", "value": "eps"},
    {"type": "int64_t", "value": "x_stride_0"}, {"type": "double", "value": "n"},
    {"type": "int8_t", "value": -128}, {"type": "pointer", "value": "null"},
    {"type": "pointer", "value": "workspace"}]}]})";
  const ModuleManifest manifest = read_module_manifest(file, *schema);
  using enum Argument::Source;
  std::vector<Argument::Source> sources;
  for (const Argument& argument : manifest.launches[0].arguments) {
    sources.push_back(argument.source);
  }
  EXPECT_THAT(sources, ElementsAre(attribute, expression, expression, expression, null, workspace));
  Case c = decode(schema, {}, {});
  c.axes = {3, 20};
  c.inputs[0].layout = Layout::row_strided;
  c.inputs[0].row_padding = 4;
  std::vector<int64_t> values;
  call_values(c, values);
  EXPECT_EQ(manifest.launches[0].arguments[1].expression->evaluate(values), 24);
  EXPECT_EQ(manifest.launches[0].arguments[3].expression->evaluate(values), -128);
}

}  // namespace
}  // namespace warpfuzz::cuda
