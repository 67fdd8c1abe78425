// CHECK: an invariant of our own that must hold in every build. A failure is a defect of warpfuzz,
// so it prints where and what and aborts. Never for what a user or a kernel did.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#define WARPFUZZ_CHECK(condition, ...)                                                          \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fmt::print(stderr, "{}:{}: warpfuzz is broken: {}: {}\n", __FILE__, __LINE__, #condition, \
                 fmt::format(__VA_ARGS__));                                                     \
      std::abort();                                                                             \
    }                                                                                           \
  } while (false)
