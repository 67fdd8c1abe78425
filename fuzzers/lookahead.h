// Cases on their way to their turn. The crew (reference/crew.h) makes values and expectations of
// the next few, and where the device lets any thread use it also runs them, in the order in which
// they came and one at a time: then the device works on the next case while the last one is judged.
// Cases are handed out in the order in which they came. Without a crew nothing is made ahead, and
// each case is handed out at once.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "fuzzers/preparation.h"
#include "fuzzers/trial.h"
#include "reference/crew.h"

namespace warpfuzz {

class Lookahead {
 public:
  // Makes Preparation::primary of a case whose inputs are there, or leaves it out. Called by
  // changing threads, by one at a time.
  using Run = std::function<void(Preparation&)>;
  explicit Lookahead(Run run = {});
  ~Lookahead();
  Lookahead(const Lookahead&) = delete;
  Lookahead& operator=(const Lookahead&) = delete;

  // Whether add() should be called again before next().
  bool wants_more() const { return waiting_.size() <= depth_; }
  void add(Case c);
  // The case whose turn it is.
  const Case& next();
  // Judges `c` with what was made of it, if it is the case that next() gave last; from its
  // beginning if not, and without a crew.
  TrialResult judge(Trial& trial, const Case& c);

 private:
  struct Entry {
    Preparation preparation;
    std::shared_ptr<Crew::Task> task;  // none without a crew
    std::atomic<bool> made{false};     // values and expectation
    std::atomic<bool> ran{false};
    std::exception_ptr error;  // of either
  };

  void make(Entry& entry) const;
  bool make_next();
  void serve(Entry& entry);
  bool run_ready(const Entry* last);
  Entry* take_ready();
  void forget(Entry& entry);

  Run run_;
  size_t depth_;
  std::deque<std::unique_ptr<Entry>> waiting_;
  std::unique_ptr<Entry> current_;
  std::vector<std::unique_ptr<Entry>> spare_;
  std::atomic<int> at_work_{0};  // threads of the crew
  std::mutex device_;            // held by who runs cases
  std::mutex to_run_mutex_;      // of the following
  std::deque<Entry*> to_run_;
};

}  // namespace warpfuzz
