// The one exception for a reproducer that cannot be used: what() says which file, what was found
// and what would be right. A file that cannot be read or written at all is a std::system_error
// instead.
#pragma once

#include <stdexcept>

namespace warpfuzz {

class ReproducerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpfuzz
