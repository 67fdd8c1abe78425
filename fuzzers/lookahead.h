// Cases on their way to their turn. Values and expectations of the next few are made by the crew
// (reference/crew.h) while the device works on earlier ones; cases are handed out in the order in
// which they came. Without a crew nothing is made ahead, and each case is handed out at once.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "reference/crew.h"
#include "reference/oracle.h"
#include "schemas/case.h"
#include "schemas/tensor.h"

namespace warpfuzz {

// What a trial needs of a case besides the kernel. Its memory serves case after case.
struct Preparation {
  Case c;
  std::vector<Tensor> inputs;
  Oracle oracle;  // has evaluated the call, at its usual level
  double values_seconds = 0;
  double oracle_seconds = 0;

  void make();
};

class Lookahead {
 public:
  Lookahead();

  // Whether add() should be called again before next().
  bool wants_more() const { return waiting_.size() <= depth_; }
  void add(Case c);
  // The case whose turn it is.
  const Case& next();
  // What was made of `c`, if it is the case that next() gave last; nullptr if not, and without a
  // crew. Stays valid until next().
  Preparation* prepared(const Case& c);

 private:
  struct Entry {
    ~Entry() { forget_task(); }
    void forget_task();  // afterwards nobody is at work on the preparation

    Preparation preparation;
    std::shared_ptr<Crew::Task> task;  // none without a crew
  };

  size_t depth_;
  std::deque<std::unique_ptr<Entry>> waiting_;
  std::unique_ptr<Entry> current_;
  std::vector<std::unique_ptr<Entry>> spare_;
};

}  // namespace warpfuzz
