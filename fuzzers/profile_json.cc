#include <nlohmann/json.hpp>

#include "fuzzers/installation.h"
#include "fuzzers/profile_report.h"

namespace warpfuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;

Json extreme_json(const Extreme& worst) {
  if (worst.call.empty()) return nullptr;
  return {{"value", worst.value},
          {"call", worst.call},
          {"element", worst.element},
          {"observed", worst.observed},
          {"reference", worst.expected}};
}

Json distribution_json(const Distribution& distribution) {
  const ErrorSketch& sketch = distribution.sketch;
  Json json = {{"count", sketch.count()}};
  if (sketch.count() == 0) return json;
  constexpr std::pair<const char*, double> percentiles[] = {
      {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};
  for (const auto& [title, q] : percentiles) json[title] = sketch.percentile(q);
  json["max"] = sketch.maximum();
  json["worst"] = extreme_json(distribution.worst);
  return json;
}

// [least, largest, how many], ascending.
Json steps_json(const ErrorSketch& sketch) {
  Json steps = Json::array();
  for (const ErrorSketch::Step& step : sketch.steps()) {
    steps.push_back({step.low, step.high, step.count});
  }
  return steps;
}

Json profile_row(Json json, const ErrorProfile& p) {
  json["calls"] = p.counts.calls;
  json["failed"] = p.counts.failed;
  json["elements"] = p.counts.elements;
  json["nan"] = p.counts.nan;
  json["infinite"] = p.counts.infinite;
  json["undecided"] = p.counts.undecided;
  json["unexpected_finite"] = p.counts.unexpected;
  json["without_tolerance"] = p.counts.exact;
  json["wrong"] = p.counts.wrong;
  json["ulp"] = distribution_json(p.ulps);
  json["error_over_tolerance"] = distribution_json(p.ratios);
  json["tolerance_used"] = distribution_json(p.shares);
  if (const QuantisationError& error = p.quantisation; error.elements > 0) {
    json["quantised"] = {{"elements", error.elements},
                         {"cosine", error.cosine()},
                         {"least_cosine", error.least_cosine()},
                         {"relative_l1", error.relative_l1()},
                         {"most_relative_l1", error.most_relative_l1()},
                         {"rmse", error.rmse()},
                         {"most_rmse", error.most_rmse()}};
  }
  if (!p.failure.empty()) json["first_failure"] = p.failure;
  return json;
}

}  // namespace

std::string profile_json(const ProfileHeader& header, const ValueProfile& profile) {
  Json json = {{"format", format_version},
               {"version", version()},
               {"toolchain", toolchain()},
               {"op", header.op},
               {"kernel", header.kernel},
               {"device", header.device},
               {"tier", header.tier},
               {"seed", header.seed},
               {"seconds", profile.seconds},
               {"interrupted", profile.interrupted},
               {"device_lost", profile.device_lost}};
  json["dtypes"] = Json::array();
  for (const DTypeProfile& dtypes : profile.dtypes) {
    Json laws = Json::array();
    for (const LawProfile& law : dtypes.laws) {
      Json row = profile_row({{"law", name(law.law)}}, law.profile);
      row["ulp"]["steps"] = steps_json(law.profile.ulps.sketch);
      laws.push_back(std::move(row));
    }
    json["dtypes"].push_back({{"dtypes", dtypes.dtypes},
                              {"laws", laws},
                              {"total", profile_row(Json::object(), dtypes.total())}});
  }
  json["total"] = profile_row(Json::object(), profile.total());
  return json.dump() + "\n";
}

}  // namespace warpfuzz
