#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fuzzers/bench.h"
#include "fuzzers/installation.h"

namespace warpfuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr double mebibyte = 1 << 20;

// Of something done once per call, in 1e9 per second.
double giga_per_second(double amount, double microseconds) {
  return microseconds > 0 ? amount / microseconds / 1e3 : 0;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// As many bytes as the copy moved, so that the ratio of times is that of the rates.
double share_of_copy(const ShapeSpeed& shape, const Speed& speed) {
  return percent(shape.copy.batch.median, speed.batch.median);
}

double share_of_roof(const Operations& operations, const Speed& speed) {
  return percent(1e9 * giga_per_second(static_cast<double>(operations.count), speed.batch.median),
                 *operations.roof);
}

std::string quantiles_text(const Quantiles& q) {
  return fmt::format("{:>9.2f} ({:.2f} .. {:.2f})", q.median, q.p10, q.p90);
}

std::string row_text(const ShapeSpeed& shape, const Speed& speed, const std::string& name) {
  std::string row =
      fmt::format("  {:<24} {:<30} {:<30} {:>8.1f}", name, quantiles_text(speed.single),
                  quantiles_text(speed.batch),
                  giga_per_second(static_cast<double>(shape.bytes), speed.batch.median));
  if (&speed == &shape.copy) return row + "\n";
  row += fmt::format(" {:>7.1f}%", share_of_copy(shape, speed));
  if (shape.operations) {
    row += fmt::format(" {:>9.1f}", giga_per_second(static_cast<double>(shape.operations->count),
                                                    speed.batch.median));
    if (shape.operations->roof) {
      row += fmt::format("  {:.1f}% of the roof", share_of_roof(*shape.operations, speed));
    }
  }
  return row + "\n";
}

std::string speed_up_text(const ShapeSpeed& shape) {
  if (shape.kernels.size() < 2) return {};
  const Speed &a = shape.kernels[0], &b = shape.kernels[1];
  const auto ratio = [](double other, double own) { return own > 0 ? other / own : 0; };
  return fmt::format("  speed-up of {} over {}: {:.3f} in batches, {:.3f} in single calls\n",
                     a.name, b.name, ratio(b.batch.median, a.batch.median),
                     ratio(b.single.median, a.single.median));
}

std::string shape_text(const ShapeSpeed& shape) {
  std::string text = fmt::format("\n{}: {}\n", shape.name, shape.call);
  text += fmt::format("  {:.2f} MiB in all tensors, {} sets of buffers in turn ({})\n",
                      static_cast<double>(shape.bytes) / mebibyte, shape.sets,
                      shape.beyond_cache ? "together larger than the L2 cache"
                                         : "all of them may stay in the L2 cache");
  if (shape.operations && !shape.operations->roof_of.empty()) {
    const Operations& o = *shape.operations;
    if (o.roof) {
      text += fmt::format("  roof of operations: {:.1f} Gop/s from attributes ({})\n",
                          *o.roof / 1e9, o.roof_of);
    } else if (o.roof_of.starts_with("not measured")) {
      text += fmt::format("  roof of operations: {}\n", o.roof_of);
    }
  }
  text += fmt::format("  {:<24} {:<30} {:<30} {:>8} {:>8} {:>9}\n", "",
                      fmt::format("one call, us ({} x)", shape.kernels[0].single_samples),
                      fmt::format("in batches of {}, us ({} x)", shape.kernels[0].batch_calls,
                                  shape.kernels[0].batch_samples),
                      "GB/s", "of copy", "Gop/s");
  for (const Speed& speed : shape.kernels) text += row_text(shape, speed, speed.name);
  text += row_text(shape, shape.copy, "copy on the device");
  for (const Speed& speed : shape.kernels) {
    text += fmt::format("  {}: launching costs {:.2f} us of a call that stands alone", speed.name,
                        std::max(0.0, speed.single.median - speed.batch.median));
    if (speed.launches) text += fmt::format("; {:.3g} launches a call", *speed.launches);
    text += "\n";
  }
  text += speed_up_text(shape);
  text += fmt::format(
      "  outputs: {} of {} elements compared with the oracle, all right; timed calls {}\n",
      shape.checked, shape.elements,
      shape.bitwise ? "wrote the same bits as untimed ones"
                    : "may write other bits than untimed ones: such outputs were compared too");
  return text;
}

std::string verdict_text(const BenchVerdict& v) {
  std::string text = fmt::format("verdict on {}: clean in {} trials", v.kernel, v.trials);
  if (v.excluded > 0) {
    text += fmt::format("; {} more calls were excluded by its preconditions", v.excluded);
  }
  if (v.undecided > 0) text += fmt::format("; {} could not be decided", v.undecided);
  text += "\n";
  if (v.counters) {
    text += fmt::format(
        "note: {} counts coverage in device code, which costs time; build it without\n", v.kernel);
  }
  return text;
}

Json quantiles_json(const Quantiles& q) {
  return {{"median_us", q.median}, {"p10_us", q.p10}, {"p90_us", q.p90}};
}

Json speed_json(const ShapeSpeed& shape, const Speed& speed) {
  Json json = {{"name", speed.name},
               {"single", quantiles_json(speed.single)},
               {"single_samples", speed.single_samples},
               {"batch", quantiles_json(speed.batch)},
               {"batch_samples", speed.batch_samples},
               {"batch_calls", speed.batch_calls},
               {"bytes_per_second",
                1e9 * giga_per_second(static_cast<double>(shape.bytes), speed.batch.median)}};
  if (&speed == &shape.copy) return json;
  json["share_of_copy"] = share_of_copy(shape, speed) / 100;
  json["launches_per_call"] = speed.launches ? Json(*speed.launches) : Json(nullptr);
  if (!shape.operations) return json;
  json["operations_per_second"] =
      1e9 * giga_per_second(static_cast<double>(shape.operations->count), speed.batch.median);
  json["share_of_roof"] =
      shape.operations->roof ? Json(share_of_roof(*shape.operations, speed) / 100) : Json(nullptr);
  return json;
}

Json shape_json(const ShapeSpeed& shape) {
  Json kernels = Json::array();
  for (const Speed& speed : shape.kernels) kernels.push_back(speed_json(shape, speed));
  Json json = {{"name", shape.name},
               {"call", shape.call},
               {"bytes", shape.bytes},
               {"sets", shape.sets},
               {"beyond_cache", shape.beyond_cache},
               {"kernels", kernels},
               {"copy", speed_json(shape, shape.copy)},
               {"elements", shape.elements},
               {"elements_compared", shape.checked},
               {"compared_bitwise", shape.bitwise}};
  if (shape.operations) {
    const Operations& o = *shape.operations;
    json["operations"] = o.count;
    json["roof"] = {{"operations_per_second", o.roof ? Json(*o.roof) : Json(nullptr)},
                    {"of", o.roof_of}};
  }
  if (shape.kernels.size() == 2 && shape.kernels[0].batch.median > 0 &&
      shape.kernels[0].single.median > 0) {
    json["speed_up"] = {
        {"batch", shape.kernels[1].batch.median / shape.kernels[0].batch.median},
        {"single", shape.kernels[1].single.median / shape.kernels[0].single.median}};
  }
  return json;
}

}  // namespace

