// libFuzzer on one kernel until its first violation: how many runs it takes with the counters of
// the device code, and without them. Both have the features of the harness and of the host code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "fuzzers/features.h"
#include "fuzzers/proposals.h"
#include "kernels/cuda/counter_registration.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/setup.h"

extern "C" {
int LLVMFuzzerRunDriver(int* argc, char*** argv, int (*callback)(const uint8_t* data, size_t size));
__attribute__((section(
    "__libfuzzer_extra_counters"))) uint8_t gpu_feature_counters[warpfuzz::feature_counter_count];
}

namespace warpfuzz::gpu {
namespace {

struct Search {
  const Arguments& arguments;
  Setup setup;
  Trial trial;
  CaseLimits limits;
  cuda::RegisteredCounters counters;
  Proposals proposals;
  uint64_t runs = 0;
  double start = seconds_now();

  static cuda::DeviceOptions options(const Arguments& a) {
    cuda::DeviceOptions device;
    device.coverage = a.device_coverage;
    return device;
  }
  explicit Search(const Arguments& a)
      : arguments(a),
        setup(a.op, a.kernel, options(a)),
        trial(setup.schema, *setup.kernel),
        limits{.max_tier = static_cast<Tier>(a.tier),
               .max_size_class = static_cast<uint8_t>(a.size_class)},
        counters(setup.kernel->counters()),
        proposals(setup.schema, limits, a.constants) {}
};
Search* search_state = nullptr;

void print_end(const char* outcome, const std::string& detail) {
  const Search& s = *search_state;
  const double seconds = seconds_now() - s.start;
  fmt::print("search {} device_coverage={} {} runs={} seconds={:.1f} per_second={:.0f}{}\n",
             s.arguments.name, s.arguments.device_coverage, outcome, s.runs, seconds,
             static_cast<double>(s.runs) / seconds, detail);
  std::fflush(stdout);
}

size_t write_case(const Case& c, uint8_t* out, size_t capacity) {
  const std::vector<uint8_t> bytes = encode(c);
  const size_t size = std::min(bytes.size(), capacity);
  std::copy_n(bytes.begin(), size, out);
  return size;
}

int run_one(const uint8_t* data, size_t size) {
  Search& s = *search_state;
  const Case c = decode(s.setup.schema, {data, size}, s.limits);
  const TrialResult result = s.trial.run(c);
  if (result.outcome == TrialOutcome::excluded) return -1;
  ++s.runs;
  if (result.outcome == TrialOutcome::violation) {
    print_end("FOUND", fmt::format(" gate={} : {}", result.gate->id, describe(c)));
    _exit(0);
  }
  record_features(c, result, gpu_feature_counters);
  s.counters.add(result.primary.run.coverage);
  s.proposals.record(c, result.primary.run.coverage);
  if (s.runs >= s.arguments.cases || seconds_now() - s.start > s.arguments.seconds) {
    print_end("NOT-FOUND", "");
    _exit(0);
  }
  return 0;
}

}  // namespace

int search(const Arguments& a) {
  search_state = new Search(a);
  std::string seed = fmt::format("-seed={}", a.seed);
  std::string arguments[] = {
      "gpu_check",      "-timeout=20",  "-rss_limit_mb=0", "-detect_leaks=0", "-verbosity=0",
      "-len_control=0", "-print_pcs=0", "-use_counters=1", "-mutate_depth=1", seed};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  char** pointer = argv.data();
  return LLVMFuzzerRunDriver(&argc, &pointer, run_one);
}

}  // namespace warpfuzz::gpu

extern "C" {

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace warpfuzz;
  const gpu::Search& s = *gpu::search_state;
  Random random(seed);
  random.discard(2);
  const Case base = decode(s.setup.schema, {data, size}, s.limits);
  return gpu::write_case(size == 0 ? s.proposals.fresh(random) : s.proposals.variant(base, random),
                         data, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                 uint8_t* out, size_t max_out_size, unsigned seed) {
  using namespace warpfuzz;
  const gpu::Search& s = *gpu::search_state;
  Random random(seed);
  random.discard(2);
  const Case first = decode(s.setup.schema, {a, a_size}, s.limits);
  const Case second = decode(s.setup.schema, {b, b_size}, s.limits);
  return gpu::write_case(s.proposals.child(first, second, random), out, max_out_size);
}
}
