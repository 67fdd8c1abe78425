#include "fuzzers/lookahead.h"

#include <utility>

#include "fuzzers/stopwatch.h"
#include "seeds/value_law.h"

namespace warpfuzz {

void Preparation::make() {
  values_seconds = oracle_seconds = 0;
  {
    const Stopwatch watch(values_seconds);
    inputs = make_inputs(c);
  }
  const Stopwatch watch(oracle_seconds);
  oracle.evaluate(c, inputs);
}

void Lookahead::Entry::forget_task() {
  if (task) Crew::cancel(*task);
  task = nullptr;
}

// As many as there are threads besides the one that runs trials.
Lookahead::Lookahead() : depth_(Crew::threads() - 1) {}

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
    entry->task = Crew::start([preparation = &entry->preparation] { preparation->make(); });
  }
  waiting_.push_back(std::move(entry));
}

const Case& Lookahead::next() {
  if (current_) {
    current_->forget_task();
    spare_.push_back(std::move(current_));
  }
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  return current_->preparation.c;
}

Preparation* Lookahead::prepared(const Case& c) {
  if (!current_ || !current_->task || current_->preparation.c != c) return nullptr;
  Crew::finish(*current_->task);
  return &current_->preparation;
}

}  // namespace warpfuzz
