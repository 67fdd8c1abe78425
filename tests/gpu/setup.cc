#include "tests/gpu/setup.h"

#include <chrono>
#include <cstdlib>

namespace warpfuzz::gpu {

std::shared_ptr<const Schema> find_schema(const std::string& op) {
  const char* root = std::getenv("WARPFUZZ_ROOT");
  return load_schema(std::filesystem::path(root != nullptr ? root : WARPFUZZ_SOURCE_DIR) /
                     "schemas" / (op + ".json"));
}

Setup::Setup(const std::string& op, const std::filesystem::path& object,
             const cuda::DeviceOptions& options)
    : schema(find_schema(op)),
      device(cuda::make_device(options)),
      kernel(device->load(object, schema.get())) {}

Case draw_case(const std::shared_ptr<const Schema>& schema, const Preconditions& preconditions,
               Random& random, const CaseLimits& limits) {
  constexpr int attempts = 20;
  Case c = random_case(schema, random, limits);
  for (int i = 0; i < attempts && !preconditions.admit(c); ++i) {
    c = random_case(schema, random, limits);
  }
  return c;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace warpfuzz::gpu
