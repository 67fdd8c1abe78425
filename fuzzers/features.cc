#include "fuzzers/features.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "schemas/check.h"

namespace warpfuzz {
namespace {

// One kind of feature: a range of the counters.
struct Domain {
  size_t first;
  size_t count;
};
constexpr size_t combinations = 16;  // dtype combinations beyond these share counters
constexpr size_t laws = 24;
constexpr size_t max_inputs = 4;
constexpr size_t max_axes = 6;
constexpr size_t magnitudes = 24;  // log2 classes of an axis
constexpr size_t residues = 14;
constexpr size_t stairs = 48;

constexpr Domain law_domain{0, combinations* laws* max_inputs};
constexpr Domain magnitude_domain{law_domain.first + law_domain.count, max_axes* magnitudes};
constexpr Domain residue_domain{magnitude_domain.first + magnitude_domain.count,
                                max_axes* residues};
constexpr Domain layout_domain{residue_domain.first + residue_domain.count, max_inputs * 2 * 4};
constexpr Domain outcome_domain{layout_domain.first + layout_domain.count, 64};
constexpr Domain stair_domain{outcome_domain.first + outcome_domain.count, combinations* stairs};
static_assert(stair_domain.first + stair_domain.count <= feature_counter_count);

class Recorder {
 public:
  explicit Recorder(std::span<uint8_t> counters) : counters_(counters) {}
  void set(Domain domain, size_t index) {
    counters_[domain.first + std::min(index, domain.count - 1)] = 1;
  }

 private:
  std::span<uint8_t> counters_;
};

// Distance to a multiple of each power of two that kernels use as a tile or vector width.
void record_residues(Recorder& recorder, size_t axis, int64_t value) {
  size_t index = axis * residues;
  for (int64_t tile : {4, 16, 32, 64, 128, 256, 1024}) {
    if (value % tile == 0) recorder.set(residue_domain, index);
    if (value > tile && value % tile == 1) recorder.set(residue_domain, index + 1);
    index += 2;
  }
}

// Stair k is reached when error / tolerance is at least 2^(k - 40): lower stairs are set too, so
// that each step up is one new counter.
void record_stairs(Recorder& recorder, size_t combination, double ratio) {
  if (!(ratio > 0)) return;
  const double step = std::clamp(std::floor(std::log2(ratio)) + 40, -1.0, double{stairs - 1});
  if (step >= 0) recorder.set(stair_domain, combination * stairs + static_cast<size_t>(step));
}

}  // namespace

void record_features(const Case& c, const TrialResult& result, std::span<uint8_t> counters) {
  WARPFUZZ_CHECK(counters.size() >= feature_counter_count, "{} counters", counters.size());
  Recorder recorder(counters);
  const size_t combination = std::min(c.dtype_combination, combinations - 1);
  for (size_t i = 0; i < std::min(c.inputs.size(), max_inputs); ++i) {
    const auto law = static_cast<size_t>(c.inputs[i].law);
    recorder.set(law_domain, (i * combinations + combination) * laws + law);
    recorder.set(layout_domain, i * 4 + static_cast<size_t>(c.inputs[i].layout));
  }
  for (size_t i = 0; i < std::min(c.outputs.size(), max_inputs); ++i) {
    recorder.set(layout_domain, (max_inputs + i) * 4 + static_cast<size_t>(c.outputs[i].layout));
  }
  for (size_t i = 0; i < std::min(c.axes.size(), max_axes); ++i) {
    const auto magnitude = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(c.axes[i])));
    recorder.set(magnitude_domain, i * magnitudes + std::min(magnitude, magnitudes - 1));
    record_residues(recorder, i, c.axes[i]);
  }
  recorder.set(outcome_domain, static_cast<size_t>(result.outcome));
  recorder.set(outcome_domain, 8 + static_cast<size_t>(result.primary.run.status));
  recorder.set(outcome_domain, 16 + std::min<size_t>(result.primary.run.launches, 7));
  if (result.primary.run.failed_launches > 0) recorder.set(outcome_domain, 24);
  for (const Comparison& comparison : result.primary.comparisons) {
    if (comparison.undecided > 0) recorder.set(outcome_domain, 25);
    if (comparison.escalated > 0) recorder.set(outcome_domain, 26);
  }
  record_stairs(recorder, combination, result.worst_ratio);
}

}  // namespace warpfuzz
