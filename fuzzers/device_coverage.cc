#include "fuzzers/device_coverage.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuzzers/isolated.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/trial.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/device_lines.h"
#include "kernels/cuda/module_manifest.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

// What one process found out before it ended or lost the device.
struct Progress {
  size_t next = 0;  // the first case that was not run
  size_t cases = 0;
  size_t faulted = 0;
  std::vector<uint64_t> hits;  // per counter: cases that set it
  std::string map;
};

// Whether the device still answers.
bool run_cases(const KernelUnderTest& under_test, const std::shared_ptr<const Schema>& schema,
               const std::vector<Case>& cases, Progress& progress) {
  Kernel& kernel = *under_test.kernel;
  const Preconditions preconditions(*schema, kernel.preconditions());
  MemoryImage image(kernel.image_memory());
  bool lost = false;
  for (; progress.next < cases.size() && !lost; ++progress.next) {
    const Case& c = cases[progress.next];
    if (!preconditions.admit(c)) continue;
    const std::vector<Tensor> inputs = make_inputs(c);
    image.compose(c, inputs, kernel.workspace_bytes(c), nan_fill, 0);
    const RunResult run = kernel.run(c, image, {});
    ++progress.cases;
    if (run.status == RunStatus::fault) ++progress.faulted;
    lost = run.device_lost;
    if (lost) continue;
    for (size_t i = 0; i < run.coverage.size(); ++i) progress.hits[i] += run.coverage[i] != 0;
  }
  return !lost;
}

// In a process of its own, which ends afterwards: nothing is given back to a lost device, which
// might never answer.
std::string run_and_tell(const fs::path& source, const fs::path& object, const DeviceChoice& device,
                         const std::shared_ptr<const Schema>& schema,
                         const std::vector<Case>& cases, size_t first) {
  auto under_test = std::make_unique<KernelUnderTest>(load_kernel(source, object, device, *schema));
  Progress progress;
  progress.next = first;
  progress.map = cuda::coverage_map(*under_test->kernel);
  progress.hits.resize(under_test->kernel->counters());
  if (progress.hits.empty()) {
    throw KernelError(fmt::format(
        "{}: its device code has no counters; coverage on a GPU needs a .cu file, or a PTX kernel "
        "(a cubin cannot be instrumented)",
        source.string()));
  }
  if (!run_cases(*under_test, schema, cases, progress)) static_cast<void>(under_test.release());
  return nlohmann::json{{"next", progress.next},
                        {"cases", progress.cases},
                        {"faulted", progress.faulted},
                        {"hits", progress.hits},
                        {"map", progress.map}}
      .dump();
}

void add(const std::string& told, Progress& total) {
  const auto json = nlohmann::json::parse(told);
  total.next = json.at("next");
  total.cases += json.at("cases").get<size_t>();
  total.faulted += json.at("faulted").get<size_t>();
  total.map = json.at("map");
  const auto hits = json.at("hits").get<std::vector<uint64_t>>();
  total.hits.resize(hits.size());
  for (size_t i = 0; i < hits.size(); ++i) total.hits[i] += hits[i];
}

}  // namespace

KernelCoverage measure_device_coverage(const Installation& installation,
                                       const std::shared_ptr<const Schema>& schema,
                                       const fs::path& source, const WorkDirectory& work,
                                       const CaseLimits& limits, const DeviceChoice& device) {
  const fs::path object = build_kernel(installation, source, device, {.coverage = true});
  const std::vector<Case> cases = stored_cases(schema, work, limits);
  Progress total;
  do {
    add(ask_isolated(
            [&] { return run_and_tell(source, object, device, schema, cases, total.next); }),
        total);
  } while (total.next < cases.size());
  KernelCoverage coverage{
      .cases = total.cases, .faulted = total.faulted, .device_code = true, .files = {}};
  coverage.files = cuda::device_line_counts(ptx::CoverageMap::from_json(total.map), total.hits,
                                            is_module(source) ? cuda::module_of(source) : source);
  return coverage;
}

}  // namespace warpfuzz
