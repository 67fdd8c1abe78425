// One case in a process of its own: there the kernel has no past, and no other process can bring
// the device down.
#pragma once

#include <optional>

#include "crashes/reproducer.h"
#include "fuzzers/worker.h"
#include "fuzzers/worker_process.h"

namespace warpfuzz {

struct AloneResult {
  Ending ending;
  bool hung = false;  // at its start or its end: a case that hangs is ended by the process itself
  // What the process found before it ended, whatever ended it.
  std::optional<Reproducer> finding;

  // It hung without one, could not use the device, or is broken itself: it says nothing of the
  // case.
  bool tells_nothing() const;
  bool ended_well() const { return !ending.by_signal && ending.code == 0; }
};

// Stores nothing but in the work directory's artifacts and logs.
AloneResult run_alone(const Case& c, const WorkerOptions& worker);

}  // namespace warpfuzz
