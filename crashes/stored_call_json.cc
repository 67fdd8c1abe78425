#include "crashes/stored_call_json.h"

#include <limits>
#include <optional>
#include <string_view>

namespace warpfuzz {
namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

template <typename Value>
Value read_name(const HeaderReader& json, std::optional<Value> (*parse)(std::string_view),
                std::string_view expected) {
  const std::optional<Value> value = parse(json.string());
  if (!value) json.refuse(expected);
  return *value;
}

std::optional<PokeValue> parse_poke(std::string_view text) {
  for (uint8_t i = 0; i < poke_value_count; ++i) {
    if (name(static_cast<PokeValue>(i)) == text) return static_cast<PokeValue>(i);
  }
  return std::nullopt;
}

Json tensors_to_json(const std::vector<StoredCall::Tensor>& tensors) {
  Json json = Json::array();
  for (const auto& [name_of_tensor, tensor] : tensors) {
    Json pokes = Json::array();
    for (const Poke& poke : tensor.pokes) {
      pokes.push_back({{"position", poke.position}, {"value", name(poke.value)}});
    }
    json.push_back({{"name", name_of_tensor},
                    {"layout", name(tensor.layout)},
                    {"row_padding", tensor.row_padding},
                    {"offset", tensor.offset},
                    {"law", name(tensor.law)},
                    {"seed", tensor.seed},
                    {"pokes", std::move(pokes)}});
  }
  return json;
}

std::vector<StoredCall::Tensor> tensors_from_json(const HeaderReader& json) {
  std::vector<StoredCall::Tensor> tensors;
  for (const HeaderReader& element : json.elements()) {
    TensorCase tensor;
    tensor.layout = read_name(element["layout"], parse_layout, "the name of a layout");
    tensor.row_padding = element["row_padding"].integer(0, largest);
    tensor.offset = element["offset"].integer(0, largest);
    tensor.law = read_name(element["law"], parse_value_law, "the name of a value law");
    tensor.seed = element["seed"].number<uint32_t>();
    for (const HeaderReader& poke : element["pokes"].elements()) {
      tensor.pokes.push_back({poke["position"].natural(),
                              read_name(poke["value"], parse_poke, "the name of a poke value")});
    }
    tensors.push_back({element["name"].string(), std::move(tensor)});
  }
  return tensors;
}

}  // namespace

DType read_dtype(const HeaderReader& json) {
  return read_name(json, parse_dtype, "the name of a dtype");
}

Json call_to_json(const StoredCall& call) {
  Json dtypes = Json::array();
  for (const auto& variable : call.dtypes) {
    dtypes.push_back({{"name", variable.name}, {"dtype", name(variable.dtype)}});
  }
  Json axes = Json::array();
  for (const auto& axis : call.axes) {
    axes.push_back({{"name", axis.name}, {"extent", axis.extent}});
  }
  Json attributes = Json::array();
  for (const auto& attribute : call.attributes) {
    attributes.push_back({{"name", attribute.name},
                          {"integer", attribute.value.integer},
                          {"real", real_to_json(attribute.value.real)},
                          {"choice", attribute.choice}});
  }
  return {{"size_class", call.size_class},
          {"extra_runs", call.extra_runs},
          {"schedule_seed", call.schedule_seed},
          {"dtypes", std::move(dtypes)},
          {"axes", std::move(axes)},
          {"attributes", std::move(attributes)},
          {"inputs", tensors_to_json(call.inputs)},
          {"outputs", tensors_to_json(call.outputs)}};
}

StoredCall call_from_json(const HeaderReader& json) {
  StoredCall call;
  call.size_class = static_cast<uint8_t>(json["size_class"].integer(0, size_class_count - 1));
  call.extra_runs = json["extra_runs"].number<uint8_t>();
  call.schedule_seed = json["schedule_seed"].number<uint32_t>();
  for (const HeaderReader& variable : json["dtypes"].elements()) {
    call.dtypes.push_back({variable["name"].string(), read_dtype(variable["dtype"])});
  }
  for (const HeaderReader& axis : json["axes"].elements()) {
    call.axes.push_back({axis["name"].string(), axis["extent"].integer(0, largest)});
  }
  for (const HeaderReader& attribute : json["attributes"].elements()) {
    const AttributeValue value{attribute["integer"].integer(-largest - 1, largest),
                               attribute["real"].real()};
    call.attributes.push_back({attribute["name"].string(), value, attribute["choice"].string()});
  }
  call.inputs = tensors_from_json(json["inputs"]);
  call.outputs = tensors_from_json(json["outputs"]);
  return call;
}

}  // namespace warpfuzz
