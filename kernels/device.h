// A device runs a kernel on a memory image and says what happened. Two implementations: the CPU
// device (simt/) and the CUDA device. A device knows nothing of operators, oracles or gates.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/memory_image.h"
#include "kernels/warpfuzz_kernel.h"
#include "schemas/case.h"

namespace warpfuzz {

// A kernel that cannot be loaded: says which file, what is missing, and what would be right.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A device that this machine does not have, or that cannot be used: says what is missing.
class DeviceUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class RunStatus : uint8_t {
  ok,           // WF_OK
  unsupported,  // WF_UNSUPPORTED
  error,        // WF_ERROR: the kernel says that a launch or runtime call failed
  fault,        // a fault ended the run: `faults` says which
};

enum class FaultKind : uint8_t {
  out_of_bounds_read,
  out_of_bounds_write,
  misaligned_access,
  undefined_behavior,  // integer overflow, division by zero, shift, array index
  divergent_barrier,
  exit_before_barrier,
  exited_lane,  // a warp operation waits for a lane that has returned
  deadlock,
  time_limit,
  wild_access,         // SIGSEGV or SIGBUS inside the kernel
  illegal_launch,      // rejected by the launch limits; only reported, not a fault of its own
  data_race,           // race builds of the CPU device only, as the next one
  uninitialized_read,  // no fault of its own: it explains a result that depends on old contents
};
std::string_view name(FaultKind kind);

struct Dim3 {
  uint32_t x = 0, y = 0, z = 0;
};

// The other side of a data race; the Fault tells of the later access.
struct EarlierAccess {
  std::string_view kind;  // "write", "atomic write", "volatile read"; static storage
  std::string file;
  int line = 0;
  uintptr_t pc = 0;
  Dim3 block, thread;
  bool in_device_code = true;  // else block and thread say nothing
};

struct Fault {
  FaultKind kind = FaultKind::wild_access;
  std::string message;    // one line for people, without position
  uintptr_t address = 0;  // data address, 0 if it does not apply
  uint32_t bytes = 0;     // size of the access
  std::string file;       // filled by Kernel::resolve_positions (or by the device if known)
  int line = 0;
  uintptr_t pc = 0;  // 0 if file and line are already known
  Dim3 block, thread;
  bool in_device_code = true;
  std::optional<EarlierAccess> earlier;  // data_race
};

enum class Schedule : uint8_t { sequential, reversed, random };

struct RunOptions {
  Schedule schedule = Schedule::sequential;
  uint32_t schedule_seed = 0;
  std::chrono::milliseconds time_limit{10000};  // of processor time; 0: none
  uint8_t fill = 0xFF;  // what shared memory and new allocations hold (CPU device)
  // Called once while the device works, by devices that leave the host idle; otherwise never.
  std::function<void()> meanwhile;
};

// What one call asked of a real device; the CPU device does not tell.
struct DeviceUse {
  uint32_t foreign_launches = 0;  // on another stream than the call's
  uint32_t host_copies = 0;       // made by the kernel, one side in host memory
  uint32_t synchronizations = 0;  // waits of the kernel for the device
  uint32_t registers = 0;         // per thread, the most of all launches, as are the following
  uint32_t shared_bytes = 0;      // per block, static and dynamic
  uint32_t local_bytes = 0;       // per thread: spills and local arrays
  uint32_t block_threads = 0;
  bool left_running = false;  // other streams had work when the call's stream had none
};

// How a message begins where a launch was refused without asking the device, since its code uses
// tensor memory as no device lets it.
inline constexpr std::string_view tensor_memory_refusal = "tensor memory: ";

struct RunResult {
  RunStatus status = RunStatus::ok;
  std::string message;        // of the last failed runtime call, "invalid configuration argument"
  std::vector<Fault> faults;  // at most max_faults, in order
  bool launches_counted = true;  // else nothing is known of the following three
  uint32_t launches = 0;
  uint32_t failed_launches = 0;
  uint32_t device_operations = 0;  // fills, and copies from device to device
  std::optional<DeviceUse> device_use;
  // The kernel's coverage counters, one byte each, none if it was compiled without. Of the CUDA
  // device: Kernel::counters() of them, of this run, none after a fault. Of the CPU device: of all
  // runs since libFuzzer last cleared them.
  std::vector<uint8_t> coverage;
  // The device does not answer this process any more: it must end, and another run the case alone.
  bool device_lost = false;
};
inline constexpr size_t max_faults = 8;

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Empty if the kernel declares none.
  virtual std::string preconditions() const = 0;
  virtual size_t workspace_bytes(const Case& c) = 0;
  // Where the blocks of images must lie that this kernel runs on.
  virtual BlockSource& image_memory() { return ordinary_memory(); }
  // Whether any thread may ask for workspace_bytes() and run(), which then go on one after the
  // other: on a device beside the host, whose runs another thread can wait for.
  virtual bool serves_any_thread() const { return false; }
  // Runs on the image, which must have been composed for `c`. Does not throw for what a kernel
  // does.
  virtual RunResult run(const Case& c, MemoryImage& image, const RunOptions& options) = 0;
  // Puts the kernel's variables back to what they were when it was loaded and frees what it has
  // allocated, so that the next run owes nothing to those before. False where that is not possible
  // (on the CUDA device the runtime's own state lies among them).
  virtual bool reset() { return false; }
  // Where it is not: the kernel loaded once more, never called, with variables of its own. None if
  // that is not possible, or was asked for too often: what was loaded stays until the process ends.
  virtual std::unique_ptr<Kernel> load_again() { return nullptr; }
  // Turns program counters of faults into file and line; slow, for reports only.
  virtual void resolve_positions(std::vector<Fault>& faults) const = 0;
  // How many counters a run gives; the same for each run.
  virtual size_t counters() const { return 0; }
};

class Device {
 public:
  virtual ~Device() = default;
  // A shared object; on the CUDA device also the manifest of a PTX or cubin module (.json), which
  // speaks of the operator `schema`. Nothing else needs one: nullptr. Throws KernelError.
  virtual std::unique_ptr<Kernel> load(const std::filesystem::path& file, const Schema* schema) = 0;
};

std::unique_ptr<Device> make_cpu_device();
// Throws DeviceUnavailable. `index` counts the devices that the process sees.
std::unique_ptr<Device> make_cuda_device(int index);

}  // namespace warpfuzz
