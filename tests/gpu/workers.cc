// Several processes on one GPU, each running random cases through the whole judgement.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cuda/mps.h"
#include "reference/crew.h"
#include "seeds/value_law.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/setup.h"

namespace warpfuzz::gpu {
namespace {

struct Shared {
  std::atomic<uint64_t> device_runs;
  std::atomic<uint64_t> trials;
  std::atomic<uint64_t> bad;  // not ok, or a violation
  std::atomic<uint64_t> undecided;
};

// What a worker does.
using Work = void (*)(const Arguments&, uint32_t seed, Shared&);

// Half the time the device alone, half the time whole trials, on the smallest everyday cases.
void measure(const Arguments& a, uint32_t seed, Shared& shared) {
  Setup setup(a.op, a.kernel);
  Trial trial(setup.schema, *setup.kernel);
  Random random(seed);
  random.discard(2);
  const CaseLimits limits{.max_tier = Tier::everyday, .max_size_class = 0};
  MemoryImage image(setup.kernel->image_memory());
  std::vector<Case> cases;
  std::vector<std::vector<Tensor>> inputs;
  for (size_t i = 0; i < 64; ++i) {
    cases.push_back(draw_case(setup.schema, trial.preconditions(), random, limits));
    inputs.push_back(make_inputs(cases.back()));
  }
  double until = seconds_now() + a.seconds / 2;
  for (size_t i = 0; seconds_now() < until; i = (i + 1) % cases.size()) {
    image.compose(cases[i], inputs[i], setup.kernel->workspace_bytes(cases[i]), nan_fill, 0);
    shared.bad += setup.kernel->run(cases[i], image, {}).status != RunStatus::ok;
    ++shared.device_runs;
  }
  Ahead ahead(setup, trial);
  until = seconds_now() + a.seconds / 2;
  while (seconds_now() < until) {
    while (ahead->wants_more()) {
      ahead->add(draw_case(setup.schema, trial.preconditions(), random, limits));
    }
    shared.bad += ahead->judge(trial, ahead->next()).outcome == TrialOutcome::violation;
    ++shared.trials;
  }
}

// A correct kernel under all that the tier and the size class admit.
void judge(const Arguments& a, uint32_t seed, Shared& shared) {
  Setup setup(a.op, a.kernel);
  Trial trial(setup.schema, *setup.kernel);
  Random random(seed);
  random.discard(2);
  const CaseLimits limits{.max_tier = static_cast<Tier>(a.tier),
                          .max_size_class = static_cast<uint8_t>(a.size_class)};
  Ahead ahead(setup, trial);
  const double until = seconds_now() + a.seconds;
  while (seconds_now() < until) {
    while (ahead->wants_more()) {
      ahead->add(draw_case(setup.schema, trial.preconditions(), random, limits));
    }
    const Case c = ahead->next();
    const TrialResult result = ahead->judge(trial, c);
    ++shared.trials;
    shared.undecided += result.outcome == TrialOutcome::undecided;
    if (result.outcome != TrialOutcome::violation) continue;
    if (shared.bad++ == 0) {
      fmt::print("alarm {} {} | {} | {}\n", a.name, result.gate->id, result.finding.reason,
                 describe(c));
      std::fflush(stdout);
    }
  }
}

struct Processes {
  std::unique_ptr<cuda::Mps> mps;
  std::string problem = "not asked for";  // why there is no MPS; empty if there is
  Shared* shared = nullptr;
  int failed = 0;
};

// `work` in as many processes as are asked for, until all have ended.
Processes run_processes(const Arguments& a, Work work) {
  Processes processes;
  if (a.mps) {
    processes.mps = std::make_unique<cuda::Mps>(a.work);
    processes.problem = processes.mps->problem();
  }
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  processes.shared = new (memory) Shared{};
  std::vector<pid_t> children;
  for (size_t i = 0; i < a.workers; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      try {
        Crew::set_threads(a.threads);
        work(a, a.seed + static_cast<uint32_t>(i), *processes.shared);
      } catch (const std::exception& error) {
        fmt::print(stderr, "worker: {}\n", error.what());
        _exit(3);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    processes.failed += status != 0;
  }
  return processes;
}

}  // namespace

int workers(const Arguments& a) {
  const Processes processes = run_processes(a, measure);
  const double half = a.seconds / 2;
  fmt::print(
      "workers {} threads={} mps={} device_runs_per_second={:.0f} trials_per_second={:.0f} bad={} "
      "failed={}{}{}\n",
      a.workers, a.threads, processes.problem.empty() ? "yes" : "no",
      static_cast<double>(processes.shared->device_runs) / half,
      static_cast<double>(processes.shared->trials) / half, processes.shared->bad.load(),
      processes.failed, processes.problem.empty() ? "" : " : ", processes.problem);
  return processes.failed == 0 && processes.shared->bad == 0 ? 0 : 1;
}

int clean(const Arguments& a) {
  const Processes processes = run_processes(a, judge);
  const bool ok = processes.failed == 0 && processes.shared->bad == 0;
  fmt::print("clean {} {} cases={} undecided={} alarms={} failed={}\n", a.name,
             ok ? "OK" : "DIFFERS", processes.shared->trials.load(),
             processes.shared->undecided.load(), processes.shared->bad.load(), processes.failed);
  return ok ? 0 : 1;
}

}  // namespace warpfuzz::gpu
