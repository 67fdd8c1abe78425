// A module in the driver's hands, from the text of PTX or the bytes of a cubin, and what it says of
// its entries. Unloaded at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/cuda/session.h"

namespace warpfuzz::cuda {

struct Entry {
  FunctionHandle function = nullptr;
  std::vector<size_t> parameters;  // bytes of each
  int block_threads = 0;           // most
  int registers = 0;
  int shared_bytes = 0;  // static
  int local_bytes = 0;
};

class LoadedModule {
 public:
  // `image`: PTX text, or a checked cubin. `file` is for messages. Throws KernelError.
  LoadedModule(const Session& session, const std::string& image, const std::filesystem::path& file);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // Throws KernelError where the module has no such entry; `where` begins the message. Lets it use
  // all dynamic shared memory that the device has.
  Entry entry(const std::string& name, const std::string& where) const;
  // The address of a variable; 0 where there is none.
  DevicePointer variable(const char* name) const;

 private:
  std::vector<std::string> entry_names() const;
  int attribute(FunctionHandle function, int attribute) const;

  const Session& session_;
  std::filesystem::path file_;
  ModuleHandle module_ = nullptr;
};

}  // namespace warpfuzz::cuda
