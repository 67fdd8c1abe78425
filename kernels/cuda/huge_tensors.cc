#include "kernels/cuda/huge_tensors.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

constexpr std::chrono::seconds time_limit{60};
constexpr size_t result_bytes = huge::count_words * sizeof(uint64_t);
constexpr RandomLaw no_law(ValueLaw::normal, 0, 0, 1);

template <class Request>
Request with_source(Request request, const char* source) {
  request.source = request.kernel_directory / "cuda" / source;
  request.standard = "c++20";
  request.extra_flags = {"-I" + request.kernel_directory.parent_path().string()};
  return request;
}

}  // namespace

std::filesystem::path compile_huge(CompileRequest request, const char* source) {
  request = with_source(std::move(request), source);
  request.extra_flags.insert(request.extra_flags.end(),
                             {"--expt-relaxed-constexpr", "-fmad=false"});
  request.device_coverage = request.host_coverage = false;
  return compile_for_cuda(request);
}

std::filesystem::path compile_huge(warpfuzz::CompileRequest request, const char* source) {
  return compile_for_cpu(with_source(std::move(request), source));
}

HugeTensors::HugeTensors(const Session& session, const std::filesystem::path& object)
    : session_(session), object_(load_kernel_object(object)) {
  session_.driver().check(session_.driver().allocate(&result_, result_bytes),
                          "memory on the device for a count");
}

HugeTensors::~HugeTensors() { session_.driver().free(result_); }

void HugeTensors::call(huge::Task task, const DeviceTensor& tensor, const RandomLaw& law) const {
  const bool writes = task == huge::Task::fill || task == huge::Task::mark_all_ones;
  int64_t elements = tensor.elements, words = huge::count_words, stride = 1;
  const auto bits = static_cast<uint8_t>(8 * info(tensor.dtype).bytes);
  const auto pointer = [](DevicePointer address) { return reinterpret_cast<void*>(address); };
  const DLDevice device = {kDLCUDA, session_.index()};
  const DLTensor data = {
      pointer(tensor.data), device, 1, {kDLUInt, bits, 1}, &elements, &stride, 0};
  const DLTensor result = {pointer(result_), device, 1, {kDLUInt, 64, 1}, &words, &stride, 0};
  const std::array<WfAttribute, 6> attributes = {{
      {"task", 0, static_cast<int64_t>(task), 0},
      {"law", 0, static_cast<int64_t>(law.law), 0},
      {"seed", 0, static_cast<int64_t>(law.seed), 0},
      {"lowest", 0, law.lowest, 0},
      {"largest", 1, 0, law.largest},
      {"dtype", 0, static_cast<int64_t>(tensor.dtype), 0},
  }};
  WfCall call{};
  call.abi_version = WF_ABI_VERSION;
  call.num_inputs = writes ? 0 : 1;
  call.num_outputs = 1;
  call.num_attributes = static_cast<int32_t>(attributes.size());
  call.inputs = &data;
  call.outputs = writes ? &data : &result;
  call.attributes = attributes.data();
  call.stream = session_.stream();
  if (object_.entry(&call) != WF_OK) {
    throw DeviceUnavailable(fmt::format(
        "{}: its device code does not start on this GPU; build it for this architecture",
        object_.path.string()));
  }
  session_.driver().check(session_.wait(time_limit), "making or checking values on the device");
}

ElementCount HugeTensors::counted() const {
  std::array<uint64_t, huge::count_words> result{};
  const Driver& driver = session_.driver();
  driver.check(driver.copy_to_host(result.data(), result_, result_bytes, session_.stream()),
               "a copy from the device");
  driver.check(driver.stream_synchronize(session_.stream()), "a copy from the device");
  return {result[0], result[1], result[2]};
}

void HugeTensors::fill(const DeviceTensor& tensor, const RandomLaw& law) const {
  call(huge::Task::fill, tensor, law);
}

ElementCount HugeTensors::count_other(const DeviceTensor& tensor, const RandomLaw& law) const {
  call(huge::Task::count_other, tensor, law);
  return counted();
}

ElementCount HugeTensors::count_all_ones(const DeviceTensor& tensor) const {
  call(huge::Task::count_all_ones, tensor, no_law);
  return counted();
}

ElementCount HugeTensors::count_marks(const DeviceTensor& tensor) const {
  call(huge::Task::count_marks, tensor, no_law);
  return counted();
}

void HugeTensors::mark_all_ones(const DeviceTensor& tensor) const {
  call(huge::Task::mark_all_ones, tensor, no_law);
}

}  // namespace warpfuzz::cuda
