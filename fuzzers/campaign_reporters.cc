#include "fuzzers/campaign_reporters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fuzzers/installation.h"
#include "fuzzers/report.h"

namespace warpfuzz {
namespace {

constexpr double plain_interval_seconds = 10;

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

std::string progress_text(const CampaignState& s) {
  return fmt::format(
      "{}  runs {}  ({:.0f}/s)  features {}  corpus {}  worst passing error {:.3g} of "
      "tolerance  findings {}",
      clock_text(s.seconds), s.runs, s.runs_per_second(), s.coverage, s.corpus, s.worst_ratio,
      s.findings.size());
}

class TextReporter : public CampaignReporter {
 public:
  void started(const CampaignOptions& o) override {
    fmt::print(stderr, "warpfuzz {}: {} with kernel {}, device {}, {} worker{}, work in {}\n",
               version(), o.worker.op, o.worker.kernel.string(), o.worker.device.text(), o.workers,
               o.workers == 1 ? "" : "s", o.worker.work.string());
  }
  void progress(const CampaignState& state) override {
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}", progress_text(state));
      std::fflush(stderr);
      line_open_ = true;
    } else if (state.seconds >= next_plain_) {
      fmt::print(stderr, "{}\n", progress_text(state));
      next_plain_ = state.seconds + plain_interval_seconds;
    }
  }
  void finding(const Finding& finding) override {
    end_line();
    if (finding.known_before) fmt::print("\nStill fails, as found before:\n");
    fmt::print("\n{}\n", describe_finding(finding.reproducer, finding.file));
    std::fflush(stdout);
  }
  void note(const std::string& message) override {
    end_line();
    fmt::print(stderr, "{}\n", message);
  }
  void done(const CampaignState& s) override {
    end_line();
    fmt::print(stderr, "{} runs in {:.1f} s ({:.0f}/s): ", s.runs, s.seconds, s.runs_per_second());
    if (s.findings.empty()) {
      fmt::print(stderr,
                 "nothing found; the worst passing error was {:.3g} of its tolerance, "
                 "{:.3g} before the output's rounding\n",
                 s.worst_ratio, s.worst_share);
    } else {
      fmt::print(stderr, "{} finding{}\n", s.findings.size(), s.findings.size() == 1 ? "" : "s");
    }
    if (s.runs > 0 && s.excluded == s.runs) {
      fmt::print(stderr,
                 "every case was excluded by the kernel's preconditions: nothing was tested\n");
    }
    if (s.undecided > 0) {
      fmt::print(stderr, "{} cases could not be judged and were skipped\n", s.undecided);
    }
  }

 private:
  void end_line() {
    if (line_open_) fmt::print(stderr, "\r\033[K");
    line_open_ = false;
  }
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool line_open_ = false;
  double next_plain_ = 0;
};

class JsonReporter : public CampaignReporter {
 public:
  void started(const CampaignOptions& o) override {
    write({{"event", "start"},
           {"version", version()},
           {"op", o.worker.op},
           {"kernel", o.worker.kernel.string()},
           {"device", o.worker.device.text()},
           {"seed", o.seed},
           {"workers", o.workers},
           {"work", o.worker.work.string()}});
  }
  void progress(const CampaignState& s) override {
    if (s.seconds < next_) return;
    next_ = s.seconds + 1;
    write({{"event", "progress"},
           {"seconds", s.seconds},
           {"runs", s.runs},
           {"runs_per_second", s.runs_per_second()},
           {"features", s.coverage},
           {"corpus", s.corpus},
           {"worst_ratio", finite(s.worst_ratio)},
           {"worst_share", finite(s.worst_share)},
           {"findings", s.findings.size()}});
  }
  void finding(const Finding& f) override {
    Json json = Json::parse(finding_json(f.reproducer, f.file));
    Json event = {{"event", "finding"}};
    event.update(json);
    event["known_before"] = f.known_before;
    write(event);
  }
  void note(const std::string& message) override {
    write({{"event", "note"}, {"message", message}});
  }
  void done(const CampaignState& s) override {
    Json findings = Json::array();
    for (const Finding& f : s.findings) {
      findings.push_back({{"signature", f.reproducer.signature},
                          {"gate", f.reproducer.gate},
                          {"reproducer", f.file.string()}});
    }
    write({{"event", "done"},
           {"runs", s.runs},
           {"runs_per_second", s.runs_per_second()},
           {"seconds", s.seconds},
           {"findings", findings},
           {"excluded", s.excluded},
           {"undecided", s.undecided},
           {"violations", s.violations},
           {"worst_ratio", finite(s.worst_ratio)},
           {"worst_share", finite(s.worst_share)},
           {"time_share",
            {{"values", s.values_seconds},
             {"kernel", s.kernel_seconds},
             {"oracle", s.oracle_seconds},
             {"gates", s.gates_seconds}}},
           {"restarts", s.restarts}});
  }

 private:
  using Json = nlohmann::ordered_json;
  static Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  void write(const Json& json) {
    fmt::print("{}\n", json.dump());
    std::fflush(stdout);
  }
  double next_ = 0;
};

}  // namespace

std::unique_ptr<CampaignReporter> make_campaign_reporter(bool json) {
  if (json) return std::make_unique<JsonReporter>();
  return std::make_unique<TextReporter>();
}

}  // namespace warpfuzz
