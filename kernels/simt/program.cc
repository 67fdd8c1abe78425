#include "kernels/simt/program.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>

#include "kernels/simt/asan.h"
#include "kernels/simt/host_api.h"
#include "kernels/simt/kernel_object.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

extern char** environ;

namespace warpfuzz {

namespace {

using Main = int (*)(int, char**, char**);

struct ProgramCall {
  Main main;
  std::vector<char*> arguments;  // with the nullptr at the end
};

int call_main(const void* data) {
  const auto& call = *static_cast<const ProgramCall*>(data);
  try {
    return call.main(static_cast<int>(call.arguments.size()) - 1,
                     const_cast<char**>(call.arguments.data()), environ);
  } catch (const std::exception& error) {
    simt::set_message("an exception that nobody caught: ", error.what());
  } catch (...) {
    simt::set_message("an exception that nobody caught", "");
  }
  simt::run.ended_abnormally = true;
  return simt::aborted_exit_code;
}

}  // namespace

bool address_sanitizer_present() { return simt::asan_present(); }

ProgramResult run_program(const std::filesystem::path& object, std::vector<std::string> arguments,
                          const RunOptions& options) {
  simt::run.program = true;
  const simt::LoadedObject program = simt::load_object(object);
  simt::run.image = program.image;
  ProgramCall call;
  call.main = reinterpret_cast<Main>(dlsym(program.handle, "main"));
  if (call.main == nullptr) {
    throw KernelError(
        "there is no main(); a program has one (kernels with WARPFUZZ_KERNEL are for "
        "`warpfuzz fuzz`)");
  }
  for (std::string& argument : arguments) call.arguments.push_back(argument.data());
  call.arguments.push_back(nullptr);

  simt::shared_memory.select(program.shared);
  simt::race::detector.begin_run(program, nullptr);
  RunResult run = simt::execute(call_main, &call, options, program.code);
  const size_t unwatched_bytes = simt::race::detector.unwatched_bytes();
  simt::race::detector.end_run();
  simt::resolve_positions(run.faults, program);
  ProgramResult result;
  result.exit_code = simt::run.status;
  result.unwatched_bytes = unwatched_bytes;
  result.faults = std::move(run.faults);
  if (simt::run.ended_abnormally) {
    result.ended_by = run.message;
  } else if (wf_last_error(true) != simt::cuda_success) {
    result.unnoticed_error = run.message;
  }
  return result;
}

}  // namespace warpfuzz
