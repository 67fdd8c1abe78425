#include "fuzzers/worker.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "crashes/minimizer.h"
#include "fuzzers/alone.h"
#include "fuzzers/features.h"
#include "fuzzers/finding.h"
#include "fuzzers/history.h"
#include "fuzzers/report.h"
#include "reference/crew.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

constexpr std::chrono::seconds minimize_time{5};
constexpr int admission_attempts = 8;  // a mutated case that the kernel excludes is drawn again

size_t write(const std::vector<uint8_t>& bytes, std::span<uint8_t> out) {
  const size_t size = std::min(bytes.size(), out.size());
  std::copy_n(bytes.begin(), size, out.begin());
  return size;
}

// Draws until the kernel admits the case, or as often as is sensible.
template <class Draw>
Case admitted(const Preconditions& preconditions, const Draw& draw) {
  Case c = draw();
  for (int i = 1; i < admission_attempts && !preconditions.admit(c); ++i) c = draw();
  return c;
}

// Only this process writes.
void raise(std::atomic<double>& maximum, double value) {
  if (value > maximum.load(std::memory_order_relaxed)) {
    maximum.store(value, std::memory_order_relaxed);
  }
}

}  // namespace

Worker::Worker(WorkerOptions options) : options_(std::move(options)) {
  const Installation installation = Installation::find();
  schema_ = installation.schema(options_.op);
  if (options_.object.empty()) {
    options_.object = build_kernel(installation, options_.kernel, options_.device);
  }
  under_test_ = load_kernel(options_.kernel, options_.object, options_.device, *schema_);
  device_counters_ = new cuda::RegisteredCounters(under_test_.kernel->counters());
  trial_.emplace(
      schema_, *under_test_.kernel,
      TrialOptions{.time_limit = options_.time_limit, .race_build = under_test_.race_build});
  if (!options_.work.empty()) {
    work_ = WorkDirectory{options_.work};
    work_->create();
    store_.emplace(work_->findings());
    status_ = std::make_unique<MappedStatus>(work_->status(options_.index));
  }
  proposals_.emplace(schema_, options_.limits,
                     options_.guided ? under_test_.constants : std::vector<int64_t>());
  look_ahead();
}

// libFuzzer ends a process by exit(): the crew must be gone before what it uses.
void Worker::look_ahead() {
  Crew::set_threads(options_.threads);
  std::atexit([] { Crew::set_threads(1); });
  if (!under_test_.kernel->serves_any_thread()) {
    ahead_.emplace();
    return;
  }
  runner_.emplace(*under_test_.kernel, options_.time_limit);
  ahead_.emplace([this](Preparation& preparation) { run_ahead(preparation); });
}

// What the device does not survive stays marked.
void Worker::run_ahead(Preparation& preparation) {
  if (lost_ahead_ || !trial_->preconditions().admit(preparation.c)) return;
  if (status_) (*status_)->ahead.begin(encode(preparation.c));
  preparation.primary = runner_->run(preparation.c, preparation.inputs, {});
  lost_ahead_ = preparation.primary->run.device_lost;
  if (status_ && !lost_ahead_) (*status_)->ahead.end();
}

int Worker::run(std::span<const uint8_t> bytes, std::span<uint8_t> counters) {
  const Case c = decode(schema_, bytes, options_.limits);
  if (status_) (*status_)->judged.begin(bytes);
  const TrialResult result = ahead_->judge(*trial_, c);
  if (result.device_loss) abandon(c, result);
  if (status_) publish(result);
  if (result.outcome == TrialOutcome::excluded) return -1;
  device_counters_->add(result.primary.run.coverage);
  proposals_->record(c, result.primary.run.coverage);
  record_features(c, result, counters);
  if (result.outcome == TrialOutcome::violation) handle_violation(c, result);
  if (status_) (*status_)->judged.end();
  return 0;
}

void Worker::publish(const TrialResult& result) {
  WorkerStatus& status = **status_;
  status.runs.fetch_add(1, std::memory_order_relaxed);
  switch (result.outcome) {
    case TrialOutcome::excluded:
      status.excluded.fetch_add(1, std::memory_order_relaxed);
      break;
    case TrialOutcome::undecided:
      status.undecided.fetch_add(1, std::memory_order_relaxed);
      break;
    case TrialOutcome::violation:
      status.violations.fetch_add(1, std::memory_order_relaxed);
      break;
    case TrialOutcome::pass:
      raise(status.worst_ratio, result.worst_ratio);
      raise(status.worst_share, result.worst_share);
      break;
  }
  const TrialTimes& times = trial_->times();
  status.values_seconds.store(times.values, std::memory_order_relaxed);
  status.kernel_seconds.store(times.kernel, std::memory_order_relaxed);
  status.oracle_seconds.store(times.oracle, std::memory_order_relaxed);
  status.gates_seconds.store(times.gates, std::memory_order_relaxed);
}

