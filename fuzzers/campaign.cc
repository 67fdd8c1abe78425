#include "fuzzers/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "crashes/durable_file.h"
#include "crashes/signature_store.h"
#include "fuzzers/corpus.h"
#include "fuzzers/crash_triage.h"
#include "fuzzers/engine.h"
#include "fuzzers/interrupt.h"
#include "fuzzers/worker_process.h"
#include "kernels/cuda/mps.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto poll_interval = std::chrono::milliseconds(50);
constexpr auto progress_interval = std::chrono::milliseconds(500);
constexpr auto stop_patience = std::chrono::seconds(10);
constexpr int most_deaths_without_runs = 3;
constexpr double restart_pause = 1;     // seconds, after a worker that could not start
constexpr double start_patience = 120;  // seconds for which starts fail and no worker gets on

std::string tail(const fs::path& file, size_t bytes) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<size_t>(std::max<std::streamoff>(stream.tellg(), 0));
  const size_t kept = std::min(size, bytes);
  stream.seekg(static_cast<std::streamoff>(size - kept));
  std::string text(kept, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(kept));
  return text;
}

// The last "<key>: <number>" of a libFuzzer log; 0 if there is none.
uint64_t last_count(const std::string& log, const std::string& key) {
  const size_t at = log.rfind(key);
  return at == log.npos ? 0 : std::strtoull(log.c_str() + at + key.size(), nullptr, 10);
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, CampaignReporter& reporter)
      : options_(options), reporter_(reporter), work_{options.worker.work} {}

  CampaignState run();

 private:
  struct Slot {
    std::unique_ptr<WorkerProcess> process;
    std::unique_ptr<MappedStatus> status;
    uint64_t runs_at_start = 0;
    int deaths_without_runs = 0;
    uint64_t runs_seen = 0;            // when it was last looked at
    double progress_at = 0;            // what watched_ was when it last got on
    std::optional<double> restart_at;  // likewise, of a worker that is to be started again
  };

  void supervise();
  void finish();
  void recheck_known_findings();
  void share_device();
  uint64_t runs_left(size_t index) const;
  void start_worker(size_t index);
  void watch_workers();
  void watch_progress(size_t index);
  void handle_ended_worker(size_t index, const Ending& ending);
  void handle_failed_start(size_t index, const Ending& ending);
  void collect_findings();
  void report_finding(const fs::path& file, bool known_before);
  void update_state();
  bool over() const;      // told to stop, or the time is up, or the first finding is enough
  bool finished() const;  // over, or every worker has done its share of the runs
  void stop_workers();
  [[noreturn]] void give_up(size_t index, const std::string& reason) const;

  const CampaignOptions& options_;
  CampaignReporter& reporter_;
  WorkDirectory work_;
  CampaignState state_;
  std::vector<Slot> slots_;
  std::unique_ptr<cuda::Mps> mps_;
  size_t workers_ = 1;
  std::set<fs::path> reported_;
  Clock::time_point start_ = Clock::now();
  // Seconds of supervision: the time that a machine sleeps or Ctrl-Z lasts is nobody's fault.
  double watched_ = 0;
  std::optional<double> failing_since_;  // starts, without a run of any worker since
  Clock::time_point last_look_ = start_;
};

CampaignState Campaign::run() {
  const InterruptGuard guard;
  work_.create();
  reporter_.started(options_);
  recheck_known_findings();
  if (options_.seeds) fill_empty_corpus(work_.corpus(), options_.worker);
  share_device();
  start_ = last_look_ = Clock::now();
  slots_.resize(workers_);
  for (size_t i = 0; i < slots_.size() && !finished(); ++i) {
    fs::remove(work_.status(i));
    fs::remove(work_.log(i));
    slots_[i].status = std::make_unique<MappedStatus>(work_.status(i));
    start_worker(i);
  }
  try {
    supervise();
  } catch (...) {
    if (state_.runs > 0) finish();  // what was found until then is reported
    throw;
  }
  finish();
  return std::move(state_);
}

void Campaign::supervise() {
  Clock::time_point next_progress = start_ + progress_interval;
  while (!finished()) {
    std::this_thread::sleep_for(poll_interval);
    watch_workers();
    collect_findings();
    update_state();
    if (Clock::now() >= next_progress) {
      reporter_.progress(state_);
      next_progress = Clock::now() + progress_interval;
    }
  }
}

void Campaign::finish() {
  stop_workers();
  collect_findings();
  update_state();
  reporter_.done(state_);
}

// What an earlier campaign in this directory found is tried first: an answer within a second to
// "is it mended?". What no longer fails is put aside, so that it can be found again.
void Campaign::recheck_known_findings() {
  for (const Signature& signature : SignatureStore(work_.findings()).list()) {
    const fs::path file = work_.findings() / (signature.text() + std::string(reproducer_extension));
    if (still_fails(file, options_.worker)) {
      report_finding(file, true);
    } else {
      const fs::path fixed = work_.root / "fixed";
      fs::create_directories(fixed);
      fs::rename(file, fixed / file.filename());
      reporter_.note(
          fmt::format("{} no longer fails: moved to {}", signature.text(), fixed.string()));
    }
  }
}

