#include "fuzzers/interrupt.h"

namespace warpfuzz {
namespace {

volatile std::sig_atomic_t signalled = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  signalled = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { signalled = 1; };
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

bool interrupted() { return signalled != 0; }

}  // namespace warpfuzz
