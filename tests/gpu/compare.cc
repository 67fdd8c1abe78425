// The same cases on both devices: output bits must be equal. For kernels whose arithmetic is exact
// or correctly rounded, such as conversions.cu. Only a NaN equals any other: cuda_fp16.h says that
// __half2float(NaN) "returns NaN", not which.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/number_format.h"
#include "seeds/value_law.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/setup.h"

namespace warpfuzz::gpu {

int compare(const Arguments& a) {
  Setup gpu(a.op, a.kernel);
  const auto cpu_device = make_cpu_device();
  const auto cpu = cpu_device->load(a.other, nullptr);
  const Preconditions preconditions(*gpu.schema, gpu.kernel->preconditions());
  const CaseLimits limits{.max_tier = Tier::unusual,
                          .max_size_class = static_cast<uint8_t>(a.size_class)};
  Random random(a.seed);
  random.discard(2);
  MemoryImage image(gpu.kernel->image_memory());
  uint64_t ran = 0, elements = 0, different = 0, other_nans = 0;
  std::string first;
  const double start = seconds_now();
  for (; ran < a.cases && seconds_now() - start < a.seconds; ++ran) {
    const Case c = draw_case(gpu.schema, preconditions, random, limits);
    const std::vector<Tensor> inputs = make_inputs(c);
    std::vector<Tensor> outputs[2];
    Kernel* const kernels[2] = {gpu.kernel.get(), cpu.get()};
    for (size_t k = 0; k < 2; ++k) {
      // No NaN: what is not written must not pass for one.
      image.compose(c, inputs, kernels[k]->workspace_bytes(c), other_fill, 0);
      if (const RunResult r = kernels[k]->run(c, image, {}); r.status != RunStatus::ok) {
        fmt::print("compare {} FAILED to run on {}: {} : {}\n", a.name, k == 0 ? "cuda" : "cpu",
                   r.faults.empty() ? r.message : r.faults[0].message, describe(c));
        return 1;
      }
      for (size_t i = 0; i < gpu.schema->outputs.size(); ++i) {
        outputs[k].push_back(image.gather_output(i));
      }
    }
    for (size_t i = 0; i < outputs[0].size(); ++i) {
      const size_t bytes = info(outputs[0][i].dtype).bytes;
      for (size_t e = 0; e * bytes < outputs[0][i].data.size(); ++e) {
        ++elements;
        const auto* g = outputs[0][i].data.data() + e * bytes;
        const auto* h = outputs[1][i].data.data() + e * bytes;
        if (std::equal(g, g + bytes, h)) continue;
        uint64_t x = 0, y = 0;
        std::memcpy(&x, g, bytes);
        std::memcpy(&y, h, bytes);
        const DType dtype = outputs[0][i].dtype;
        if (std::isnan(decode_element(dtype, x)) && std::isnan(decode_element(dtype, y))) {
          ++other_nans;
        } else if (different++ == 0) {
          first = fmt::format(" : element {} cuda={:x} cpu={:x} in {}", e, x, y, describe(c));
        }
      }
    }
  }
  fmt::print("compare {} {} cases={} elements={} different={} other_nans={}{}\n", a.name,
             different == 0 ? "OK" : "DIFFERS", ran, elements, different, other_nans, first);
  return different == 0 ? 0 : 1;
}

}  // namespace warpfuzz::gpu
