// One shape: untimed calls, which the oracle judges; timed ones on the same inputs in other
// buffers; and whether they wrote the same.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fuzzers/bench.h"
#include "gates/checks.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr size_t least_sets = 3;
constexpr size_t most_sets = 128;
// Of the oracle for all sets of one shape: seconds.
constexpr int64_t oracle_work = int64_t{1} << 30;
// Work that goes on after the last event, as a share of all that was timed: none, but for chance.
constexpr double most_left_over = 0.1;
constexpr double least_left_over_microseconds = 500;

size_t set_count(int64_t bytes, int cache_bytes) {
  const auto wanted = static_cast<size_t>(int64_t{cache_bytes} / std::max<int64_t>(bytes, 1) + 1);
  return std::clamp(wanted, least_sets, most_sets);
}

// Other values for each set.
std::vector<Tensor> inputs_of_set(Case c, size_t set) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    c.inputs[i].seed = static_cast<uint32_t>(set * c.inputs.size() + i + 1);
  }
  return make_inputs(c);
}

std::string first_offence(const Case& c, size_t output, const Comparison& comparison) {
  const std::string& name = c.schema->outputs[output].name;
  const Offence& offence = comparison.offences.front();
  return fmt::format(
      "{} of the elements looked at in output {} are wrong, first {}[{}]: observed "
      "{:.9g}, accepted [{:.9g}, {:.9g}]",
      comparison.offending.size(), name, name, offence.element, offence.observed, offence.low,
      offence.high);
}

using Outputs = std::vector<Tensor>;

// The calls of one shape.
class ShapeBench {
 public:
  ShapeBench(const cuda::Session& session, const Case& c,
             const std::vector<std::unique_ptr<cuda::TimedKernel>>& kernels, ShapeSpeed& shape)
      : session_(session), c_(c), kernels_(kernels), shape_(shape) {}

  void run(size_t repeats) {
    const int cache = session_.attribute(cuda::attribute_cache_bytes);
    shape_.call = describe(c_);
    shape_.bytes = tensor_bytes(c_);
    shape_.sets = set_count(shape_.bytes, cache);
    shape_.beyond_cache =
        cache > 0 && shape_.bytes * static_cast<int64_t>(shape_.sets) > int64_t{cache};
    if (c_.schema->work) shape_.operations = operations_of(c_, session_);
    shape_.bitwise = c_.schema->contract.determinism == Determinism::bitwise;
    for (size_t set = 0; set < shape_.sets; ++set) inputs_.push_back(inputs_of_set(c_, set));
    call_untimed();
    judge_untimed();
    upload(1);
    take_times(repeats);
  }

 private:
  // Throws what goes wrong with the kernel's name before it.
  template <class Body>
  void blaming(size_t kernel, Body body) {
    try {
      body();
    } catch (const cuda::TimedFailure& failure) {
      throw cuda::TimedFailure(shape_.kernels[kernel].name + ": " + failure.what());
    }
  }

  // Inputs number i + shift go to buffers number i: a kernel that remembers results by address
  // gives old ones.
  size_t inputs_in(size_t set) const { return (set + shift_) % shape_.sets; }

  void upload(size_t shift) {
    shift_ = shift;
    for (const auto& kernel : kernels_) {
      if (kernel->sets() != shape_.sets || shift == 0) kernel->make_sets(shape_.sets);
      for (size_t set = 0; set < shape_.sets; ++set) {
        kernel->upload(set, c_, inputs_[inputs_in(set)]);
      }
    }
  }

  Outputs fetch(cuda::TimedKernel& kernel, size_t set, const char* when) {
    const MemoryImage& image = kernel.set(set).fetch();
    if (const auto damage = image.find_damage(inputs_[inputs_in(set)]); !damage.empty()) {
      throw cuda::TimedFailure(fmt::format("{} call changes {} bytes of {}", when,
                                           damage.front().bytes, damage.front().where));
    }
    Outputs outputs;
    for (size_t i = 0; i < c_.outputs.size(); ++i) outputs.push_back(image.gather_output(i));
    return outputs;
  }

  void call_untimed() {
    upload(0);
    untimed_.resize(kernels_.size());
    for (size_t k = 0; k < kernels_.size(); ++k) {
      blaming(k, [&] {
        kernels_[k]->begin_counting();
        for (size_t set = 0; set < shape_.sets; ++set) {
          kernels_[k]->queue(set);
          cuda::wait_for_the_rest(session_, options_);
        }
        kernels_[k]->end_counting();
        for (size_t set = 0; set < shape_.sets; ++set) {
          untimed_[k].push_back(fetch(*kernels_[k], set, "an untimed"));
        }
      });
    }
  }

  int64_t most_work() const {
    return std::max<int64_t>(oracle_work / static_cast<int64_t>(shape_.sets), 1);
  }

