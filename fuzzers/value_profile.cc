#include "fuzzers/value_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fuzzers/interrupt.h"
#include "fuzzers/profile_calls.h"
#include "reference/number_format.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

using Clock = std::chrono::steady_clock;

std::string dtypes_text(const Schema& schema, size_t combination) {
  const std::vector<DType>& dtypes = schema.dtype_combinations[combination].dtypes;
  if (std::count(dtypes.begin(), dtypes.end(), dtypes[0]) == std::ssize(dtypes)) {
    return std::string(name(dtypes[0]));
  }
  std::string text;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", schema.dtype_variables[i], name(dtypes[i]));
  }
  return text;
}

std::string element_text(const std::string& output, const std::vector<int64_t>& shape,
                         size_t element) {
  std::vector<int64_t> index(shape.size());
  auto rest = static_cast<int64_t>(element);
  for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) index[i] = rest % shape[i];
  return fmt::format("{}[{}]", output, fmt::join(index, ","));
}

// Runs calls and adds what their outputs show.
class Profiler {
 public:
  Profiler(const Schema& schema, Kernel& kernel, std::chrono::milliseconds time_limit)
      : schema_(schema), kernel_(kernel), time_limit_(time_limit), image_(kernel.image_memory()) {}

  // Whether the device still answers.
  bool add(const Case& c, ErrorProfile& profile) {
    const std::vector<Tensor> inputs = make_inputs(c);
    kernel_.reset();
    image_.compose(c, inputs, kernel_.workspace_bytes(c), nan_fill, 0);
    bool evaluated = false;
    RunOptions options;
    options.time_limit = time_limit_;
    const auto evaluate = [&] {
      oracle_.evaluate(c, inputs);
      evaluated = true;
    };
    options.meanwhile = evaluate;
    const RunResult run = kernel_.run(c, image_, options);
    ++profile.counts.calls;
    if (run.status != RunStatus::ok) {
      note_failure(c, run, profile);
      return !run.device_lost;
    }
    if (!evaluated) evaluate();
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < c.outputs.size(); ++i) outputs.push_back(add_output(c, i, profile));
    if (const auto error = oracle_.quantisation(outputs)) profile.quantisation.merge(*error);
    return !run.device_lost;
  }

 private:
  static void note_failure(const Case& c, const RunResult& run, ErrorProfile& profile) {
    if (profile.counts.failed++ > 0) return;
    const std::string what =
        !run.faults.empty() ? run.faults.front().message
        : !run.message.empty()
            ? run.message
            : std::string(run.status == RunStatus::unsupported ? "refused by the kernel"
                                                               : "the kernel reports an error");
    profile.failure = fmt::format("{}: {}", what, describe(c));
  }

  Tensor add_output(const Case& c, size_t output, ErrorProfile& profile) {
    Tensor tensor = image_.gather_output(output);
    oracle_.compare(output, tensor, &errors_);
    const std::vector<double> observed = decode_tensor(tensor);
    const std::vector<double>& expected = oracle_.expectation(output).value;
    profile.counts.elements += errors_.size();
    for (size_t i = 0; i < errors_.size(); ++i) {
      const ElementError& error = errors_[i];
      count(error, profile.counts);
      if (error.fate != ElementFate::measured) continue;
      const auto put = [&](Distribution& distribution, double value) {
        distribution.sketch.add(value);
        Extreme& worst = distribution.worst;
        if (!worst.call.empty() && value <= worst.value) return;
        worst = {value, describe(c), element_text(schema_.outputs[output].name, tensor.shape, i),
                 observed[i], expected[i]};
      };
      put(profile.ulps, error.ulps);
      if (!error.has_tolerance) continue;
      put(profile.ratios, error.ratio);
      put(profile.shares, error.share);
    }
    return tensor;
  }

  static void count(const ElementError& error, ProfileCounts& counts) {
    counts.wrong += error.wrong;
    switch (error.fate) {
      case ElementFate::measured:
        counts.exact += !error.has_tolerance;
        break;
      case ElementFate::nan:
        ++counts.nan;
        break;
      case ElementFate::infinite:
        ++counts.infinite;
        break;
      case ElementFate::undecided:
        ++counts.undecided;
        break;
      case ElementFate::unexpected:
        ++counts.unexpected;
        break;
    }
  }

  const Schema& schema_;
  Kernel& kernel_;
  std::chrono::milliseconds time_limit_;
  MemoryImage image_;
  Oracle oracle_;
  std::vector<ElementError> errors_;
};

