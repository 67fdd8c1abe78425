// Runs per second: the bare loop (copy in, launch, copy out, wait) on the shapes of a set of cases,
// and ours on the same cases, in one process one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/cuda/device_arguments.h"
#include "kernels/cuda/kernel_object.h"
#include "kernels/cuda/session.h"
#include "reference/crew.h"
#include "seeds/value_law.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/setup.h"

namespace warpfuzz::gpu {
namespace {

constexpr size_t case_count = 256;
constexpr double measure_seconds = 1.5;

struct Shape {
  int64_t rows, columns;
};

// Tame cases of rows up to 64 and columns up to 256, float32, contiguous.
std::vector<Case> make_cases(const std::shared_ptr<const Schema>& schema, Random& random,
                             Shape at_most, bool exact) {
  std::vector<Case> cases;
  while (cases.size() < case_count) {
    Case c = random_case(schema, random, {.max_tier = Tier::everyday, .max_size_class = 2});
    c.dtype_combination = 0;
    c.extra_runs = 0;
    c.schedule_seed = 0;
    c.axes[0] = exact ? at_most.rows : 1 + static_cast<int64_t>(random()) % at_most.rows;
    c.axes[1] = exact ? at_most.columns : 1 + static_cast<int64_t>(random()) % at_most.columns;
    for (auto* tensors : {&c.inputs, &c.outputs}) {
      for (TensorCase& t : *tensors) {
        t.layout = Layout::contiguous;
        t.row_padding = t.offset = 0;
        t.law = ValueLaw::normal;
        t.pokes.clear();
      }
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

double rate(const std::function<void(size_t)>& body) {
  for (size_t i = 0; i < case_count; ++i) body(i);
  size_t runs = 0;
  const double start = seconds_now();
  while (seconds_now() - start < measure_seconds) {
    for (size_t i = 0; i < case_count; ++i) body(i);
    runs += case_count;
  }
  return static_cast<double>(runs) / (seconds_now() - start);
}

// One pinned buffer and one of the device for the inputs, and one for the outputs; nothing else.
double bare_loop(const std::vector<Case>& cases, const std::string& object) {
  const cuda::Session session(0);
  const cuda::Driver& d = session.driver();
  const cuda::KernelObject kernel = cuda::load_kernel_object(object);
  constexpr size_t capacity = size_t{16} << 20;
  void *host_in = nullptr, *host_out = nullptr;
  cuda::DevicePointer in = 0, out = 0;
  d.check(d.host_allocate(&host_in, capacity, 0), "pinned memory");
  d.check(d.host_allocate(&host_out, capacity, 0), "pinned memory");
  d.check(d.allocate(&in, capacity), "device memory");
  d.check(d.allocate(&out, capacity), "device memory");
  struct Call {
    WfCall call;
    DLTensor x, y;
    size_t bytes;
  };
  std::vector<std::vector<int64_t>> extents;
  extents.reserve(cases.size() * 2);
  std::vector<WfAttribute> attributes;
  std::vector<Call> calls(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    extents.push_back({c.axes[0], c.axes[1]});
    int64_t* const shape = extents.back().data();
    extents.push_back({c.axes[1], 1});
    int64_t* const strides = extents.back().data();
    Call& call = calls[i];
    call.bytes = static_cast<size_t>(c.axes[0] * c.axes[1]) * 4;
    call.x = {reinterpret_cast<void*>(in), {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
    call.y = {reinterpret_cast<void*>(out), {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
    call.call = {WF_ABI_VERSION, 1, 1, 0, &call.x, &call.y, nullptr, nullptr, 0, session.stream()};
  }
  const double result = rate([&](size_t i) {
    d.copy_to_device(in, host_in, calls[i].bytes, session.stream());
    kernel.entry(&calls[i].call);
    d.copy_to_host(host_out, out, calls[i].bytes, session.stream());
    d.stream_synchronize(session.stream());
  });
  d.check(d.stream_query(session.stream()), "the bare loop");
  d.free(in);
  d.free(out);
  d.host_free(host_in);
  d.host_free(host_out);
  return result;
}

double device_loop(const std::string& op, const std::vector<Case>& cases, const std::string& object,
                   const cuda::DeviceOptions& options) {
  Setup setup(op, object, options);
  MemoryImage image(setup.kernel->image_memory());
  std::vector<std::vector<Tensor>> inputs;
  for (const Case& c : cases) inputs.push_back(make_inputs(c));
  size_t wrong = 0;
  const double result = rate([&](size_t i) {
    image.compose(cases[i], inputs[i], setup.kernel->workspace_bytes(cases[i]), nan_fill, 0);
    wrong += setup.kernel->run(cases[i], image, {}).status != RunStatus::ok;
    wrong += !image.find_damage(inputs[i]).empty();
    image.gather_output(0);
  });
  if (wrong != 0) fmt::print("bench FAILED: {} runs went wrong\n", wrong);
  return result;
}

}  // namespace

int bench(const Arguments& a) {
  Random random(a.seed);
  const auto schema = find_schema(a.op);
  struct Row {
    const char* name;
    Shape shape;
    bool exact;
  };
  const std::vector<Row> rows = {{"random_up_to_64x256", {64, 256}, false},
                                 {"16x16", {16, 16}, true},
                                 {"64x64", {64, 64}, true},
                                 {"64x256", {64, 256}, true},
                                 {"256x1024", {256, 1024}, true}};
  bool fast_enough = true;
  for (const Row& row : rows) {
    const auto cases = make_cases(schema, random, row.shape, row.exact);
    Setup setup(a.op, a.kernel);
    const double bare = bare_loop(cases, a.other.empty() ? a.kernel : a.other);
    const double copied = device_loop(a.op, cases, a.kernel, {.mapped_limit = 0, .coverage = true});
    const double copied_plain =
        device_loop(a.op, cases, a.kernel, {.mapped_limit = 0, .coverage = false});
    const double mapped =
        device_loop(a.op, cases, a.kernel, {.mapped_limit = size_t{1} << 30, .coverage = true});
    size_t violations = 0;
    const auto whole_trials = [&](Trial& trial) {
      Ahead ahead(setup, trial);
      size_t added = 0;
      return rate([&](size_t) {
        while (ahead->wants_more()) ahead->add(cases[added++ % case_count]);
        violations += ahead->judge(trial, ahead->next()).outcome != TrialOutcome::pass;
      });
    };
    Trial trial_alone(setup.schema, *setup.kernel), trial(setup.schema, *setup.kernel);
    const double alone = whole_trials(trial_alone);
    Crew::set_threads(a.threads);
    const double whole = whole_trials(trial);
    Crew::set_threads(1);
    const TrialTimes& t = trial.times();
    const double sum = t.values + t.kernel + t.oracle + t.gates;
    fmt::print(
        "bench {} {} bare={:.0f} device_copied={:.0f} device_copied_no_counters={:.0f} "
        "device_mapped={:.0f} trial_one_thread={:.0f} trial_{}_threads={:.0f} device/bare={:.2f} "
        "trial/bare={:.2f} not_passed={} "
        "time: values={:.0f}% kernel={:.0f}% oracle={:.0f}% gates={:.0f}%\n",
        a.op, row.name, bare, copied, copied_plain, mapped, alone, a.threads, whole,
        std::max(copied, mapped) / bare, whole / bare, violations, 100 * t.values / sum,
        100 * t.kernel / sum, 100 * t.oracle / sum, 100 * t.gates / sum);
    std::fflush(stdout);
    if (&row == &rows[0]) fast_enough = std::max(copied, mapped) >= bare / 2;
  }
  return fast_enough ? 0 : 1;
}

// The device's own time per launch: many launches, one wait.
int bench_coverage(const Arguments& a) {
  const cuda::Session session(0);
  const cuda::Driver& d = session.driver();
  constexpr size_t capacity = size_t{64} << 20;
  cuda::DevicePointer in = 0, out = 0;
  d.check(d.allocate(&in, capacity), "device memory");
  d.check(d.allocate(&out, capacity), "device memory");
  d.fill(in, 0, capacity, session.stream());
  const auto microseconds = [&](const std::string& object, Shape shape) {
    const cuda::KernelObject kernel = cuda::load_kernel_object(object);
    int64_t extents[] = {shape.rows, shape.columns}, strides[] = {shape.columns, 1};
    const DLTensor x = {
        reinterpret_cast<void*>(in), {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, extents, strides, 0};
    DLTensor y = x;
    y.data = reinterpret_cast<void*>(out);
    const WfCall call = {WF_ABI_VERSION, 1, 1, 0, &x, &y, nullptr, nullptr, 0, session.stream()};
    constexpr int launches = 500;
    double best = 1e9;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const double start = seconds_now();
      for (int i = 0; i < launches; ++i) kernel.entry(&call);
      d.stream_synchronize(session.stream());
      best = std::min(best, (seconds_now() - start) / launches * 1e6);
    }
    return best;
  };
  bool cheap = true;
  for (const Shape shape : {Shape{16, 16}, Shape{64, 256}, Shape{1024, 1024}, Shape{4096, 2048}}) {
    const double plain = microseconds(a.other, shape);
    const double instrumented = microseconds(a.kernel, shape);
    fmt::print("coverage_cost {} {}x{} plain_us={:.2f} instrumented_us={:.2f} ratio={:.2f}\n",
               a.name, shape.rows, shape.columns, plain, instrumented, instrumented / plain);
    cheap = cheap && instrumented <= 1.5 * plain;
  }
  d.free(in);
  d.free(out);
  return cheap ? 0 : 1;
}

}  // namespace warpfuzz::gpu
