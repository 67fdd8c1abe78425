#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "fuzzers/command/commands.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/replay.h"
#include "kernels/cuda/separate_call.h"

namespace warpfuzz {
namespace {

constexpr std::chrono::minutes time_limit{4};  // a tool that watches makes kernels slow

struct CallArguments {
  std::string file;
  std::string kernel;
  std::string object;
  std::string device = "cuda";
};

void print(const cuda::SeparateCall& call) {
  if (call.outcome.empty()) {
    for (const cuda::PlacedTensor& tensor : call.tensors) {
      fmt::print("tensor {} {:x} {}\n", tensor.name, tensor.allocation, tensor.bytes);
    }
    fmt::print("calling\n");
  } else {
    fmt::print("outcome {}\n", call.outcome);
  }
  std::fflush(stdout);
  if (call.running) _exit(exit_clean);
}

int call(const CallArguments& a) {
  const Installation installation = Installation::find();
  const DeviceChoice device = DeviceChoice::parse(a.device);
  if (!device.cuda) throw UsageError("--device cpu: expected cuda or cuda:N");
  const Reproducer stored = read_reproducer(a.file);
  const ReplayedCall call = replayed_call(stored, installation.schema(stored.op));
  std::filesystem::path object = a.object;
  if (object.empty()) {
    const auto source = find_kernel(installation, a.kernel.empty() ? stored.kernel.path : a.kernel);
    constexpr Instrumentation plain = {.coverage = false, .address = false, .undefined = false};
    object = build_kernel(installation, source, device, plain);
  }
  cuda::call_separately(device.index, object, call.c, call.inputs, time_limit, print);
  return exit_clean;
}

}  // namespace

Command call_command(CLI::App& app) {
  auto a = std::make_shared<CallArguments>();
  CLI::App* sub = app.add_subcommand(
      "call", "Make a reproducer's call once on a GPU, unjudged: for debuggers and profilers");
  sub->add_option("file", a->file, "Reproducer (.wfr)")->required();
  sub->add_option("--kernel", a->kernel, "Another kernel than the one stored");
  sub->add_option("--object", a->object,
                  "What was built from it: a .so or the manifest of a module");
  sub->add_option("--device", a->device, "cuda or cuda:N")->capture_default_str();
  return {sub, [a] { return call(*a); }};
}

}  // namespace warpfuzz