// One row of the profile on its way.
struct Cell {
  size_t dtypes;  // position in ValueProfile::dtypes
  size_t law;     // position in DTypeProfile::laws
  ProfileCalls calls;
  bool open = true;  // the kernel admits its calls
};

std::vector<Cell> make_cells(const std::shared_ptr<const Schema>& schema,
                             const Preconditions& preconditions, Constants constants,
                             const ProfileOptions& options, ValueProfile& profile) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < schema->dtype_combinations.size(); ++i) {
    if (schema->dtype_combinations[i].tier > options.limits.max_tier) continue;
    DTypeProfile dtypes{dtypes_text(*schema, i), {}};
    for (const ValueLaw law : schema->inputs.front().laws) {
      cells.push_back(
          {profile.dtypes.size(), dtypes.laws.size(),
           ProfileCalls(schema, i, law, options.limits, preconditions, constants, options.seed)});
      dtypes.laws.push_back({law, {}});
    }
    profile.dtypes.push_back(std::move(dtypes));
  }
  return cells;
}

void drop_empty(ValueProfile& profile) {
  for (DTypeProfile& dtypes : profile.dtypes) {
    std::erase_if(dtypes.laws, [](const LawProfile& l) { return l.profile.counts.calls == 0; });
  }
  std::erase_if(profile.dtypes, [](const DTypeProfile& d) { return d.laws.empty(); });
}

}  // namespace

void Distribution::merge(const Distribution& other) {
  sketch.merge(other.sketch);
  if (other.worst.call.empty()) return;
  if (worst.call.empty() || other.worst.value > worst.value) worst = other.worst;
}

void ProfileCounts::merge(const ProfileCounts& other) {
  for (uint64_t ProfileCounts::* count :
       {&ProfileCounts::calls, &ProfileCounts::failed, &ProfileCounts::elements,
        &ProfileCounts::nan, &ProfileCounts::infinite, &ProfileCounts::undecided,
        &ProfileCounts::unexpected, &ProfileCounts::exact, &ProfileCounts::wrong}) {
    this->*count += other.*count;
  }
}

void ErrorProfile::merge(const ErrorProfile& other) {
  counts.merge(other.counts);
  ulps.merge(other.ulps);
  ratios.merge(other.ratios);
  shares.merge(other.shares);
  if (failure.empty()) failure = other.failure;
}

ErrorProfile DTypeProfile::total() const {
  ErrorProfile sum;
  for (const LawProfile& law : laws) sum.merge(law.profile);
  return sum;
}

ErrorProfile ValueProfile::total() const {
  ErrorProfile sum;
  for (const DTypeProfile& row : dtypes) sum.merge(row.total());
  return sum;
}

ValueProfile measure_profile(const std::shared_ptr<const Schema>& schema,
                             const KernelUnderTest& under_test, const ProfileOptions& options) {
  const Preconditions preconditions(*schema, under_test.kernel->preconditions());
  ValueProfile profile;
  std::vector<Cell> cells =
      make_cells(schema, preconditions, under_test.constants, options, profile);
  Profiler profiler(*schema, *under_test.kernel, options.time_limit);
  const InterruptGuard guard;
  const Clock::time_point start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  uint64_t runs = 0;
  const auto done = [&] {
    profile.interrupted = interrupted();
    return profile.interrupted || profile.device_lost ||
           (options.runs > 0 && runs >= options.runs) ||
           (options.seconds > 0 && elapsed() >= options.seconds);
  };
  bool any = true;
  while (any && !done()) {
    any = false;
    for (Cell& cell : cells) {
      if (!cell.open || done()) continue;
      const std::optional<Case> c = cell.calls.next();
      cell.open = c.has_value();
      if (!c) continue;
      any = true;
      ++runs;
      profile.device_lost = !profiler.add(*c, profile.dtypes[cell.dtypes].laws[cell.law].profile);
    }
  }
  profile.seconds = elapsed();
  drop_empty(profile);
  if (profile.dtypes.empty() && !profile.interrupted) {
    throw UsageError(fmt::format("{}: no call of {} up to tier {} meets its preconditions: {}",
                                 under_test.identity.path, schema->name,
                                 static_cast<int>(options.limits.max_tier), preconditions.text()));
  }
  return profile;
}

}  // namespace warpfuzz
