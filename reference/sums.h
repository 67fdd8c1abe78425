// An output that the rows of a reference add to (OutputForm::sums): what level 0 knows of each of
// its sums so far. The error of an addend is independent of that of another, since they come from
// different rows; the second look takes them for one and the same (NUMERICS.md, "Sums over rows").
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace warpfuzz {

struct Sums {
  size_t lane = 0;                // elements that one addition reaches
  std::vector<size_t> additions;  // per lane
  std::vector<double> value;      // per element, as all that follow
  std::vector<double> magnitude;  // of the finite addends
  std::vector<double> positive;   // of the finite addends, those above 0
  std::vector<double> squares;
  std::vector<double> lin, var, e, b;  // of the addends, their own errors
  std::vector<uint8_t> doubt;
  double quantum = 0;  // of all addends
  double floor = 0;
  bool special = false;
  bool inexact = false;                // some addend has a tolerance
  bool keep = false;                   // the addends themselves, for the second look
  std::vector<double> addends;         // lane after lane, in the order of the additions
  std::vector<size_t> addend_targets;  // per addition, the lane

  void reset(size_t elements, size_t elements_of_lane, bool keep_addends) {
    lane = elements_of_lane;
    additions.assign(lane == 0 ? 0 : elements / lane, 0);
    for (auto* column : {&value, &magnitude, &positive, &squares, &lin, &var, &e, &b}) {
      column->assign(elements, 0);
    }
    doubt.assign(elements, 0);
    quantum = floor = std::numeric_limits<double>::infinity();
    special = inexact = false;
    keep = keep_addends;
    addends.clear();
    addend_targets.clear();
  }
};

}  // namespace warpfuzz
