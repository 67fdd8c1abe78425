// gpu_check: the checks and measurements that need a GPU. check.sh runs all of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "tests/gpu/commands.h"

int main(int argc, char** argv) {
  using namespace warpfuzz::gpu;
  CLI::App app{"Checks and measurements on a GPU", "gpu_check"};
  app.require_subcommand(1);
  Arguments a;
  struct Row {
    const char* name;
    const char* about;
    int (*run)(const Arguments&);
  };
  const Row rows[] = {{"check", "random cases, judged", check},
                      {"bench", "our loop against the bare loop", bench},
                      {"bench-coverage", "cost of the device counters", bench_coverage},
                      {"workers", "several processes on one GPU", workers},
                      {"clean", "several processes, a correct kernel stays clean", clean},
                      {"compare", "both devices, bit for bit", compare},
                      {"search", "runs to the first violation", search}};
  std::function<int()> chosen;
  for (const Row& row : rows) {
    CLI::App* sub = app.add_subcommand(row.name, row.about);
    sub->add_option("--op", a.op);
    sub->add_option("--kernel", a.kernel)->required();
    sub->add_option("--other", a.other);
    sub->add_option("--name", a.name);
    sub->add_option("--expect", a.expect)->delimiter(',');
    sub->add_option("--constants", a.constants)->delimiter(',');
    sub->add_option("--cases", a.cases);
    sub->add_option("--seconds", a.seconds);
    sub->add_option("--seed", a.seed);
    sub->add_option("--tier", a.tier);
    sub->add_option("--size-class", a.size_class);
    sub->add_option("--workers", a.workers);
    sub->add_option("--threads", a.threads);
    sub->add_option("--device-coverage", a.device_coverage);
    sub->add_option("--mps", a.mps);
    sub->add_option("--work", a.work);
    sub->callback([&, run = row.run] { chosen = [&, run] { return run(a); }; });
  }
  BuildArguments b;
  for (const bool for_cpu : {false, true}) {
    CLI::App* sub = app.add_subcommand(for_cpu ? "build-cpu" : "build", "compile a kernel");
    sub->add_option("source", b.source)->required();
    sub->add_option("object", b.object)->required();
    sub->add_option("--kernels", b.kernels)->required();
    sub->add_option("--arch", b.architecture);
    sub->add_option("--coverage", b.coverage);
    sub->add_option("--predicates", b.predicates);
    sub->callback([&, for_cpu] {
      b.for_cpu = for_cpu;
      chosen = [&] { return build(b); };
    });
  }
  CLI11_PARSE(app, argc, argv);
  try {
    return chosen();
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_check: {}\n", error.what());
    return 3;
  }
}