// Several processes on one GPU are slower than one, unless NVIDIA's multi-process service runs.
void Campaign::share_device() {
  workers_ = options_.workers;
  if (!options_.worker.device.cuda || workers_ == 1) return;
  mps_ = std::make_unique<cuda::Mps>(work_.root / "mps");
  if (mps_->problem().empty()) return;
  reporter_.note(mps_->problem() + ": one worker");
  workers_ = 1;
}

// Of the worker's share, where the campaign has a bound.
uint64_t Campaign::runs_left(size_t index) const {
  const uint64_t done = (**slots_[index].status).runs.load();
  const uint64_t share = (options_.runs + workers_ - 1) / workers_;
  return share > done ? share - done : 0;
}

void Campaign::start_worker(size_t index) {
  WorkerOptions worker = options_.worker;
  worker.index = index;
  worker.threads = options_.threads > 0 ? options_.threads : worker.device.host_threads(workers_);
  const uint64_t seed = options_.seed + 1000 * index + 1'000'000 * state_.restarts;
  std::vector<std::string> arguments = {
      fmt::format("-seed={}", static_cast<uint32_t>(seed == 0 ? 1 : seed)),
      fmt::format("-artifact_prefix={}/", work_.artifacts().string()),
      fmt::format("-max_total_time={}", static_cast<int64_t>(options_.time.count()) + 60),
      "-max_len=1024",
      "-len_control=0",
      "-mutate_depth=1",  // one mutation of ours changes enough
      "-timeout=60",
      "-rss_limit_mb=0",
      "-detect_leaks=0",
      "-reload=1",
      "-use_value_profile=0"};
  if (options_.runs > 0) arguments.push_back(fmt::format("-runs={}", runs_left(index)));
  for (std::string& argument : engine_arguments(worker)) arguments.push_back(std::move(argument));
  arguments.push_back(work_.corpus().string());
  Slot& slot = slots_[index];
  slot.runs_at_start = slot.runs_seen = (**slot.status).runs.load();
  slot.progress_at = watched_;
  slot.restart_at.reset();
  slot.process = std::make_unique<WorkerProcess>(arguments, work_.log(index));
}

void Campaign::watch_workers() {
  const Clock::time_point now = Clock::now();
  watched_ += std::min(std::chrono::duration<double>(now - last_look_).count(), 1.0);
  last_look_ = now;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].restart_at && watched_ >= *slots_[i].restart_at) start_worker(i);
    if (!slots_[i].process) continue;
    if (const auto ending = slots_[i].process->poll()) {
      handle_ended_worker(i, *ending);
    } else {
      watch_progress(i);
    }
  }
}

// libFuzzer ends a worker whose case takes too long; one that hangs before its first case, or in a
// driver that lets no signal through, is ended here.
void Campaign::watch_progress(size_t index) {
  Slot& slot = slots_[index];
  const uint64_t runs = (**slot.status).runs.load();
  if (runs != slot.runs_seen) failing_since_.reset();
  if (runs != slot.runs_seen || (**slot.status).minimizing.load() != 0) {
    slot.runs_seen = runs;
    slot.progress_at = watched_;
  } else if (watched_ - slot.progress_at > options_.worker_timeout.count()) {
    reporter_.note(fmt::format("worker {} has not finished a run for {:.0f} s: ending it", index,
                               options_.worker_timeout.count()));
    slot.progress_at = watched_;
    slot.process->signal(SIGKILL);
  }
}

void Campaign::handle_ended_worker(size_t index, const Ending& ending) {
  Slot& slot = slots_[index];
  slot.process.reset();
  collect_findings();
  if (!ending.by_signal && ending.code == 0) return;  // its share of the runs is done
  if (!options_.worker.keep_going && !state_.findings.empty()) return;
  const bool ran = (**slot.status).runs.load() > slot.runs_at_start;
  if (ran) failing_since_.reset();
  const std::vector<std::vector<uint8_t>> in_flight = (**slot.status).cases_in_flight();
  if (!ending.by_signal && ending.code == broken_exit_code) {
    const fs::path kept = work_.artifacts() / "broken";
    replace_file(kept, (**slot.status).judged.read());
    throw EnvironmentError(
        fmt::format("a defect of warpfuzz, not of the kernel; please report it with {} and the end "
                    "of {}:\n{}",
                    kept.string(), work_.log(index).string(), tail(work_.log(index), 2000)));
  }
  if (!ran && in_flight.empty()) return handle_failed_start(index, ending);
  (**slot.status).end();
  (**slot.status).minimizing.store(0);
  ++state_.restarts;
  for (const std::vector<uint8_t>& encoded : in_flight) {
    reporter_.note(
        fmt::format("worker {} ended ({}); trying its case alone", index, ending.text()));
    if (!triage_crash(encoded, options_.worker)) continue;
    collect_findings();
    break;
  }
  slot.deaths_without_runs = ran ? 0 : slot.deaths_without_runs + 1;
  if (slot.deaths_without_runs >= most_deaths_without_runs && state_.findings.empty()) {
    give_up(index, fmt::format("dies ({}) before its first case", ending.text()));
  }
  // A worker that dies of its corpus would be started for ever.
  if (!over() && (options_.runs == 0 || runs_left(index) > 0)) start_worker(index);
}

