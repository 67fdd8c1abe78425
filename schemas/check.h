// CHECK: an invariant of our own that must hold in every build. A failure is a defect of warpfuzz,
// so it prints where and what and ends the process with an exit code of its own, which nobody takes
// for a crash of the kernel. Never for what a user or a kernel did.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace warpfuzz {
inline constexpr int broken_exit_code = 70;
}

#define WARPFUZZ_CHECK(condition, ...)                                                          \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fmt::print(stderr, "{}:{}: warpfuzz is broken: {}: {}\n", __FILE__, __LINE__, #condition, \
                 fmt::format(__VA_ARGS__));                                                     \
      std::_Exit(warpfuzz::broken_exit_code);                                                   \
    }                                                                                           \
  } while (false)
