#include "fuzzers/huge.h"

#include <fmt/format.h>

#include <chrono>

#include "fuzzers/huge_trial.h"
#include "fuzzers/installation.h"
#include "fuzzers/interrupt.h"
#include "fuzzers/kernel_under_test.h"
#include "reference/reference.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

fs::path kernel_object(const HugeOptions& options) {
  const fs::path object = options.prebuilt / (options.kernel.stem().string() + ".so");
  if (!options.prebuilt.empty() && !is_module(options.kernel) && fs::exists(object)) return object;
  constexpr Instrumentation plain = {.coverage = false, .address = false, .undefined = false};
  return build_kernel(Installation::find(), options.kernel, options.device, plain);
}

// Of device code of ours: `name` is that of its source in kernels/cuda.
fs::path work_object(const HugeOptions& options, const std::string& name) {
  if (!options.prebuilt.empty()) {
    const fs::path object = options.prebuilt / (name + ".so");
    if (fs::exists(object)) return object;
    throw UsageError(
        fmt::format("--prebuilt {}: no {}.so there; expected the device "
                    "code that makes and checks tensors, beside the kernels",
                    options.prebuilt.string(), name));
  }
  const Installation installation = Installation::find();
  cuda::CompileRequest request;
  request.cache_directory = installation.cache;
  request.kernel_directory = installation.kernels();
  request.architecture = cuda::architecture_of(options.device.index);
  return cuda::compile_huge(request, (name + ".cu").c_str());
}

// What is wrong without being a matter of size says so.
void compare_with_small(HugeVerdict& verdict, const HugeVerdict* small) {
  if (verdict.gate != "CMP-03" || verdict.details.empty()) return;
  if (verdict.call.small) {
    verdict.gate = "CMP-01";
    verdict.reason = "wrong, and not for its size: the tensors have " + verdict.call.about;
  } else if (small != nullptr && small->outcome == HugeOutcome::finding) {
    verdict.gate = "CMP-01";
    verdict.reason += ", as on call " + std::to_string(small->number) + ", which is smaller";
  } else if (small != nullptr && small->outcome == HugeOutcome::pass) {
    verdict.reason += ", right where the tensors have " + small->call.about;
  }
}

bool same_dtypes(const HugeVerdict& a, const HugeVerdict& b) {
  return a.call.c.dtype_combination == b.call.c.dtype_combination;
}

}  // namespace

std::string_view name(HugeOutcome outcome) {
  constexpr std::string_view names[] = {"pass", "finding", "undecided", "not exercised"};
  return names[static_cast<size_t>(outcome)];
}

void HugeVerdict::find(const char* broken_gate, std::string why, std::vector<std::string> lines) {
  outcome = HugeOutcome::finding;
  gate = broken_gate;
  reason = std::move(why);
  details = std::move(lines);
}

void HugeVerdict::leave_out(std::string why) {
  outcome = HugeOutcome::not_exercised;
  reason = std::move(why);
}

void run_huge(const HugeOptions& options, const std::function<void(const HugeVerdict&)>& tell,
              const std::function<void(const HugeReport&)>& end) {
  row_axis(*options.schema);  // a question without an answer is refused on any machine
  HugeReport report;
  const cuda::Session session(options.device.index);
  report.device_name = session.device_name();
  // No counters: a call may be as long as a GPU can work.
  const std::unique_ptr<cuda::KernelCode> kernel =
      cuda::load_kernel_code(session, kernel_object(options), options.schema.get(), false);
  const cuda::HugeTensors work(session, work_object(options, "huge_tensors"));
  std::optional<cuda::HugeProduct> product;
  const Reference* reference = find_reference(options.schema->name, options.schema->op_type);
  if (reference != nullptr && reference->product) {
    product.emplace(session, work_object(options, "huge_product"));
  }
  const std::vector<HugeCall> calls = huge_calls(
      options.schema, options.dtypes, Preconditions(*options.schema, kernel->preconditions()),
      options.law, options.limits);
  if (options.only && (*options.only < 1 || *options.only > calls.size())) {
    throw UsageError(fmt::format("--only {}: expected 1 to {}", *options.only, calls.size()));
  }

  const InterruptGuard guard;
  HugeTrial trial(session, *kernel, work, product ? &*product : nullptr, options.limits);
  std::optional<HugeVerdict> small;
  for (size_t i = 0; i < calls.size() && !interrupted(); ++i) {
    if (options.only && *options.only != i + 1) continue;
    ++report.calls;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    HugeVerdict verdict;
    if (report.device_lost) {
      verdict.call = calls[i];
      verdict.outcome = HugeOutcome::not_exercised;
      verdict.reason = "a fault has ended this process's use of the device";
    } else {
      verdict = trial.run(calls[i]);
    }
    verdict.number = i + 1;
    verdict.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    compare_with_small(verdict, small && same_dtypes(*small, verdict) ? &*small : nullptr);
    report.exercised += verdict.outcome != HugeOutcome::not_exercised;
    report.findings += verdict.outcome == HugeOutcome::finding;
    report.undecided += verdict.outcome == HugeOutcome::undecided;
    report.device_lost |= verdict.device_lost;
    tell(verdict);
    if (verdict.call.small) small = std::move(verdict);
  }
  end(report);
}

}  // namespace warpfuzz
