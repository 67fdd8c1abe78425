#include "kernels/cuda/huge_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>

#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

constexpr std::chrono::seconds time_limit{60};
constexpr size_t expectation_bytes = size_t{32} << 20;  // that a call asks for, rows permitting

// Memory on the device for what a call takes and gives beside tensors.
class Scratch {
 public:
  Scratch(const Session& session, size_t bytes) : session_(session), bytes_(bytes) {
    session.driver().check(session.driver().allocate(&data_, std::max<size_t>(bytes, 8)),
                           "memory on the device for judging a product");
  }
  Scratch(const Session& session, const void* from, size_t bytes) : Scratch(session, bytes) {
    const Driver& driver = session.driver();
    driver.check(driver.copy_to_device(data_, from, bytes, session.stream()),
                 "a copy to the device");
    driver.check(driver.stream_synchronize(session.stream()), "a copy to the device");
  }
  ~Scratch() { session_.driver().free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  DevicePointer data() const { return data_; }
  void copy_to(void* host) const {
    const Driver& driver = session_.driver();
    driver.check(driver.copy_to_host(host, data_, bytes_, session_.stream()),
                 "a copy from the device");
    driver.check(driver.stream_synchronize(session_.stream()), "a copy from the device");
  }

 private:
  const Session& session_;
  size_t bytes_;
  DevicePointer data_ = 0;
};

DLDataType element_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * info(dtype).bytes);
  const auto code = dtype == DType::bfloat16 ? kDLBfloat : kDLFloat;
  return {static_cast<uint8_t>(code), bits, 1};
}
constexpr DLDataType words{kDLUInt, 64, 1};
constexpr DLDataType integers{kDLInt, 64, 1};
constexpr DLDataType reals{kDLFloat, 64, 1};

}  // namespace

struct HugeProduct::Argument {
  DevicePointer data;
  DLDataType type;
  std::array<int64_t, 2> shape;
};

HugeProduct::HugeProduct(const Session& session, const std::filesystem::path& object)
    : session_(session), object_(load_kernel_object(object)) {}

void HugeProduct::call(huge::ProductTask task, std::span<const Argument> inputs,
                       const Argument& output) const {
  std::vector<DLTensor> tensors;
  std::vector<std::array<int64_t, 2>> strides(inputs.size() + 1), shapes(inputs.size() + 1);
  const auto add = [&](const Argument& argument) {
    const size_t i = tensors.size();
    shapes[i] = argument.shape;
    strides[i] = {argument.shape[1], 1};
    tensors.push_back({reinterpret_cast<void*>(argument.data),
                       {kDLCUDA, session_.index()},
                       2,
                       argument.type,
                       shapes[i].data(),
                       strides[i].data(),
                       0});
  };
  for (const Argument& input : inputs) add(input);
  add(output);
  const WfAttribute attribute = {"task", 0, static_cast<int64_t>(task), 0};
  WfCall call{};
  call.abi_version = WF_ABI_VERSION;
  call.num_inputs = static_cast<int32_t>(inputs.size());
  call.num_outputs = 1;
  call.num_attributes = 1;
  call.inputs = tensors.data();
  call.outputs = &tensors.back();
  call.attributes = &attribute;
  call.stream = session_.stream();
  if (object_.entry(&call) != WF_OK) {
    throw DeviceUnavailable(fmt::format(
        "{}: its device code does not start on this GPU; build it for this architecture",
        object_.path.string()));
  }
  session_.driver().check(session_.wait(time_limit), "judging a product on the device");
}

std::optional<Magnitudes> HugeProduct::magnitudes(const DeviceTensor& tensor) const {
  std::array<uint64_t, 3> found{};
  const Scratch result(session_, sizeof found);
  const Argument input = {tensor.data, element_type(tensor.dtype), {1, tensor.elements}};
  call(huge::ProductTask::magnitudes, std::span(&input, 1),
       {result.data(), words, {1, static_cast<int64_t>(found.size())}});
  result.copy_to(found.data());
  if (found[2] != 0) return std::nullopt;
  return Magnitudes{std::bit_cast<double>(found[0]), std::bit_cast<double>(found[1])};
}

std::vector<huge::RowTally> HugeProduct::judge(const DeviceProduct& p,
                                               const ProductRule& rule) const {
  std::vector<huge::RowTally> tallies(static_cast<size_t>(p.rows));
  const Scratch rule_words(session_, &rule, sizeof rule);
  const Scratch result(session_, tallies.size() * sizeof tallies[0]);
  const Argument inputs[] = {
      {p.a.data, element_type(p.a.dtype), {p.rows, p.addends}},
      {p.b.data, element_type(p.b.dtype), {p.addends, p.columns}},
      {p.c.data, element_type(p.c.dtype), {p.rows, p.columns}},
      {rule_words.data(), reals, {1, sizeof rule / sizeof(double)}},
      {0, integers, {1, 0}},
  };
  call(huge::ProductTask::judge, inputs, {result.data(), words, {p.rows, 1}});
  result.copy_to(tallies.data());
  return tallies;
}

std::vector<ProductExpectation> HugeProduct::expect(const DeviceProduct& p, const ProductRule& rule,
                                                    std::span<const int64_t> rows) const {
  const auto columns = static_cast<size_t>(p.columns);
  std::vector<ProductExpectation> expected;
  expected.reserve(rows.size() * columns);
  const Scratch rule_words(session_, &rule, sizeof rule);
  constexpr auto element_words = static_cast<size_t>(huge::expectation_words);
  const size_t row_bytes = std::max<size_t>(1, columns * element_words * sizeof(double));
  const size_t step = std::max<size_t>(1, expectation_bytes / row_bytes);
  for (size_t begin = 0; begin < rows.size(); begin += step) {
    const std::span<const int64_t> some = rows.subspan(begin, std::min(step, rows.size() - begin));
    const auto count = static_cast<int64_t>(some.size());
    std::vector<double> found(some.size() * columns * element_words);
    const Scratch numbers(session_, some.data(), some.size_bytes());
    const Scratch result(session_, found.size() * sizeof(double));
    const Argument inputs[] = {
        {p.a.data, element_type(p.a.dtype), {p.rows, p.addends}},
        {p.b.data, element_type(p.b.dtype), {p.addends, p.columns}},
        {p.c.data, element_type(p.c.dtype), {p.rows, p.columns}},
        {rule_words.data(), reals, {1, sizeof rule / sizeof(double)}},
        {numbers.data(), integers, {1, count}},
    };
    call(huge::ProductTask::expect, inputs,
         {result.data(), reals, {count, p.columns * huge::expectation_words}});
    result.copy_to(found.data());
    for (size_t i = 0; i < found.size(); i += element_words) {
      const auto classes = static_cast<unsigned>(found[i + 3]);
      expected.push_back({found[i], found[i + 1], found[i + 2], static_cast<uint8_t>(classes & 15),
                          static_cast<uint8_t>(classes >> 4)});
    }
  }
  return expected;
}

}  // namespace warpfuzz::cuda
