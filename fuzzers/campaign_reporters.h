// How a campaign is shown: for people (findings on stdout; progress on stderr, one live line on a
// terminal, a plain line now and then elsewhere), or as JSON, one object a line on stdout.
#pragma once

#include <memory>

#include "fuzzers/campaign.h"

namespace warpfuzz {

std::unique_ptr<CampaignReporter> make_campaign_reporter(bool json);

}  // namespace warpfuzz
