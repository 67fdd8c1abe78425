// The value profile of a kernel: how far its outputs lie from the unrounded reference, per dtype
// combination and per value law of the first input. A description, no judgement: wrong elements are
// counted and take part like all others.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzzers/error_sketch.h"
#include "fuzzers/kernel_under_test.h"
#include "reference/quantisation.h"
#include "schemas/case.h"

namespace warpfuzz {

struct ProfileOptions {
  CaseLimits limits;
  uint64_t runs = 0;   // 0: `seconds` is the bound
  double seconds = 0;  // 0: `runs` is the bound
  uint32_t seed = 1;
  std::chrono::milliseconds time_limit{10000};  // of one call
};

// The largest of some figure, and where it was.
struct Extreme {
  double value = 0;
  std::string call;     // describe() of the case; empty: there was none
  std::string element;  // "y[3,17]"
  double observed = 0;
  double expected = 0;  // unrounded
};

// One figure of many elements.
struct Distribution {
  ErrorSketch sketch;
  Extreme worst;  // the first that was so large

  void merge(const Distribution& other);
};

struct ProfileCounts {
  uint64_t calls = 0;
  uint64_t failed = 0;      // of them, not run to their end: no outputs
  uint64_t elements = 0;    // of the others' outputs; each is one of the next four or measured
  uint64_t nan = 0;         // observed
  uint64_t infinite = 0;    // observed
  uint64_t undecided = 0;   // not judged by the oracle
  uint64_t unexpected = 0;  // finite where the reference is not
  uint64_t exact = 0;       // of those measured, without tolerance
  uint64_t wrong = 0;       // of all, beyond the tolerance or of a class that is not allowed

  void merge(const ProfileCounts& other);
};

struct ErrorProfile {
  ProfileCounts counts;
  Distribution ulps;    // |y - r| / ulp(r), of the elements measured
  Distribution ratios;  // error / tolerance, the output's rounding included, where there is one
  Distribution shares;  // the part of the tolerance that computing used, without that rounding
  // Of a quantised operator, under one law: errors of calls of other magnitudes do not add up.
  QuantisationError quantisation;
  std::string failure;  // of the first call that failed: what happened, and the call

  void merge(const ErrorProfile& other);
};

struct LawProfile {
  ValueLaw law = ValueLaw::normal;
  ErrorProfile profile;
};

struct DTypeProfile {
  std::string dtypes;  // "float32", "T=float16 U=float32"
  std::vector<LawProfile> laws;

  ErrorProfile total() const;
};

struct ValueProfile {
  std::vector<DTypeProfile> dtypes;  // those of which the kernel admits calls
  double seconds = 0;
  bool interrupted = false;
  bool device_lost = false;

  ErrorProfile total() const;
};

// Calls are drawn at random for each pair of combination and law in turn: no pokes, contiguous
// unless the limits allow views; other inputs follow the law of the first where they may or have
// their default one, by chance. The same seed and runs give the same profile. Throws UsageError if
// the kernel admits no call.
ValueProfile measure_profile(const std::shared_ptr<const Schema>& schema,
                             const KernelUnderTest& under_test, const ProfileOptions& options);

}  // namespace warpfuzz
