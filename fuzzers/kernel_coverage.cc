#include "fuzzers/kernel_coverage.h"

#include "crashes/durable_file.h"
#include "crashes/reproducer.h"
#include "fuzzers/kernel_under_test.h"
#include "fuzzers/trial.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_case_bytes = 1 << 16;

// Runs cases on one kernel; buffers are reused.
class Runner {
 public:
  Runner(const std::shared_ptr<const Schema>& schema, const fs::path& object)
      : kernel_(make_cpu_device()->load(object, nullptr)),
        preconditions_(*schema, kernel_->preconditions()) {}

  void run(const Case& c, KernelCoverage& coverage) {
    if (!preconditions_.admit(c)) return;
    const std::vector<Tensor> inputs = make_inputs(c);
    image_.compose(c, inputs, kernel_->workspace_bytes(c), nan_fill, 0);
    ++coverage.cases;
    if (kernel_->run(c, image_, {}).status == RunStatus::fault) ++coverage.faulted;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  Preconditions preconditions_;
  MemoryImage image_;
};

std::vector<fs::path> files_in(const fs::path& directory, std::string_view extension) {
  std::vector<fs::path> files;
  if (!fs::is_directory(directory)) return files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().extension() == extension) {
      files.push_back(entry.path());
    }
  }
  return files;
}

}  // namespace

std::vector<Case> stored_cases(const std::shared_ptr<const Schema>& schema,
                               const WorkDirectory& work, const CaseLimits& limits) {
  std::vector<Case> cases;
  for (const fs::path& file : files_in(work.corpus(), "")) {
    cases.push_back(decode(schema, read_file(file, most_case_bytes), limits));
  }
  for (const fs::path& file : files_in(work.findings(), reproducer_extension)) {
    const Reproducer found = read_reproducer(file);
    cases.push_back(decode(schema, found.case_bytes, found.limits));
  }
  return cases;
}

KernelCoverage measure_coverage(const Installation& installation,
                                const std::shared_ptr<const Schema>& schema, const fs::path& source,
                                const WorkDirectory& work, const CaseLimits& limits) {
  CompileRequest request =
      compile_request(installation, source,
                      {.coverage = false, .address = false, .undefined = false, .lines = true});
  const fs::path object = compile_for_cpu(request);
  Runner runner(schema, object);
  KernelCoverage coverage;
  for (const Case& c : stored_cases(schema, work, limits)) runner.run(c, coverage);
  coverage.files = read_line_counts(object, source, request.include_directory);
  return coverage;
}

}  // namespace warpfuzz
