// The "call" key of a reproducer's header. Private to crashes/.
#pragma once

#include "crashes/header_reader.h"
#include "crashes/stored_call.h"

namespace warpfuzz {

Json call_to_json(const StoredCall& call);
StoredCall call_from_json(const HeaderReader& json);

DType read_dtype(const HeaderReader& json);

}  // namespace warpfuzz
