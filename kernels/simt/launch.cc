// wf_launch: the checks that a CUDA launch makes, then the grid. An illegal launch runs nothing and
// sets the last error, as on a GPU. The codes are those of CUDA 12; CUDA 13 calls an illegal
// configuration an invalid argument too (seen with 13.0 on an H200).
#include "kernels/simt/grid.h"
#include "kernels/simt/host_api.h"
#include "kernels/simt/include/wf_simt.h"
#include "kernels/simt/kernel_limits.h"
#include "kernels/simt/run.h"

namespace warpfuzz::simt {

namespace {

constexpr uint64_t max_grid_x = 0x7FFFFFFF;
constexpr unsigned max_grid_yz = 65535;
constexpr unsigned max_block_xy = 1024;
constexpr unsigned max_block_z = 64;

struct Rejection {
  int error = cuda_success;
  const char* text = nullptr;
};

constexpr Rejection argument{cuda_error_invalid_value, "invalid argument"};

Rejection check(const wf_simt::LaunchRequest& request) {
  const dim3 grid_size = request.grid;
  const dim3 block = request.block;
  const Rejection configuration{cuda_error_invalid_configuration, "invalid configuration argument"};
  if (grid_size.x == 0 || grid_size.y == 0 || grid_size.z == 0 || grid_size.x > max_grid_x ||
      grid_size.y > max_grid_yz || grid_size.z > max_grid_yz) {
    return configuration;
  }
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > max_block_xy ||
      block.y > max_block_xy || block.z > max_block_z ||
      uint64_t{block.x} * block.y * block.z > max_block_threads) {
    return configuration;
  }
  if (!request.enters && check_dynamic_shared(request) != cuda_success) return argument;
  // All threads of a cooperative launch are in flight at once.
  if (request.cooperative &&
      uint64_t{grid_size.x} * grid_size.y * grid_size.z * block.x * block.y * block.z >
          max_resident_threads) {
    return {cuda_error_cooperative_launch_too_large, "too many blocks in cooperative launch"};
  }
  return {};
}

}  // namespace

}  // namespace warpfuzz::simt

extern "C" int wf_launch(const wf_simt::LaunchRequest* request) {
  using namespace warpfuzz::simt;
  if (run.active != 0 && pthread_equal(run.thread, pthread_self()) == 0) {
    return wf_set_error(cuda_error_not_supported, "launch from a second host thread");
  }
  if (grid.running()) return wf_set_error(cuda_error_not_supported, "launch inside a kernel");
  Rejection rejection = check(*request);
  if (rejection.error == cuda_success) {
    check_time_limit();
    if (grid.run(*request, run.options) != cuda_success) rejection = argument;
  }
  if (rejection.error != cuda_success) {
    ++run.failed_launches;
    return wf_set_error(rejection.error, rejection.text);
  }
  ++run.launches;
  return cuda_success;
}
