#include "schemas/mutation.h"

#include <algorithm>
#include <iterator>

#include "schemas/axis_rules.h"
#include "schemas/axis_values.h"
#include "schemas/random_choice.h"

namespace warpfuzz {
namespace {

size_t pick_variable_axis(const Schema& schema, Random& random) {
  size_t count = 0;
  for (const Axis& axis : schema.axes) count += axis.variable();
  if (count == 0) return no_axis;
  size_t steps = below(random, count);
  for (size_t i = 0;; ++i) {
    if (schema.axes[i].variable() && steps-- == 0) return i;
  }
}

int64_t boundary_extent(const Axis& axis, Random& random) {
  if (!axis.boundary.empty() && one_in(random, 2)) return pick(random, axis.boundary);
  return pick(random, general_axis_values);
}

// Small, boundary, or of any magnitude up to the work limit.
int64_t random_extent(const Axis& axis, uint8_t size_class, Random& random) {
  switch (below(random, 4)) {
    case 0:
      return static_cast<int64_t>(below(random, 34));
    case 1:
      return boundary_extent(axis, random);
    default: {
      const int64_t most = std::min(axis.maximum, work_limits[size_class]);
      const uint64_t bits = 1 + below(random, 20);
      return std::min(most, static_cast<int64_t>(1 + below(random, uint64_t{1} << bits)));
    }
  }
}

uint8_t random_size_class(Random& random) {
  static constexpr uint64_t tiny = 50, small = 80, medium = 97;  // percent, cumulative
  const uint64_t percent = below(random, 100);
  return static_cast<uint8_t>((percent >= tiny) + (percent >= small) + (percent >= medium));
}

uint32_t random_seed(Random& random) {
  // Small seeds select the variants of a law and keep the bytes short.
  return static_cast<uint32_t>(one_in(random, 2) ? below(random, 16)
                                                 : below(random, uint64_t{1} << 32));
}

AttributeValue random_attribute(const Attribute& attribute, Random& random) {
  double value = pick(random, attribute.values);
  if (attribute.kind == AttributeKind::integer && one_in(random, 2)) {
    value = attribute.minimum +
            static_cast<double>(
                below(random, static_cast<uint64_t>(attribute.maximum - attribute.minimum) + 1));
  } else if (attribute.kind == AttributeKind::real && one_in(random, 8)) {
    value *= one_in(random, 2) ? 2 : 0.5;
  }
  if (attribute.kind == AttributeKind::real) return {0, value};
  return {static_cast<int64_t>(value), 0};
}

Poke random_poke(const Case& c, const TensorSpec& spec, Random& random) {
  uint64_t size = 1;
  for (size_t axis : spec.axes) size *= static_cast<uint64_t>(c.axes[axis]);
  Poke poke;
  const uint64_t last = std::max<uint64_t>(size, 1) - 1;
  const uint64_t where = below(random, 4);
  poke.position = where == 0 ? 0 : where == 1 ? last : below(random, size);
  poke.value = static_cast<PokeValue>(below(random, poke_value_count));
  return poke;
}

// An input or output at random, together with what the schema says of it.
struct TensorChoice {
  TensorCase& tensor;
  const TensorSpec& spec;
};
TensorChoice pick_tensor(Case& c, Random& random) {
  const size_t i = below(random, c.inputs.size() + c.outputs.size());
  if (i < c.inputs.size()) return {c.inputs[i], c.schema->inputs[i]};
  return {c.outputs[i - c.inputs.size()], c.schema->outputs[i - c.inputs.size()]};
}

bool axis_change(Case& c, Random& random, size_t& favoured,
                 int64_t (*change)(const Case&, const Axis&, int64_t, Random&)) {
  favoured = pick_variable_axis(*c.schema, random);
  if (favoured == no_axis) return false;
  int64_t& value = c.axes[favoured];
  value = change(c, c.schema->axes[favoured], value, random);
  return true;
}

bool axis_step(Case& c, Random& random, size_t& favoured) {
  return axis_change(c, random, favoured, [](const Case&, const Axis&, int64_t value, Random& r) {
    return one_in(r, 2) ? value + 1 : value - 1;
  });
}
bool axis_boundary(Case& c, Random& random, size_t& favoured) {
  return axis_change(c, random, favoured, [](const Case&, const Axis& axis, int64_t, Random& r) {
    return boundary_extent(axis, r);
  });
}
bool axis_uniform(Case& c, Random& random, size_t& favoured) {
  return axis_change(c, random, favoured, [](const Case& k, const Axis& axis, int64_t, Random& r) {
    return random_extent(axis, k.size_class, r);
  });
}
bool axis_scale(Case& c, Random& random, size_t& favoured) {
  return axis_change(c, random, favoured, [](const Case&, const Axis&, int64_t value, Random& r) {
    return one_in(r, 2) ? value * 2 : value / 2;
  });
}
bool axis_swap(Case& c, Random& random, size_t& favoured) {
  favoured = pick_variable_axis(*c.schema, random);
  const size_t other = pick_variable_axis(*c.schema, random);
  if (favoured == other) return false;
  std::swap(c.axes[favoured], c.axes[other]);
  return true;
}

bool axis_constant(Case& c, Random& random, size_t& favoured, Constants constants) {
  if (constants.empty()) return false;
  favoured = pick_variable_axis(*c.schema, random);
  if (favoured == no_axis) return false;
  const int64_t constant = pick(random, constants);
  switch (below(random, 4)) {
    case 0:
      c.axes[favoured] = constant + (one_in(random, 2) ? 1 : -1);
      break;
    case 1:
      c.axes[favoured] = constant * (2 + static_cast<int64_t>(below(random, 3)));
      break;
    default:
      c.axes[favoured] = constant;
      break;
  }
  return true;
}

bool change_dtypes(Case& c, Random& random, size_t&) {
  c.dtype_combination = below(random, c.schema->dtype_combinations.size());
  return true;
}

bool change_attribute(Case& c, Random& random, size_t&) {
  if (c.attributes.empty()) return false;
  const size_t i = below(random, c.attributes.size());
  c.attributes[i] = random_attribute(c.schema->attributes[i], random);
  return true;
}

bool change_law(Case& c, Random& random, size_t&) {
  if (c.inputs.empty()) return false;
  const size_t i = below(random, c.inputs.size());
  c.inputs[i].law = pick(random, c.schema->inputs[i].laws);
  return true;
}

// One input takes the law of another: pairs of laws that only work together become likely.
bool copy_law(Case& c, Random& random, size_t&) {
  if (c.inputs.size() < 2) return false;
  const TensorCase& from = pick(random, c.inputs);
  const size_t to = below(random, c.inputs.size());
  if (!c.schema->inputs[to].allows(from.law)) return false;
  c.inputs[to].law = from.law;
  return true;
}

bool all_lattice(Case& c, Random&, size_t&) {
  bool any = false;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.schema->inputs[i].allows(ValueLaw::lattice)) continue;
    c.inputs[i].law = ValueLaw::lattice;
    any = true;
  }
  return any;
}

