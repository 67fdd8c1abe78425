// The ways in which a value profile is shown: text, JSON, SVG.
#pragma once

#include <string>

#include "fuzzers/value_profile.h"

namespace warpfuzz {

struct ProfileHeader {
  std::string op;
  std::string kernel;  // its path
  std::string device;
  int tier = 2;
  uint32_t seed = 1;
};

// A table of at most 120 columns per dtype combination: counts, percentiles of the error in ulp and
// of its ratio to the tolerance; below it, where the largest were.
std::string profile_text(const ProfileHeader& header, const ValueProfile& profile);

// One object: all counts, percentiles, extremes and distributions.
std::string profile_json(const ProfileHeader& header, const ValueProfile& profile);

// A page of plots, one per dtype combination: the cumulative distribution of the error in ulp, one
// line per law. Refers to nothing outside itself.
std::string profile_svg(const ProfileHeader& header, const ValueProfile& profile);

}  // namespace warpfuzz
