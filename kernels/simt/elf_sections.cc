#include "kernels/simt/elf_sections.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "kernels/device.h"

namespace warpfuzz::simt {

std::string source_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : symbol;
  const size_t scope = name.rfind("::");
  if (scope != std::string::npos) name.erase(0, scope + 2);
  return name.substr(0, name.find_first_of(" [.("));
}

ElfFile::ElfFile(const std::filesystem::path& path) : path_(path.string()) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw KernelError(fmt::format("{}: cannot be read", path_));
  bytes_.assign(std::istreambuf_iterator<char>(file), {});
  const auto* header = bytes_.size() < sizeof(Elf64_Ehdr) ? nullptr : at<Elf64_Ehdr>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64) {
    throw KernelError(fmt::format("{}: not a shared object for x86-64 Linux", path_));
  }
}

template <class T>
const T* ElfFile::at(uint64_t offset, uint64_t count) const {
  if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) ||
      offset % alignof(T) != 0) {
    throw KernelError(fmt::format("{}: a table of the ELF file lies outside of it", path_));
  }
  return reinterpret_cast<const T*>(bytes_.data() + offset);
}

std::string_view ElfFile::text(uint64_t string_section, uint64_t offset) const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (string_section >= header->e_shnum) return {};
  const Elf64_Shdr& strings = sections[string_section];
  if (offset >= strings.sh_size) return {};
  const char* begin = at<char>(strings.sh_offset, strings.sh_size) + offset;
  return {begin, strnlen(begin, strings.sh_size - offset)};
}

ElfSection ElfFile::section(std::string_view name) const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (text(header->e_shstrndx, sections[i].sh_name) == name) {
      return {sections[i].sh_addr, sections[i].sh_size};
    }
  }
  return {};
}

template <class Visit>
void ElfFile::for_each_symbol(Visit visit) const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(sections[i].sh_offset, count);
    for (uint64_t s = 0; s < count; ++s) {
      visit(symbols[s], text(sections[i].sh_link, symbols[s].st_name));
    }
  }
}

std::vector<ElfSymbol> ElfFile::symbols_in(const ElfSection& section) const {
  std::vector<ElfSymbol> result;
  for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
    // Empty ones mark places and belong to no section's content.
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size != 0 &&
        symbol.st_value >= section.address && symbol.st_value < section.address + section.bytes) {
      result.push_back({std::string(name), symbol.st_value, symbol.st_size});
    }
  });
  return result;
}

bool ElfFile::needs(std::string_view name) const {
  bool found = false;
  for_each_symbol([&](const Elf64_Sym& symbol, std::string_view symbol_name) {
    found = found || (symbol.st_shndx == SHN_UNDEF && symbol_name == name);
  });
  return found;
}

ElfSection ElfFile::image() const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* segments = at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  uint64_t begin = ~uint64_t{0};
  uint64_t end = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD) continue;
    begin = std::min(begin, segments[i].p_vaddr);
    end = std::max(end, segments[i].p_vaddr + segments[i].p_memsz);
  }
  return {begin, end > begin ? end - begin : 0};
}

}  // namespace warpfuzz::simt