bool change_seed(Case& c, Random& random, size_t&) {
  if (c.inputs.empty()) return false;
  uint32_t& seed = pick(random, c.inputs).seed;
  seed = one_in(random, 4) ? seed ^ 1u << below(random, 4) : random_seed(random);
  return true;
}

bool add_poke(Case& c, Random& random, size_t&) {
  if (c.inputs.empty()) return false;
  const size_t i = below(random, c.inputs.size());
  std::vector<Poke>& pokes = c.inputs[i].pokes;
  if (pokes.size() == max_pokes) return false;
  pokes.push_back(random_poke(c, c.schema->inputs[i], random));
  return true;
}
bool remove_poke(Case& c, Random& random, size_t&) {
  if (c.inputs.empty()) return false;
  std::vector<Poke>& pokes = pick(random, c.inputs).pokes;
  if (pokes.empty()) return false;
  pokes.erase(pokes.begin() + static_cast<std::ptrdiff_t>(below(random, pokes.size())));
  return true;
}
bool change_poke(Case& c, Random& random, size_t&) {
  if (c.inputs.empty()) return false;
  const size_t i = below(random, c.inputs.size());
  if (c.inputs[i].pokes.empty()) return false;
  Poke& poke = pick(random, c.inputs[i].pokes);
  const Poke other = random_poke(c, c.schema->inputs[i], random);
  if (one_in(random, 2)) {
    poke.position = other.position;
  } else {
    poke.value = other.value;
  }
  return true;
}

bool change_layout(Case& c, Random& random, size_t&) {
  const auto [tensor, spec] = pick_tensor(c, random);
  if (spec.layouts.size() < 2) return false;
  tensor.layout = pick(random, spec.layouts);
  if (tensor.row_padding == 0) tensor.row_padding = 1 + static_cast<int64_t>(below(random, 8));
  return true;
}
bool change_padding(Case& c, Random& random, size_t&) {
  const auto [tensor, spec] = pick_tensor(c, random);
  if (tensor.layout != Layout::row_strided) return false;
  tensor.row_padding = 1 + static_cast<int64_t>(below(random, max_row_padding));
  return true;
}
bool change_offset(Case& c, Random& random, size_t&) {
  const auto [tensor, spec] = pick_tensor(c, random);
  if (!spec.offsets) return false;
  const uint64_t bits = below(random, 8);
  tensor.offset = bits == 0 ? 0 : static_cast<int64_t>(below(random, uint64_t{1} << bits));
  return true;
}

// Strides and offsets that the kernel's source names.
bool layout_constant(Case& c, Random& random, Constants constants) {
  const auto [tensor, spec] = pick_tensor(c, random);
  const int64_t constant = pick(random, constants);
  const bool strided = std::find(spec.layouts.begin(), spec.layouts.end(), Layout::row_strided) !=
                       spec.layouts.end();
  if (strided && constant >= 1 && constant <= max_row_padding && one_in(random, 2)) {
    tensor.layout = Layout::row_strided;
    tensor.row_padding = constant;
    return true;
  }
  if (!spec.offsets || constant < 0 || constant > max_offset) return false;
  tensor.offset = constant;
  return true;
}

