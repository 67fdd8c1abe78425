// Reads what the loader does not keep: the section headers of an ELF64 file. The file is only
// trusted as far as bounds were checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpfuzz::simt {

struct ElfSection {
  uint64_t address = 0;  // relative to the load base
  uint64_t bytes = 0;
};

struct ElfSymbol {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// What the source calls a variable: "partial" of _ZZ7softmaxPKfPflE7partial, which demangles to
// softmax(float const*, float*, long)::partial.
std::string source_name(const std::string& symbol);

class ElfFile {
 public:
  // Throws KernelError if the file is not an x86-64 ELF file.
  explicit ElfFile(const std::filesystem::path& path);

  // Zero bytes if there is no such section.
  ElfSection section(std::string_view name) const;
  // All that is mapped.
  ElfSection image() const;
  // Data symbols that lie in the section.
  std::vector<ElfSymbol> symbols_in(const ElfSection& section) const;
  // Whether the file leaves the symbol for others to define.
  bool needs(std::string_view symbol) const;

 private:
  template <class T>
  const T* at(uint64_t offset, uint64_t count = 1) const;
  template <class Visit>
  void for_each_symbol(Visit visit) const;  // of the symbol table, with their names
  std::string_view text(uint64_t string_section, uint64_t offset) const;

  std::string path_;
  std::vector<char> bytes_;
};

}  // namespace warpfuzz::simt
