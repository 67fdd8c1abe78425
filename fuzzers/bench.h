// The speed of kernels on a GPU, held to what makes a time worth something: a kernel is timed only
// after a short run of trials found nothing, and what it wrote while it was timed must be right,
// and bit for bit what it writes when nobody takes its time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzzers/bench_shapes.h"
#include "fuzzers/device_choice.h"
#include "kernels/cuda/timed_kernel.h"

namespace warpfuzz {

struct BenchOptions {
  std::shared_ptr<const Schema> schema;
  DeviceChoice device;
  std::vector<std::filesystem::path>
      kernels;                  // what is timed, and perhaps what it is compared with
  std::vector<NamedAxes> axes;  // empty: three sizes
  NamedDTypes dtypes;
  size_t repeats = 50;
  uint32_t trials = 64;
};

struct Quantiles {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};
// Between neighbours in proportion, as most programs have it; all 0 of no samples.
Quantiles quantiles(std::vector<double> samples);

// Of one contestant on one shape, in microseconds of one call.
struct Speed {
  std::string name;
  Quantiles single;
  Quantiles batch;
  size_t single_samples = 0;
  size_t batch_samples = 0;
  size_t batch_calls = 0;
  std::optional<double> launches;  // of one call, where the object has hooks
};

// How the quick verdict on a kernel went.
struct BenchVerdict {
  std::string kernel;
  uint32_t trials = 0;
  uint32_t excluded = 0;   // further calls drawn that its preconditions do not admit
  uint32_t undecided = 0;  // of the trials
  bool counters = false;   // the object counts coverage in device code: slower than it need be
};

struct Operations {
  int64_t count = 0;           // the schema's work formula
  std::optional<double> roof;  // per second, from the device's attributes; products only
  std::string roof_of;         // "float16 tensor cores at 1980 MHz", or why there is no roof
};

struct ShapeSpeed {
  std::string name;
  std::string call;
  int64_t bytes = 0;  // of inputs and outputs, each once
  std::optional<Operations> operations;
  size_t sets = 0;
  bool beyond_cache = false;  // all sets together are larger than the L2 cache
  std::vector<Speed> kernels;
  Speed copy;          // device to device, as many bytes read and written in sum
  size_t checked = 0;  // output elements of each kernel that were compared with the oracle
  size_t elements = 0;
  bool bitwise = false;  // timed outputs were compared with untimed ones, all bytes
};

struct BenchResult {
  std::string op;
  std::string device;
  std::string device_name;
  int cache_bytes = 0;
  std::vector<BenchVerdict> verdicts;
  std::vector<ShapeSpeed> shapes;
  std::string problem;  // empty: clean. Else the finding; what was measured before it stays.
};

// Throws DeviceUnavailable, UsageError, KernelError and CompileError.
BenchResult run_bench(const BenchOptions& options);

std::string bench_text(const BenchResult& result);
std::string bench_json(const BenchResult& result);

// Parts of run_bench(), for tests.
std::optional<std::string> quick_verdict(const BenchOptions& options,
                                         const std::filesystem::path& source,
                                         const std::filesystem::path& object,
                                         BenchVerdict& verdict);
Operations operations_of(const Case& c, const cuda::Session& session);
// Fills `shape`; throws cuda::TimedFailure, after the name of the kernel concerned.
void time_shape(const cuda::Session& session, const BenchShape& asked,
                const std::vector<std::unique_ptr<cuda::TimedKernel>>& kernels, size_t repeats,
                ShapeSpeed& shape);

}  // namespace warpfuzz