bool change_size_class(Case& c, Random& random, size_t&) {
  c.size_class = random_size_class(random);
  return true;
}
bool change_extra_runs(Case& c, Random& random, size_t&) {
  // Mostly off: an extra run costs as much as the case itself.
  const bool on = one_in(random, 3);
  c.extra_runs = on ? static_cast<uint8_t>(pick(random, every_extra_run)) : uint8_t{0};
  return true;
}
bool change_schedule_seed(Case& c, Random& random, size_t&) {
  c.schedule_seed = random_seed(random);
  return has_choice(c.extra_runs);
}

constexpr Mutation mutation_table[] = {
    {"axis_step", 10, axis_step},
    {"axis_boundary", 14, axis_boundary},
    {"axis_uniform", 8, axis_uniform},
    {"axis_scale", 6, axis_scale},
    {"axis_swap", 3, axis_swap},
    {"dtypes", 6, change_dtypes},
    {"attribute", 6, change_attribute},
    {"law", 14, change_law},
    {"copy_law", 4, copy_law},
    {"all_lattice", 4, all_lattice},
    {"seed", 8, change_seed},
    {"add_poke", 5, add_poke},
    {"remove_poke", 3, remove_poke},
    {"change_poke", 5, change_poke},
    {"layout", 4, change_layout},
    {"padding", 2, change_padding},
    {"offset", 3, change_offset},
    {"size_class", 3, change_size_class},
    {"extra_runs", 2, change_extra_runs},
    {"schedule_seed", 1, change_schedule_seed},
};
constexpr int total_weight = [] {
  int total = 0;
  for (const Mutation& row : mutation_table) total += row.weight;
  return total;
}();

constexpr uint64_t constant_period = 8;  // one mutation in so many

bool use_constant(Case& c, Random& random, size_t& favoured, Constants constants) {
  return one_in(random, 4) ? layout_constant(c, random, constants)
                           : axis_constant(c, random, favoured, constants);
}

const Mutation& pick_mutation(Random& random) {
  auto ticket = static_cast<int>(below(random, total_weight));
  const Mutation* row = mutation_table;
  while (ticket >= row->weight) ticket -= (row++)->weight;
  return *row;
}

void random_laws(Case& c, Random& random) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    c.inputs[i].law = pick(random, c.schema->inputs[i].laws);
    c.inputs[i].seed = random_seed(random);
  }
  if (one_in(random, 3)) {
    size_t unused = no_axis;
    all_lattice(c, random, unused);
  }
}

}  // namespace

std::span<const Mutation> mutations() { return mutation_table; }

void mutate(Case& c, Random& random, const CaseLimits& limits, Constants constants) {
  size_t favoured = no_axis;
  // Half of all mutations change one thing: what a case has reached is easily lost.
  const uint64_t changes = one_in(random, 2) ? 1 : 2 + below(random, 3);
  for (uint64_t left = changes; left > 0; --left) {
    // A mutation may not apply to this case, or may be undone by the limits: a few tries.
    for (int tries = 0; tries < 4; ++tries) {
      size_t axis = no_axis;
      const bool applied = !constants.empty() && one_in(random, constant_period)
                               ? use_constant(c, random, axis, constants)
                               : pick_mutation(random).apply(c, random, axis);
      if (axis != no_axis) favoured = axis;
      if (applied) break;
    }
  }
  legalize(c, limits, favoured);
}

Case random_case(std::shared_ptr<const Schema> schema, Random& random, const CaseLimits& limits,
                 Constants constants) {
  Case c;
  c.schema = std::move(schema);
  const Schema& s = *c.schema;
  c.size_class = std::min(random_size_class(random), limits.max_size_class);
  c.dtype_combination = below(random, s.dtype_combinations.size());
  for (const Axis& axis : s.axes) {
    c.axes.push_back(axis.variable() ? random_extent(axis, c.size_class, random) : 0);
  }
  for (const Attribute& attribute : s.attributes) {
    c.attributes.push_back(random_attribute(attribute, random));
  }
  c.inputs.resize(s.inputs.size());
  c.outputs.resize(s.outputs.size());
  random_laws(c, random);
  size_t favoured = no_axis;
  size_t tuned = no_axis;
  if (one_in(random, 4)) axis_constant(c, random, tuned, constants);
  if (one_in(random, 3)) add_poke(c, random, favoured);
  if (one_in(random, 3)) change_layout(c, random, favoured);
  if (one_in(random, 3)) change_offset(c, random, favoured);
  if (one_in(random, 3)) change_extra_runs(c, random, favoured);
  change_schedule_seed(c, random, favoured);
  legalize(c, limits, tuned != no_axis ? tuned : pick_variable_axis(s, random));
  return c;
}

}  // namespace warpfuzz