std::string bench_text(const BenchResult& result) {
  std::string text = fmt::format("{} on {}: {}, L2 cache {:.0f} MiB\n", result.op, result.device,
                                 result.device_name, result.cache_bytes / mebibyte);
  for (size_t i = 0; i < result.verdicts.size(); ++i) {
    // The last one may be what the problem is about.
    if (!result.problem.empty() && result.shapes.empty() && i + 1 == result.verdicts.size()) break;
    text += verdict_text(result.verdicts[i]);
  }
  for (const ShapeSpeed& shape : result.shapes) text += shape_text(shape);
  if (!result.problem.empty()) text += "\n" + result.problem;
  return text;
}

std::string bench_json(const BenchResult& result) {
  Json verdicts = Json::array();
  for (const BenchVerdict& v : result.verdicts) {
    verdicts.push_back({{"kernel", v.kernel},
                        {"trials", v.trials},
                        {"excluded", v.excluded},
                        {"undecided", v.undecided},
                        {"counts_coverage", v.counters}});
  }
  Json shapes = Json::array();
  for (const ShapeSpeed& shape : result.shapes) shapes.push_back(shape_json(shape));
  const Json json = {{"format", format_version},
                     {"warpfuzz", version()},
                     {"op", result.op},
                     {"device", result.device},
                     {"device_name", result.device_name},
                     {"cache_bytes", result.cache_bytes},
                     {"verdicts", verdicts},
                     {"shapes", shapes},
                     {"problem", result.problem.empty() ? Json(nullptr) : Json(result.problem)}};
  return json.dump(2) + "\n";
}

}  // namespace warpfuzz
