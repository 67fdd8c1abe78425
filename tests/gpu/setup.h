// What every GPU check begins with: a schema, a kernel object on a device, and random cases that
// the kernel accepts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "fuzzers/lookahead.h"
#include "fuzzers/trial.h"
#include "kernels/cuda/cuda_device.h"
#include "schemas/mutation.h"

namespace warpfuzz::gpu {

struct Setup {
  std::shared_ptr<const Schema> schema;
  std::unique_ptr<Device> device;
  std::unique_ptr<Kernel> kernel;

  // Schemas lie in $WARPFUZZ_ROOT/schemas, or in those of the source tree.
  Setup(const std::string& op, const std::filesystem::path& object,
        const cuda::DeviceOptions& options = {});
};

// Cases run ahead of their turn, as a worker runs them.
class Ahead {
 public:
  Ahead(Setup& setup, Trial& trial)
      : runner_(*setup.kernel, std::chrono::seconds(10)), ahead_([this, &trial](Preparation& p) {
          if (trial.preconditions().admit(p.c)) p.primary = runner_.run(p.c, p.inputs, {});
        }) {}
  Lookahead* operator->() { return &ahead_; }

 private:
  CallRunner runner_;
  Lookahead ahead_;
};

std::shared_ptr<const Schema> find_schema(const std::string& op);

// A random case within the preconditions; gives up after some draws and returns the last.
Case draw_case(const std::shared_ptr<const Schema>& schema, const Preconditions& preconditions,
               Random& random, const CaseLimits& limits);

double seconds_now();

}  // namespace warpfuzz::gpu
