// A certificate for readers: a table of at most 120 columns with its summary, JSON with all there
// is to know, an HTML page that needs nothing else.
#pragma once

#include <string>

#include "fuzzers/certify_summary.h"

namespace warpfuzz {

std::string certificate_text(const Certificate& certificate, const CertifySummary& summary);
std::string certificate_json(const Certificate& certificate, const CertifySummary& summary);
std::string certificate_html(const Certificate& certificate, const CertifySummary& summary);

// "3.2", "exact" where no error at all is admitted, "" for what is no matter of values.
std::string separation_text(const CampaignStatistics& statistics);
// "yes", "no", or "-" if nothing could be asked.
std::string certified_text(const UsualVerdict& verdict, size_t table);
std::string gate_coverage_text(const GateCoverage& coverage);

}  // namespace warpfuzz