  // Counts what was judged; a sentence if something is wrong.
  std::string judge(const Oracle& oracle, const Outputs& outputs, bool count) {
    std::string wrong;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Comparison comparison = oracle.compare(i, outputs[i]);
      if (!comparison.offending.empty() && wrong.empty()) wrong = first_offence(c_, i, comparison);
      if (!count) continue;
      const auto size = static_cast<size_t>(outputs[i].size());
      shape_.elements += size;
      shape_.checked += size - comparison.undecided;
    }
    return wrong;
  }

  void judge_untimed() {
    for (size_t set = 0; set < shape_.sets; ++set) {
      oracle_.evaluate(c_, inputs_[set], {.most_work = most_work()});
      for (size_t k = 0; k < kernels_.size(); ++k) {
        const std::string wrong = judge(oracle_, untimed_[k][set], k == 0);
        if (wrong.empty()) continue;
        throw cuda::TimedFailure(fmt::format("{}: wrong on this shape, timed or not: {}",
                                             shape_.kernels[k].name, wrong));
      }
    }
  }

  // Which tensors differ between a timed call and an untimed one on the same inputs, in words.
  std::string difference(const Outputs& timed, const Outputs& untimed) const {
    for (size_t i = 0; i < timed.size(); ++i) {
      if (timed[i] == untimed[i]) continue;
      const std::vector<size_t> elements = differing_elements(timed[i], untimed[i]);
      const std::string& name = c_.schema->outputs[i].name;
      return fmt::format(
          "{} of {} elements of output {} differ from an untimed call on the same "
          "inputs, first {}[{}]",
          elements.size(), timed[i].size(), name, name, elements.front());
    }
    return {};
  }

  void check_timed(const char* phase) {
    for (size_t k = 0; k < kernels_.size(); ++k) {
      blaming(k, [&] {
        for (size_t set = 0; set < shape_.sets; ++set) {
          if (kernels_[k]->called(set)) check_timed_set(k, set, phase);
        }
      });
    }
  }

  void check_timed_set(size_t k, size_t set, const char* phase) {
    const size_t from = inputs_in(set);
    const Outputs timed = fetch(*kernels_[k], set, "a timed");
    const std::string differs = difference(timed, untimed_[k][from]);
    if (differs.empty()) return;
    if (shape_.bitwise) {
      throw cuda::TimedFailure(
          fmt::format("right only when not timed: {}, set {}: {}", phase, set, differs));
    }
    // The operator lets bits vary: then they must be right on their own.
    oracle_.evaluate(c_, inputs_[from], {.most_work = most_work()});
    if (const std::string wrong = judge(oracle_, timed, false); !wrong.empty()) {
      throw cuda::TimedFailure(
          fmt::format("right only when not timed: {}, set {}: {}", phase, set, wrong));
    }
  }

  void take_times(size_t repeats) {
    options_.repeats = repeats;
    options_.least_samples = std::min(options_.least_samples, repeats);
    cuda::DeviceCopy copy(session_, static_cast<size_t>(shape_.bytes / 2), shape_.sets);
    std::vector<cuda::Contestant*> contestants;
    for (const auto& kernel : kernels_) contestants.push_back(kernel.get());
    contestants.push_back(&copy);
    cuda::warm_up(session_, contestants, options_);

    const auto single =
        phase("single calls", [&] { return time_single_calls(session_, contestants, options_); });
    std::vector<double> typical;
    for (size_t i = 0; i < contestants.size(); ++i) {
      Speed& speed = speed_of(i);
      speed.single = quantiles(single[i].microseconds);
      speed.single_samples = single[i].microseconds.size();
      typical.push_back(speed.single.median);
    }
    const auto batches =
        phase("batches", [&] { return time_batches(session_, contestants, typical, options_); });
    for (size_t i = 0; i < contestants.size(); ++i) {
      Speed& speed = speed_of(i);
      speed.batch = quantiles(batches[i].microseconds);
      speed.batch_samples = batches[i].microseconds.size();
      speed.batch_calls = batches[i].calls_per_sample;
    }
  }

  Speed& speed_of(size_t contestant) {
    return contestant < kernels_.size() ? shape_.kernels[contestant] : shape_.copy;
  }

  template <class Body>
  std::vector<cuda::Times> phase(const char* name, Body body) {
    for (const auto& kernel : kernels_) kernel->begin_counting();
    std::vector<cuda::Times> times;
    try {
      times = body();
    } catch (const cuda::TimedFailure& failure) {
      throw cuda::TimedFailure(
          fmt::format("{}: {}", fmt::join(kernel_names(), " or "), failure.what()));
    }
    const double left_over = cuda::wait_for_the_rest(session_, options_);
    double timed = 0;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const double calls =
          static_cast<double>(times[k].microseconds.size() * times[k].calls_per_sample);
      for (const double t : times[k].microseconds) {
        timed += t * static_cast<double>(times[k].calls_per_sample);
      }
      blaming(k, [&] { count_launches(k, calls); });
    }
    if (left_over > least_left_over_microseconds && left_over > most_left_over * timed) {
      throw cuda::TimedFailure(fmt::format(
          "{}: work goes on for {:.0f} us after the call's stream has none left: no event saw it",
          fmt::join(kernel_names(), ", "), left_over));
    }
    check_timed(name);
    return times;
  }

  void count_launches(size_t k, double calls) {
    const cuda::TimedUse use = kernels_[k]->end_counting();
    if (use.foreign_launches > 0) {
      throw cuda::TimedFailure(
          fmt::format("{} launches of timed calls are not on the call's stream: no event saw them",
                      use.foreign_launches));
    }
    if (use.known) shape_.kernels[k].launches = use.launches / calls;
  }

  std::vector<std::string> kernel_names() const {
    std::vector<std::string> names;
    for (const Speed& speed : shape_.kernels) names.push_back(speed.name);
    return names;
  }

  const cuda::Session& session_;
  const Case& c_;
  const std::vector<std::unique_ptr<cuda::TimedKernel>>& kernels_;
  ShapeSpeed& shape_;
  cuda::TimingOptions options_;
  std::vector<std::vector<Tensor>> inputs_;
  size_t shift_ = 0;
  std::vector<std::vector<Outputs>> untimed_;  // by kernel, then by number of the inputs
  Oracle oracle_;
};

}  // namespace

void time_shape(const cuda::Session& session, const BenchShape& asked,
                const std::vector<std::unique_ptr<cuda::TimedKernel>>& kernels, size_t repeats,
                ShapeSpeed& shape) {
  ShapeBench(session, asked.c, kernels, shape).run(repeats);
}

}  // namespace warpfuzz
