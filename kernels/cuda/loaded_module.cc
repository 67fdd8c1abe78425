#include "kernels/cuda/loaded_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

constexpr size_t log_bytes = 4096;
constexpr size_t max_parameters = 1024;
constexpr size_t max_names = 20;  // in a message

// The compiler's complaints about PTX, as one line.
std::string tidy(const char* log) {
  std::string text;
  for (; *log != '\0' && text.size() < 400; ++log) {
    const auto c = static_cast<unsigned char>(*log);
    if (std::isprint(c) != 0) {
      text += static_cast<char>(c);
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

LoadedModule::LoadedModule(const Session& session, const std::string& image,
                           const std::filesystem::path& file)
    : session_(session), file_(file) {
  const Driver& driver = session.driver();
  if (driver.parameter_info == nullptr) {
    throw KernelError(fmt::format(
        "{}: this CUDA driver does not tell a kernel's parameters; PTX and cubin kernels need a "
        "driver of 12.4 or later",
        file.string()));
  }
  std::array<char, log_bytes> log{};
  std::array<int, 3> names = {jit_error_log, jit_error_log_bytes, jit_line_info};
  std::array<void*, 3> values = {log.data(), reinterpret_cast<void*>(log.size() - 1),
                                 reinterpret_cast<void*>(uintptr_t{1})};
  const Status status =
      driver.module_load(&module_, image.c_str(), names.size(), names.data(), values.data());
  if (status == success) return;
  const std::string complaint = tidy(log.data());
  throw KernelError(fmt::format(
      "{}: does not load on {} (sm_{}{}): {}{}{}", file.string(), session.device_name(),
      session.attribute(attribute_capability_major), session.attribute(attribute_capability_minor),
      driver.describe(status), complaint.empty() ? "" : ": ", complaint));
}

LoadedModule::~LoadedModule() { session_.driver().module_unload(module_); }

int LoadedModule::attribute(FunctionHandle function, int attribute) const {
  int value = 0;
  session_.driver().function_attribute(&value, attribute, function);
  return value;
}

std::vector<std::string> LoadedModule::entry_names() const {
  const Driver& driver = session_.driver();
  unsigned count = 0;
  if (driver.module_function_count == nullptr || driver.module_functions == nullptr ||
      driver.function_name == nullptr || driver.module_function_count(&count, module_) != success) {
    return {};
  }
  std::vector<FunctionHandle> functions(count);
  if (driver.module_functions(functions.data(), count, module_) != success) return {};
  std::vector<std::string> names;
  for (FunctionHandle function : functions) {
    const char* name = nullptr;
    if (driver.function_name(&name, function) == success) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > max_names) names.resize(max_names);
  return names;
}

Entry LoadedModule::entry(const std::string& name, const std::string& where) const {
  const Driver& driver = session_.driver();
  Entry entry;
  if (const Status status = driver.module_function(&entry.function, module_, name.c_str());
      status != success) {
    throw KernelError(fmt::format("{}: found \"{}\", expected an entry of {}: {}", where, name,
                                  file_.string(), fmt::join(entry_names(), ", ")));
  }
  size_t offset = 0, bytes = 0;
  while (entry.parameters.size() < max_parameters &&
         driver.parameter_info(entry.function, entry.parameters.size(), &offset, &bytes) ==
             success) {
    entry.parameters.push_back(bytes);
  }
  entry.block_threads = attribute(entry.function, function_block_threads);
  entry.registers = attribute(entry.function, function_registers);
  entry.shared_bytes = attribute(entry.function, function_shared_bytes);
  entry.local_bytes = attribute(entry.function, function_local_bytes);
  const int most = session_.attribute(attribute_shared_bytes_optin) - entry.shared_bytes;
  if (most > 0) driver.set_function_attribute(entry.function, function_dynamic_shared_bytes, most);
  return entry;
}

DevicePointer LoadedModule::variable(const char* name) const {
  DevicePointer pointer = 0;
  size_t bytes = 0;
  const Status status = session_.driver().module_global(&pointer, &bytes, module_, name);
  return status == success ? pointer : 0;
}

}  // namespace warpfuzz::cuda