// No case is at fault. What the machine refuses a worker now it may grant it later: the service
// that shares a GPU takes a while to recover from a fault, a file may be about to be replaced.
void Campaign::handle_failed_start(size_t index, const Ending& ending) {
  Slot& slot = slots_[index];
  if (!ending.by_signal && ending.code == exit_usage) {  // the kernel's fault, not the machine's
    const std::string log = tail(work_.log(index), 4000);
    const size_t message = log.rfind("warpfuzz: ");
    if (message != log.npos) {
      throw UsageError(log.substr(message + 10, log.find_last_not_of('\n') - message - 9));
    }
  }
  const bool hopeless = !ending.by_signal && ending.code == exit_environment;
  if (state_.restarts == 0 && hopeless) give_up(index, "could not start");
  ++state_.restarts;
  ++slot.deaths_without_runs;
  if (state_.runs == 0 && slot.deaths_without_runs >= most_deaths_without_runs) {
    give_up(index, fmt::format("dies ({}) before its first case", ending.text()));
  }
  if (!failing_since_) failing_since_ = watched_;
  if (watched_ - *failing_since_ > start_patience) {
    give_up(index, fmt::format("cannot start again ({})", ending.text()));
  }
  if (slot.deaths_without_runs == 1) {
    reporter_.note(
        fmt::format("worker {} could not start ({}): trying again; the end of {} says why", index,
                    ending.text(), work_.log(index).string()));
  }
  slot.restart_at = watched_ + restart_pause;
}

void Campaign::give_up(size_t index, const std::string& reason) const {
  throw EnvironmentError(fmt::format("worker {} {}; the end of {}:\n{}", index, reason,
                                     work_.log(index).string(), tail(work_.log(index), 2000)));
}

void Campaign::collect_findings() {
  // While a worker still minimises one, its smaller form is on its way: report that.
  for (const Slot& slot : slots_) {
    if (slot.process && (**slot.status).minimizing.load() != 0) return;
  }
  for (const auto& entry : fs::directory_iterator(work_.findings())) {
    const std::string stem = entry.path().filename().string();
    if (entry.path().extension() != reproducer_extension || stem.starts_with('.')) continue;
    if (reported_.contains(entry.path())) continue;
    report_finding(entry.path(), false);
  }
}

void Campaign::report_finding(const fs::path& file, bool known_before) {
  reported_.insert(file);
  state_.findings.push_back({file, read_reproducer(file), known_before});
  reporter_.finding(state_.findings.back());
}

void Campaign::update_state() {
  CampaignState total;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].status) continue;
    const WorkerStatus& status = **slots_[i].status;
    total.runs += status.runs.load();
    total.excluded += status.excluded.load();
    total.undecided += status.undecided.load();
    total.violations += status.violations.load();
    total.worst_ratio = std::max(total.worst_ratio, status.worst_ratio.load());
    total.worst_share = std::max(total.worst_share, status.worst_share.load());
    total.values_seconds += status.values_seconds.load();
    total.kernel_seconds += status.kernel_seconds.load();
    total.oracle_seconds += status.oracle_seconds.load();
    total.gates_seconds += status.gates_seconds.load();
    const std::string log = tail(work_.log(i), 8192);
    total.coverage = std::max(total.coverage, last_count(log, " ft: "));
    total.corpus = std::max(total.corpus, last_count(log, " corp: "));
  }
  total.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  total.restarts = state_.restarts;
  total.findings = std::move(state_.findings);
  state_ = std::move(total);
}

bool Campaign::over() const {
  return interrupted() || (!options_.worker.keep_going && !state_.findings.empty()) ||
         Clock::now() - start_ >= options_.time;
}

bool Campaign::finished() const {
  if (over()) return true;
  return !slots_.empty() && slots_.back().status &&
         std::none_of(slots_.begin(), slots_.end(),
                      [](const Slot& slot) { return slot.process || slot.restart_at; });
}

void Campaign::stop_workers() {
  for (Slot& slot : slots_) {
    if (slot.process) slot.process->signal(SIGUSR1);  // libFuzzer: finish the run and exit
  }
  const Clock::time_point deadline = Clock::now() + stop_patience;
  for (Slot& slot : slots_) {
    while (slot.process && !slot.process->poll() && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    slot.process.reset();
  }
}

}  // namespace

CampaignState run_campaign(const CampaignOptions& options, CampaignReporter& reporter) {
  return Campaign(options, reporter).run();
}

}  // namespace warpfuzz