// The device does not answer this process any more. The cases in flight stay marked: the campaign
// runs each alone in a fresh process, since another process may have brought the device down.
// Unless this is that process, or the finding is known: nothing is to be learnt from it.
void Worker::abandon(const Case& c, const TrialResult& result) {
  fmt::print(stderr, "warpfuzz: the device is lost to this process: {}\n",
             result.device_loss->message);
  std::fflush(stderr);
  // A case that the trial has made of this one is more likely to lose it again.
  const Case& lost_with = result.device_loss->c;
  if (status_ && !lost_ahead_ && lost_with != c) (*status_)->ahead.begin(encode(lost_with));
  const auto signature = violation_signature(c, result);
  if (signature && result.primary.run.device_lost) {
    if (!options_.alone.empty()) write_reproducer(options_.alone, reproducer_of(c, result));
    if (store_ && store_->knows(*signature)) (*status_)->end();
  }
  std::abort();
}

Reproducer Worker::reproducer_of(const Case& c, const TrialResult& result) const {
  return make_reproducer(c, options_.limits, result, under_test_.identity, options_.device.text());
}

void Worker::handle_violation(const Case& c, const TrialResult& result) {
  const Signature signature = signature_of(c, result);
  if (!options_.alone.empty()) write_reproducer(options_.alone, reproducer_of(c, result));
  const bool known = store_ && (store_->knows(signature) || explained_.contains(signature));
  if (!known && store_ && !options_.shrink_only) store(c, result, signature);
  if (options_.keep_going) return;
  stop_at(signature, reproducer_of(c, result));
}

void Worker::store(const Case& c, const TrialResult& result, const Signature& signature) {
  (*status_)->minimizing.store(1);
  if (!explain(c, result, signature)) store_smallest(c, result, signature);
  (*status_)->minimizing.store(0);
}

// Stores what the finding comes from, where that is the kernel's past.
bool Worker::explain(const Case& c, const TrialResult& result, const Signature& signature) {
  if (under_test_.kernel->reset()) return false;  // every trial begins without one
  const auto fails_here = [&] { return violation_signature(c, trial_->run(c)) == signature; };
  const std::optional<Reproducer> cause =
      explain_by_history(c, result, reproducer_of(c, result), options_, fails_here);
  if (!cause) return false;
  explained_.insert(signature);
  store_->claim(*Signature::parse(cause->signature), *cause);
  return true;
}

void Worker::store_smallest(const Case& c, const TrialResult& result, const Signature& signature) {
  // The case as found is stored at once, so that nothing is lost if minimising it ends the process.
  if (!store_->claim(signature, reproducer_of(c, result))) return;
  const auto still_fails = [&](const Case& candidate) {
    (*status_)->judged.begin(encode(candidate));
    return violation_signature(candidate, trial_->run(candidate)) == signature;
  };
  const MinimizeResult minimized =
      minimize(c, still_fails, {.deadline = std::chrono::steady_clock::now() + minimize_time});
  const TrialResult smallest = trial_->run(minimized.smallest);
  if (violation_signature(minimized.smallest, smallest) != signature)
    return;                            // flaky: keep the first
  if (!under_test_.kernel->reset()) {  // it may fail for what the kernel remembers of the others
    const AloneResult alone = run_alone(minimized.smallest, options_);
    if (!alone.finding || alone.finding->signature != signature.text()) return;
  }
  store_->replace(signature, reproducer_of(minimized.smallest, smallest));
}

void Worker::stop_at(const Signature& signature, const Reproducer& reproducer) {
  // libFuzzer takes the first token of a child's output, so it comes before anything else.
  fmt::print(stderr, "DEDUP_TOKEN: {}\n", signature.text());
  fmt::print(stderr, "{}", describe_finding(reproducer, {}));
  std::fflush(stderr);
  std::abort();
}

// The case whose turn it is, after as many others have been drawn as can be made ready ahead.
template <class Draw>
size_t Worker::take_turn(std::span<uint8_t> out, const Draw& draw) {
  while (ahead_->wants_more()) ahead_->add(admitted(trial_->preconditions(), draw));
  return write(encode(ahead_->next()), out);
}

size_t Worker::mutate(std::span<uint8_t> buffer, size_t size, unsigned seed) {
  Random random(seed);
  random.discard(2);  // the first values of neighbouring seeds are neighbours
  const Case original = decode(schema_, buffer.first(size), options_.limits);
  if (options_.shrink_only) {
    const std::vector<Case> simpler = simplifications(original);
    return write(encode(simpler.empty() ? original : simpler[random() % simpler.size()]), buffer);
  }
  return take_turn(buffer, [&] {
    return options_.guided && size > 0 ? proposals_->variant(original, random)
                                       : proposals_->fresh(random);
  });
}

size_t Worker::crossover(std::span<const uint8_t> a, std::span<const uint8_t> b,
                         std::span<uint8_t> out, unsigned seed) {
  Random random(seed);
  random.discard(2);
  const Case first = decode(schema_, a, options_.limits);
  if (options_.shrink_only) return write(encode(first), out);
  const Case second = decode(schema_, b, options_.limits);
  return take_turn(out, [&] {
    return options_.guided ? proposals_->child(first, second, random) : proposals_->fresh(random);
  });
}

}  // namespace warpfuzz
