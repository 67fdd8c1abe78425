#include "fuzzers/profile_calls.h"

#include "fuzzers/usual_oracle.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr int attempts = 64;

// Streams of neighbouring seeds, combinations and laws must not be neighbours.
uint32_t stream_seed(uint32_t seed, size_t dtype_combination, ValueLaw law) {
  return static_cast<uint32_t>(
      random_bits(seed, dtype_combination * value_law_count + static_cast<size_t>(law)));
}

}  // namespace

ProfileCalls::ProfileCalls(std::shared_ptr<const Schema> schema, size_t dtype_combination,
                           ValueLaw law, const CaseLimits& limits,
                           const Preconditions& preconditions, Constants constants, uint32_t seed)
    : schema_(std::move(schema)),
      dtype_combination_(dtype_combination),
      law_(law),
      limits_(limits),
      preconditions_(&preconditions),
      constants_(constants),
      random_(stream_seed(seed, dtype_combination, law)) {}

std::optional<Case> ProfileCalls::next() {
  for (int i = 0; i < attempts && !none_; ++i) {
    Case c = draw();
    if (is_wanted(c)) return c;
  }
  std::optional<Case> c = fallback();
  none_ = !c;
  return c;
}

Case ProfileCalls::draw() {
  Case c = random_case(schema_, random_, limits_, constants_);
  c.dtype_combination = dtype_combination_;
  c.extra_runs = 0;
  c.schedule_seed = 0;
  set_values(c);
  legalize(c, limits_);
  return c;
}

bool ProfileCalls::is_wanted(const Case& c) const {
  return c.dtype_combination == dtype_combination_ && c.inputs[0].law == law_ &&
         preconditions_->admit(c);
}

void ProfileCalls::set_values(Case& c) {
  const bool follow = random_() / 2 % 2 == 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const TensorSpec& spec = schema_->inputs[i];
    c.inputs[i].law = i == 0 || (follow && spec.allows(law_)) ? law_ : spec.laws.front();
    c.inputs[i].pokes.clear();
  }
}

// A kernel of few shapes: the one that benchmarks would take, with other values each time.
std::optional<Case> ProfileCalls::fallback() {
  std::optional<Case> c = benchmark_case(schema_, dtype_combination_, *preconditions_);
  if (!c) return std::nullopt;
  for (TensorCase& input : c->inputs) input.seed = static_cast<uint32_t>(random_());
  set_values(*c);
  if (!illegality(*c).empty() || tier(*c) > limits_.max_tier || !is_wanted(*c)) return std::nullopt;
  return c;
}

}  // namespace warpfuzz
