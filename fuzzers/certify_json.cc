#include <cmath>
#include <nlohmann/json.hpp>

#include "fuzzers/certify_report.h"
#include "fuzzers/installation.h"

namespace warpfuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;

// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json share_json(const Share& share) { return {{"count", share.count}, {"of", share.total}}; }

Json campaign_json(const CampaignOutcome& outcome) {
  Json alarms = Json::array();
  for (const Alarm& alarm : outcome.alarms) {
    alarms.push_back({{"gate", alarm.gate}, {"call", alarm.call}});
  }
  Json json = {{"seed", outcome.seed},
               {"alarms", alarms},
               {"seconds", outcome.seconds},
               {"runs", outcome.runs},
               {"excluded", outcome.excluded},
               {"undecided", outcome.undecided},
               {"worst_passing_ratio", number(outcome.worst_ratio)},
               {"worst_tolerance_used", number(outcome.worst_share)},
               {"oracle_share", outcome.oracle_share}};
  if (outcome.ratio) json["ratio"] = number(*outcome.ratio);
  if (!outcome.problem.empty()) json["problem"] = outcome.problem;
  return json;
}

Json campaigns_json(const std::vector<CampaignOutcome>& outcomes) {
  Json json = Json::array();
  for (const CampaignOutcome& outcome : outcomes) json.push_back(campaign_json(outcome));
  return json;
}

Json statistics_json(const CampaignStatistics& s) {
  return {{"campaigns", s.campaigns},
          {"found", s.found},
          {"named", s.named},
          {"otherwise", s.otherwise},
          {"median_seconds", s.median_seconds},
          {"worst_seconds", s.worst_seconds},
          {"median_runs", s.median_runs},
          {"value_findings", s.value_findings},
          {"without_tolerance", s.without_tolerance},
          {"separation", s.separation ? Json(*s.separation) : Json(nullptr)}};
}

Json usual_json(const UsualVerdict& verdict) {
  Json json = {{"calls", verdict.calls}};
  for (size_t i = 0; i < allclose_table_count; ++i) {
    json["accepts"][std::string(allclose_tables()[i].name)] =
        verdict.asked() ? Json(verdict.accepts[i]) : Json(nullptr);
  }
  return json;
}

Json kernel_json(const KernelResult& kernel) {
  const ManifestEntry& entry = kernel.entry;
  Json json = {{"name", entry.name},         {"op", entry.op},
               {"group", name(entry.group)}, {"gates", entry.gates},
               {"about", entry.about},       {"usual_oracle", usual_json(kernel.usual)}};
  if (!kernel.problem.empty()) json["problem"] = kernel.problem;
  if (entry.faulty) json["guided"] = statistics_json(statistics(entry, kernel.guided));
  if (!kernel.unguided.empty()) {
    json["unguided"] = statistics_json(statistics(entry, kernel.unguided));
    json["unguided_campaigns"] = campaigns_json(kernel.unguided);
  }
  json["campaigns"] = campaigns_json(kernel.guided);
  return json;
}

Json summary_json(const CertifySummary& s) {
  Json json = {{"passes", s.passes()}};
  for (size_t i = 1; i < s.found.size(); ++i) {
    json["found"][std::string(kernel_group_names[i])] = share_json(s.found[i]);
  }
  json["campaigns_named"] = share_json(s.named);
  json["found_without_guidance"] = share_json(s.baseline);
  json["false_alarms"] = share_json(s.accused);
  json["correct_runs"] = s.correct_runs;
  json["correct_undecided"] = s.correct_undecided;
  for (size_t i = 0; i < allclose_table_count; ++i) {
    json["allclose"][std::string(allclose_tables()[i].name)] = {
        {"certified_faulty", share_json(s.certified[i])},
        {"refused_correct", share_json(s.refused[i])}};
  }
  json["problems"] = s.problems;
  return json;
}

Json gates_json(const std::vector<GateCoverage>& gates) {
  Json json = Json::array();
  for (const GateCoverage& row : gates) {
    json.push_back({{"id", row.gate->id},
                    {"status", row.exercised() ? "exercised" : "not exercised"},
                    {"kernels", share_json(row.kernels)}});
  }
  return json;
}

}  // namespace

std::string certificate_json(const Certificate& certificate, const CertifySummary& summary) {
  const CertifyOptions& o = certificate.options;
  Json kernels = Json::array();
  for (const KernelResult& kernel : certificate.kernels) kernels.push_back(kernel_json(kernel));
  const Json json = {{"format", format_version},
                     {"version", version()},
                     {"toolchain", toolchain()},
                     {"device", o.device.text()},
                     {"quick", o.quick},
                     {"seeds", o.quick ? 1 : o.seeds},
                     {"seconds", o.seconds},
                     {"correct_seconds", o.correct_seconds},
                     {"jobs", o.jobs},
                     {"summary", summary_json(summary)},
                     {"gates", gates_json(summary.gates)},
                     {"kernels", kernels}};
  return json.dump(1) + "\n";
}

}  // namespace warpfuzz
