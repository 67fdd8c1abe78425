// Several processes on one GPU, each running random cases through the whole judgement.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cuda/mps.h"
#include "seeds/value_law.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/setup.h"

namespace warpfuzz::gpu {
namespace {

struct Shared {
  std::atomic<uint64_t> device_runs;
  std::atomic<uint64_t> trials;
  std::atomic<uint64_t> bad;
};

void work(const Arguments& a, uint32_t seed, Shared& shared) {
  Setup setup(a.op, a.kernel);
  Trial trial(setup.schema, *setup.kernel);
  Random random(seed);
  random.discard(2);
  const CaseLimits limits{.max_tier = Tier::everyday, .max_size_class = 0};
  MemoryImage image;
  std::vector<Case> cases;
  std::vector<std::vector<Tensor>> inputs;
  for (size_t i = 0; i < 64; ++i) {
    cases.push_back(draw_case(setup.schema, trial.preconditions(), random, limits));
    inputs.push_back(make_inputs(cases.back()));
  }
  double until = seconds_now() + a.seconds / 2;
  for (size_t i = 0; seconds_now() < until; i = (i + 1) % cases.size()) {
    image.compose(cases[i], inputs[i], setup.kernel->workspace_bytes(cases[i]), Poison::quiet_nan,
                  0);
    shared.bad += setup.kernel->run(cases[i], image, {}).status != RunStatus::ok;
    ++shared.device_runs;
  }
  until = seconds_now() + a.seconds / 2;
  while (seconds_now() < until) {
    shared.bad +=
        trial.run(draw_case(setup.schema, trial.preconditions(), random, limits)).outcome ==
        TrialOutcome::violation;
    ++shared.trials;
  }
}

}  // namespace

int workers(const Arguments& a) {
  std::unique_ptr<cuda::Mps> mps;
  std::string problem = "not asked for";
  if (a.mps) {
    mps = std::make_unique<cuda::Mps>(a.work);
    problem = mps->problem();
  }
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const shared = new (memory) Shared{};
  std::vector<pid_t> children;
  for (size_t i = 0; i < a.workers; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      try {
        work(a, a.seed + static_cast<uint32_t>(i), *shared);
      } catch (const std::exception& error) {
        fmt::print(stderr, "worker: {}\n", error.what());
        _exit(3);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  int failed = 0;
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    failed += status != 0;
  }
  const double half = a.seconds / 2;
  fmt::print(
      "workers {} mps={} device_runs_per_second={:.0f} trials_per_second={:.0f} bad={} "
      "failed={}{}{}\n",
      a.workers, problem.empty() ? "yes" : "no", static_cast<double>(shared->device_runs) / half,
      static_cast<double>(shared->trials) / half, shared->bad.load(), failed,
      problem.empty() ? "" : " : ", problem);
  return failed == 0 && shared->bad == 0 ? 0 : 1;
}

}  // namespace warpfuzz::gpu
