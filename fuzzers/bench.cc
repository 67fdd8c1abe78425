#include "fuzzers/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuzzers/installation.h"
#include "fuzzers/kernel_under_test.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

// As a user would compile it: no counters, which cost time.
fs::path build_plain(const fs::path& source, const DeviceChoice& device) {
  constexpr Instrumentation plain = {.coverage = false, .address = false, .undefined = false};
  return build_kernel(Installation::find(), source, device, plain);
}

struct Loaded {
  std::vector<fs::path> objects;
  std::vector<Preconditions> preconditions;
};

Loaded load_preconditions(const BenchOptions& options) {
  Loaded loaded;
  for (const fs::path& source : options.kernels) {
    loaded.objects.push_back(build_plain(source, options.device));
    const std::unique_ptr<Device> device = options.device.open();
    loaded.preconditions.emplace_back(
        *options.schema,
        device->load(loaded.objects.back(), options.schema.get())->preconditions());
  }
  return loaded;
}

}  // namespace

Quantiles quantiles(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.1), quantile(samples, 0.9)};
}

BenchResult run_bench(const BenchOptions& options) {
  // What is wrong with the question shows on any machine.
  bench_shapes(options.schema, options.axes, options.dtypes, {});
  BenchResult result;
  result.op = options.schema->name;
  result.device = options.device.text();
  const cuda::Session session(options.device.index);
  result.device_name = session.device_name();
  result.cache_bytes = session.attribute(cuda::attribute_cache_bytes);

  const Loaded loaded = load_preconditions(options);
  std::vector<const Preconditions*> preconditions;
  for (const Preconditions& p : loaded.preconditions) preconditions.push_back(&p);
  const std::vector<BenchShape> shapes =
      bench_shapes(options.schema, options.axes, options.dtypes, preconditions);
  for (size_t i = 0; i < options.kernels.size(); ++i) {
    BenchVerdict& verdict = result.verdicts.emplace_back();
    if (const auto finding =
            quick_verdict(options, options.kernels[i], loaded.objects[i], verdict)) {
      result.problem = *finding;
      return result;
    }
  }

  std::vector<std::unique_ptr<cuda::TimedKernel>> kernels;
  for (size_t i = 0; i < options.kernels.size(); ++i) {
    kernels.push_back(
        std::make_unique<cuda::TimedKernel>(session, loaded.objects[i], *options.schema));
    result.verdicts[i].counters = kernels.back()->has_counters();
  }
  for (const BenchShape& shape : shapes) {
    ShapeSpeed measured;
    measured.name = shape.name;
    for (const BenchVerdict& verdict : result.verdicts) {
      measured.kernels.emplace_back().name = verdict.kernel;
    }
    try {
      time_shape(session, shape, kernels, options.repeats, measured);
    } catch (const cuda::TimedFailure& failure) {
      result.problem = fmt::format("{}\n  call        {}\n", failure.what(), describe(shape.c));
      return result;
    }
    result.shapes.push_back(std::move(measured));
  }
  return result;
}

}  // namespace warpfuzz
