#include "fuzzers/errors.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "crashes/reproducer_error.h"
#include "fuzzers/installation.h"
#include "kernels/compile.h"
#include "kernels/device.h"
#include "schemas/expression.h"
#include "schemas/schema.h"

namespace warpfuzz {
namespace {

int report(const std::exception& error, int code) {
  fmt::print(stderr, "warpfuzz: {}\n", error.what());
  return code;
}

}  // namespace

int run_reporting_errors(const std::function<int()>& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    return report(error, exit_usage);
  } catch (const SchemaError& error) {
    return report(error, exit_usage);
  } catch (const ExpressionError& error) {
    return report(error, exit_usage);
  } catch (const CompileError& error) {
    return report(error, exit_usage);
  } catch (const KernelError& error) {
    return report(error, exit_usage);
  } catch (const ReproducerError& error) {
    return report(error, exit_usage);
  } catch (const DeviceUnavailable& error) {
    return report(error, exit_environment);
  } catch (const EnvironmentError& error) {
    return report(error, exit_environment);
  } catch (const std::system_error& error) {  // std::filesystem::filesystem_error too
    return report(error, exit_environment);
  } catch (const std::bad_alloc& error) {
    return report(error, exit_environment);
  }
}

}  // namespace warpfuzz
