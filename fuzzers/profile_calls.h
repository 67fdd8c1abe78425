// The calls of a value profile: random, of one dtype combination and with one law of the first
// input.
#pragma once

#include <memory>
#include <optional>

#include "fuzzers/trial.h"
#include "schemas/mutation.h"

namespace warpfuzz {

class ProfileCalls {
 public:
  // `preconditions` and `constants` must outlive this.
  ProfileCalls(std::shared_ptr<const Schema> schema, size_t dtype_combination, ValueLaw law,
               const CaseLimits& limits, const Preconditions& preconditions, Constants constants,
               uint32_t seed);

  // Nothing if no call that the kernel admits was found; then there will be none later.
  std::optional<Case> next();

 private:
  Case draw();
  bool is_wanted(const Case& c) const;
  void set_values(Case& c);
  std::optional<Case> fallback();

  std::shared_ptr<const Schema> schema_;
  size_t dtype_combination_;
  ValueLaw law_;
  CaseLimits limits_;
  const Preconditions* preconditions_;
  Constants constants_;
  Random random_;
  bool none_ = false;
};

}  // namespace warpfuzz
