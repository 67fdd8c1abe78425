#include "fuzzers/lookahead.h"

#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "fuzzers/stopwatch.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr size_t cases_per_thread = 2;  // that no thread waits for another's last case

}  // namespace

Lookahead::Lookahead(Run run)
    : run_(std::move(run)), depth_(cases_per_thread * (Crew::threads() - 1)) {}

Lookahead::~Lookahead() {
  for (const auto& entry : waiting_) forget(*entry);
  if (current_) forget(*current_);
  while (at_work_.load() > 0) _mm_pause();
}

void Lookahead::add(Case c) {
  std::unique_ptr<Entry> entry;
  if (spare_.empty()) {
    entry = std::make_unique<Entry>();
  } else {
    entry = std::move(spare_.back());
    spare_.pop_back();
  }
  entry->preparation.c = std::move(c);
  if (depth_ > 0) {
    if (run_) {
      const std::lock_guard lock(to_run_mutex_);
      to_run_.push_back(entry.get());
    }
    entry->task = Crew::start([this, made = entry.get()] { serve(*made); });
  }
  waiting_.push_back(std::move(entry));
}

// The entry may be another case's as soon as it is made.
void Lookahead::serve(Entry& entry) {
  at_work_.fetch_add(1);
  make(entry);
  if (run_) run_ready(nullptr);
  at_work_.fetch_sub(1);
}

void Lookahead::make(Entry& entry) const {
  Preparation& p = entry.preparation;
  p.primary.reset();
  p.values_seconds = p.oracle_seconds = p.kernel_seconds = 0;
  try {
    {
      const Stopwatch watch(p.values_seconds);
      p.inputs = make_inputs(p.c);
    }
    const Stopwatch watch(p.oracle_seconds);
    p.oracle.evaluate(p.c, p.inputs);
  } catch (...) {
    entry.error = std::current_exception();
  }
  entry.made.store(true);
}

// For who waits: makes the first case that nobody has begun. False if there is none.
bool Lookahead::make_next() {
  const auto make_unbegun = [&](Entry& entry) {
    if (!Crew::withdraw(*entry.task)) return false;
    make(entry);
    return true;
  };
  return make_unbegun(*current_) ||
         std::ranges::any_of(waiting_, [&](const auto& entry) { return make_unbegun(*entry); });
}

// The next case to run, if its values are there.
Lookahead::Entry* Lookahead::take_ready() {
  const std::lock_guard lock(to_run_mutex_);
  if (to_run_.empty() || !to_run_.front()->made.load()) return nullptr;
  Entry* const entry = to_run_.front();
  to_run_.pop_front();
  return entry;
}

// Runs what is ready, up to `last` if that is given, unless another thread is at it. What becomes
// ready as that thread leaves is run by the judging thread in its turn. False if nothing was.
bool Lookahead::run_ready(const Entry* last) {
  const std::unique_lock lock(device_, std::try_to_lock);
  bool any = false;
  while (lock && (last == nullptr || !last->ran.load(std::memory_order_relaxed))) {
    Entry* const entry = take_ready();
    if (entry == nullptr) break;
    any = true;
    if (!entry->error) {
      try {
        const Stopwatch watch(entry->preparation.kernel_seconds);
        run_(entry->preparation);
      } catch (...) {
        entry->error = std::current_exception();
      }
    }
    entry->ran.store(true);
  }
  return any;
}

// Afterwards nobody is at work on the entry.
void Lookahead::forget(Entry& entry) {
  if (!entry.task) return;
  if (!Crew::withdraw(*entry.task)) {
    while (!entry.made.load()) _mm_pause();
  }
  entry.task = nullptr;
  bool waits = !run_;
  if (run_) {
    const std::lock_guard lock(to_run_mutex_);
    waits = std::erase(to_run_, &entry) > 0;
  }
  while (!waits && !entry.ran.load()) _mm_pause();
  entry.made.store(false);
  entry.ran.store(false);
  entry.error = nullptr;
}

const Case& Lookahead::next() {
  if (current_) {
    forget(*current_);
    spare_.push_back(std::move(current_));
  }
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  return current_->preparation.c;
}

TrialResult Lookahead::judge(Trial& trial, const Case& c) {
  if (!current_ || !current_->task || current_->preparation.c != c) return trial.run(c);
  Entry& entry = *current_;
  while (!(run_ ? entry.ran : entry.made).load()) {
    if (!(run_ && run_ready(&entry)) && !make_next()) _mm_pause();
  }
  if (entry.error) std::rethrow_exception(entry.error);
  return trial.run(entry.preparation);
}

}  // namespace warpfuzz
