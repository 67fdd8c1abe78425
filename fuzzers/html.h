// Text inside HTML pages.
#pragma once

#include <string>

namespace warpfuzz {

// For use between tags, not inside attributes.
std::string escape_html(const std::string& text);

}  // namespace warpfuzz
