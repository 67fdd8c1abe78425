#include "fuzzers/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "fuzzers/errors.h"
#include "fuzzers/features.h"

extern "C" {
int LLVMFuzzerRunDriver(int* argc, char*** argv, int (*callback)(const uint8_t* data, size_t size));

// libFuzzer reads and clears every byte of this section around each run.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t
    warpfuzz_feature_counters[warpfuzz::feature_counter_count];
}

namespace warpfuzz {
namespace {

// libFuzzer's interface has no room for a context.
Worker* the_worker = nullptr;

int run_one(const uint8_t* data, size_t size) {
  return the_worker->run({data, size}, warpfuzz_feature_counters);
}

template <typename Number>
Number parse_number(std::string_view name, std::string_view value) {
  Number number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    throw UsageError(fmt::format("--{}={}: expected a number", name, value));
  }
  return number;
}

// Our options, as data: name, how to set, how to print.
struct Option {
  std::string_view name;
  void (*set)(WorkerOptions&, std::string_view name, std::string_view value);
  std::string (*get)(const WorkerOptions&);
};
constexpr std::array options = {
    Option{"op", [](WorkerOptions& o, std::string_view, std::string_view v) { o.op = v; },
           [](const WorkerOptions& o) { return o.op; }},
    Option{"kernel", [](WorkerOptions& o, std::string_view, std::string_view v) { o.kernel = v; },
           [](const WorkerOptions& o) { return o.kernel.string(); }},
    Option{"object", [](WorkerOptions& o, std::string_view, std::string_view v) { o.object = v; },
           [](const WorkerOptions& o) { return o.object.string(); }},
    Option{"work", [](WorkerOptions& o, std::string_view, std::string_view v) { o.work = v; },
           [](const WorkerOptions& o) { return o.work.string(); }},
    Option{"alone", [](WorkerOptions& o, std::string_view, std::string_view v) { o.alone = v; },
           [](const WorkerOptions& o) { return o.alone.string(); }},
    Option{"device",
           [](WorkerOptions& o, std::string_view, std::string_view v) {
             o.device = DeviceChoice::parse(std::string(v));
           },
           [](const WorkerOptions& o) { return o.device.text(); }},
    Option{"index",
           [](WorkerOptions& o, std::string_view n, std::string_view v) {
             o.index = parse_number<size_t>(n, v);
           },
           [](const WorkerOptions& o) { return fmt::to_string(o.index); }},
    Option{"threads",
           [](WorkerOptions& o, std::string_view n, std::string_view v) {
             o.threads = std::clamp(parse_number<size_t>(n, v), size_t{1}, most_threads);
           },
           [](const WorkerOptions& o) { return fmt::to_string(o.threads); }},
    Option{"keep-going",
           [](WorkerOptions& o, std::string_view n, std::string_view v) {
             o.keep_going = parse_number<int>(n, v) != 0;
           },
           [](const WorkerOptions& o) { return fmt::to_string(int{o.keep_going}); }},
    Option{"guided",
           [](WorkerOptions& o, std::string_view n, std::string_view v) {
             o.guided = parse_number<int>(n, v) != 0;
           },
           [](const WorkerOptions& o) { return fmt::to_string(int{o.guided}); }},
    Option{
        "tier",
        [](WorkerOptions& o, std::string_view n, std::string_view v) {
          o.limits.max_tier = static_cast<Tier>(std::clamp(parse_number<int>(n, v), 1, 3));
        },
        [](const WorkerOptions& o) { return fmt::to_string(static_cast<int>(o.limits.max_tier)); }},
    Option{"size-class",
           [](WorkerOptions& o, std::string_view n, std::string_view v) {
             o.limits.max_size_class = static_cast<uint8_t>(
                 std::clamp(parse_number<int>(n, v), 0, int{size_class_count - 1}));
           },
           [](const WorkerOptions& o) { return fmt::to_string(int{o.limits.max_size_class}); }},
    Option{"time-limit-ms",
           [](WorkerOptions& o, std::string_view n, std::string_view v) {
             o.time_limit = std::chrono::milliseconds(parse_number<int64_t>(n, v));
           },
           [](const WorkerOptions& o) { return fmt::to_string(o.time_limit.count()); }},
};

void parse_options(int argc, char** argv, WorkerOptions& worker) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-minimize_crash_internal_step=1") worker.shrink_only = true;
    if (!argument.starts_with("--")) continue;
    const size_t equals = argument.find('=');
    const std::string_view option =
        argument.substr(2, equals == argument.npos ? equals : equals - 2);
    const auto* known = std::find_if(options.begin(), options.end(),
                                     [&](const Option& o) { return o.name == option; });
    if (known == options.end() || equals == argument.npos) {
      throw UsageError(
          fmt::format("unknown option {}: options of ours are --name=value, flags of "
                      "libFuzzer -name=value (-help=1 lists them)",
                      argument));
    }
    known->set(worker, option, argument.substr(equals + 1));
  }
}

}  // namespace

bool is_engine_call(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view first = argv[1];
  if (first == "-h" || first.starts_with("--help") || first == "--version") return false;
  return first.starts_with("-") || first.find('/') != first.npos;
}

std::vector<std::string> engine_arguments(const WorkerOptions& worker) {
  std::vector<std::string> arguments;
  for (const Option& option : options) {
    arguments.push_back(fmt::format("--{}={}", option.name, option.get(worker)));
  }
  return arguments;
}

int run_engine(int argc, char** argv, WorkerOptions worker_options) {
  return run_reporting_errors([&] {
    parse_options(argc, argv, worker_options);
    // Lives until the process ends: libFuzzer exits by itself.
    the_worker = new Worker(std::move(worker_options));
    return LLVMFuzzerRunDriver(&argc, &argv, run_one);
  });
}

}  // namespace warpfuzz

extern "C" {

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return warpfuzz::the_worker->mutate({data, max_size}, size, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                 uint8_t* out, size_t max_out_size, unsigned seed) {
  return warpfuzz::the_worker->crossover({a, a_size}, {b, b_size}, {out, max_out_size}, seed);
}
}
