#include "kernels/cuda/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

namespace warpfuzz::cuda {
namespace {

constexpr uint16_t machine_cuda = 190;

bool lies_within(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

// Headers need not be aligned in a file that somebody made up.
template <class Header>
Header header_at(std::string_view bytes, uint64_t offset) {
  Header header;
  std::memcpy(&header, bytes.data() + offset, sizeof header);
  return header;
}

}  // namespace

std::string cubin_problem(std::string_view bytes) {
  const uint64_t size = bytes.size();
  if (size < sizeof(Elf64_Ehdr) || !bytes.starts_with(std::string_view(ELFMAG, SELFMAG)) ||
      bytes[EI_CLASS] != ELFCLASS64) {
    return "no 64-bit ELF file";
  }
  const auto header = header_at<Elf64_Ehdr>(bytes, 0);
  if (header.e_machine != machine_cuda) {
    return fmt::format("an ELF file for machine {}, not CUDA's {}", header.e_machine, machine_cuda);
  }
  if (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) {
    return "section headers of another size";
  }
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    return "program headers of another size";
  }
  if (!lies_within(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), size) ||
      !lies_within(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), size)) {
    return "headers beyond its end";
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = header_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && !lies_within(section.sh_offset, section.sh_size, size)) {
      return fmt::format("section {} beyond its end", i);
    }
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = header_at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!lies_within(segment.p_offset, segment.p_filesz, size)) {
      return fmt::format("segment {} beyond its end", i);
    }
  }
  return "";
}

}  // namespace warpfuzz::cuda
