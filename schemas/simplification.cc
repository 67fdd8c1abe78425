// The shrinking side of mutation.h: which cases are simpler, and the steps towards them.
#include <algorithm>
#include <bit>
#include <iterator>

#include "schemas/axis_rules.h"
#include "schemas/mutation.h"

namespace warpfuzz {
namespace {

// Simplest first: laws that a person can evaluate in the head, then plain random ones.
constexpr ValueLaw simplest_laws[] = {
    ValueLaw::constant, ValueLaw::all_equal, ValueLaw::one_hot,        ValueLaw::ramp,
    ValueLaw::uniform,  ValueLaw::normal,    ValueLaw::coarse_lattice, ValueLaw::lattice};

uint64_t law_rank(ValueLaw law) {
  const auto* found = std::find(std::begin(simplest_laws), std::end(simplest_laws), law);
  if (found != std::end(simplest_laws)) {
    return static_cast<uint64_t>(found - std::begin(simplest_laws));
  }
  return std::size(simplest_laws) + static_cast<uint64_t>(law);
}

// An empty axis is stranger than one of length 1 and simpler than any other.
uint64_t extent_rank(int64_t value) {
  return value == 0 ? 1 : value == 1 ? 0 : static_cast<uint64_t>(value);
}

uint64_t attribute_rank(const Attribute& attribute, const AttributeValue& value) {
  const double number =
      attribute.kind == AttributeKind::real ? value.real : static_cast<double>(value.integer);
  const auto found = std::find(attribute.usual.begin(), attribute.usual.end(), number);
  return static_cast<uint64_t>(found - attribute.usual.begin());
}

// Extents to try below `value`, boldest first: just above each power of two (a bug behind a tile
// boundary is found in few trials), then bisecting what is left, then powers of two and multiples
// of eight for kernels that demand them.
std::vector<int64_t> smaller_extents(int64_t value) {
  std::vector<int64_t> result = {1, 2, 5};
  int64_t base = 1;
  for (int64_t tile = 16; tile + 1 < value; tile *= 2) {
    base = tile + 1;
    result.push_back(base);
  }
  for (int64_t gap = (value - base) / 2; gap > 1; gap /= 2) result.push_back(value - gap);
  result.push_back(base - 1);
  for (int64_t multiple : {64, 8, 4}) {
    result.push_back((value - 1) / multiple * multiple);
    result.push_back(value / 2 / multiple * multiple);
  }
  result.push_back(value - 2);
  result.push_back(value - 1);
  return result;
}

class Simplifier {
 public:
  explicit Simplifier(const Case& c)
      : original_(c), complexity_(complexity(c)), limits_{tier(c), c.size_class} {}

  std::vector<Case> run() {
    everything_plain();
    all_axes_halved();
    axes();
    size_class();
    extra_runs();
    attributes();
    for (size_t i = 0; i < original_.inputs.size(); ++i) {
      views([i](Case& c) -> TensorCase& { return c.inputs[i]; });
      values(i);
    }
    for (size_t i = 0; i < original_.outputs.size(); ++i) {
      views([i](Case& c) -> TensorCase& { return c.outputs[i]; });
    }
    return std::move(result_);
  }

 private:
  // Adds the changed case if it is legal without further changes and simpler.
  template <class Change>
  void propose(Change change) {
    Case candidate = original_;
    change(candidate);
    if (complexity(candidate) >= complexity_) return;
    legalize(candidate, limits_);
    if (complexity(candidate) < complexity_ &&
        candidate.dtype_combination == original_.dtype_combination &&
        std::find(result_.begin(), result_.end(), candidate) == result_.end()) {
      result_.push_back(std::move(candidate));
    }
  }

  void everything_plain() {
    propose([](Case& c) {
      c.extra_runs = 0;
      for (auto* tensors : {&c.inputs, &c.outputs}) {
        for (TensorCase& tensor : *tensors) {
          tensor.layout = Layout::contiguous;
          tensor.offset = 0;
          tensor.seed = 0;
          tensor.pokes.clear();
        }
      }
    });
  }

  void all_axes_halved() {
    propose([](Case& c) {
      for (int64_t& extent : c.axes) {
        if (extent > 1) extent /= 2;
      }
    });
  }

  void axes() {
    for (size_t i = 0; i < original_.axes.size(); ++i) {
      if (!original_.schema->axes[i].variable()) continue;
      const int64_t value = original_.axes[i];
      if (value == 1) continue;
      if (value == 0) {
        propose([&](Case& c) { c.axes[i] = 1; });
        continue;
      }
      for (int64_t smaller : smaller_extents(value)) {
        if (smaller >= 1) propose([&](Case& c) { c.axes[i] = smaller; });
      }
    }
  }

