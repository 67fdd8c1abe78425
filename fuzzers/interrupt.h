// Ctrl-C (SIGINT) and SIGTERM as a question that a loop asks, so that it can end in order: children
// stopped, temporary files removed.
#pragma once

#include <csignal>

namespace warpfuzz {

// While one exists, the signals only make interrupted() true; the old handlers come back with its
// end.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_int_ = {}, old_term_ = {};
};

bool interrupted();

}  // namespace warpfuzz