  void size_class() {
    for (uint8_t k = 0; k < original_.size_class; ++k) {
      if (original_.work() > work_limits[k]) continue;
      propose([&](Case& c) { c.size_class = k; });
      return;
    }
  }

  void extra_runs() {
    propose([](Case& c) { c.extra_runs = 0; });
    for (ExtraRun run : every_extra_run) {
      propose([&](Case& c) { c.extra_runs &= static_cast<uint8_t>(~static_cast<uint8_t>(run)); });
    }
    propose([](Case& c) { c.schedule_seed = 0; });
    propose([](Case& c) { c.schedule_seed = std::min<uint32_t>(c.schedule_seed, 15) / 2; });
  }

  void attributes() {
    for (size_t i = 0; i < original_.attributes.size(); ++i) {
      const Attribute& attribute = original_.schema->attributes[i];
      for (double usual : attribute.usual) {
        propose([&](Case& c) {
          c.attributes[i] = attribute.kind == AttributeKind::real
                                ? AttributeValue{0, usual}
                                : AttributeValue{static_cast<int64_t>(usual), 0};
        });
      }
    }
  }

  template <class Select>
  void views(Select select) {
    propose([&](Case& c) {
      select(c).layout = Layout::contiguous;
      select(c).offset = 0;
    });
    propose([&](Case& c) { select(c).layout = Layout::contiguous; });
    propose([&](Case& c) { select(c).offset = 0; });
    propose([&](Case& c) { select(c).offset = 1; });
    propose([&](Case& c) { select(c).offset /= 2; });
    propose([&](Case& c) { select(c).row_padding = 1; });
    propose([&](Case& c) { select(c).row_padding /= 2; });
  }

  void values(size_t input) {
    for (ValueLaw law : simplest_laws) {
      if (original_.schema->inputs[input].allows(law)) {
        propose([&](Case& c) { c.inputs[input].law = law; });
      }
    }
    propose([&](Case& c) { c.inputs[input].seed = 0; });
    propose([&](Case& c) { c.inputs[input].seed %= 16; });  // keeps the variant of a law
    propose([&](Case& c) { c.inputs[input].seed /= 2; });
    propose([&](Case& c) { c.inputs[input].pokes.clear(); });
    const std::vector<Poke>& pokes = original_.inputs[input].pokes;
    for (size_t i = 0; i < pokes.size(); ++i) {
      const auto poke = [&](Case& c) -> Poke& { return c.inputs[input].pokes[i]; };
      propose([&](Case& c) {
        c.inputs[input].pokes.erase(c.inputs[input].pokes.begin() + static_cast<std::ptrdiff_t>(i));
      });
      propose([&](Case& c) { poke(c).position = 0; });
      propose([&](Case& c) { poke(c).position /= 2; });
      propose([&](Case& c) { poke(c).value = PokeValue::zero; });
      propose([&](Case& c) { poke(c).value = PokeValue::one; });
    }
  }

  const Case& original_;
  const std::vector<uint64_t> complexity_;
  const CaseLimits limits_;
  std::vector<Case> result_;
};

}  // namespace

std::vector<Case> simplifications(const Case& c) { return Simplifier(c).run(); }

std::vector<uint64_t> complexity(const Case& c) {
  uint64_t views = 0, extents = 0, pokes = 0, laws = 0, attributes = 0, distances = 0, seeds = 0,
           far_positions = 0, positions = 0, poke_values = 0;
  for (size_t i = 0; i < c.axes.size(); ++i) {
    if (c.schema->axes[i].variable()) extents += extent_rank(c.axes[i]);
  }
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    attributes += attribute_rank(c.schema->attributes[i], c.attributes[i]);
  }
  for (const auto* tensors : {&c.inputs, &c.outputs}) {
    for (const TensorCase& tensor : *tensors) {
      views += tensor.layout != Layout::contiguous;
      views += tensor.offset != 0;
      distances += static_cast<uint64_t>(tensor.offset + tensor.row_padding);
      laws += law_rank(tensor.law);
      seeds += tensor.seed;
      pokes += tensor.pokes.size();
      for (const Poke& poke : tensor.pokes) {
        far_positions += poke.position >> 32;  // in two words: their sums cannot overflow
        positions += poke.position & 0xFFFFFFFF;
        poke_values += static_cast<uint64_t>(poke.value);
      }
    }
  }
  const auto runs = static_cast<uint64_t>(std::popcount(c.extra_runs));
  return {views,       extents, pokes,          runs,          static_cast<uint64_t>(c.size_class),
          attributes,  laws,    distances,      far_positions, positions,
          poke_values, seeds,   c.schedule_seed};
}

}  // namespace warpfuzz
