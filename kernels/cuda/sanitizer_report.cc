// The text, a report per headline:
//
//     ========= Invalid __global__ write of size 4 bytes
//     =========     at relu(const float *, float *, int)+0x90 in relu.cu:8
//     =========     by thread (31,0,0) in block (0,0,0)
//     =========     Access at 0x7f71b9e01360 is out of bounds
//     =========     and is 1 bytes after the nearest allocation at 0x7f71b9e00a00 of size 2,400
//     bytes
//     ========= Error: Potential RAW hazard detected at __shared__ 0x10 in block (0,0,0) :
//     =========     Write Thread (1,0,0) at softmax(float *)+0x2f0 in softmax.cu:20
//     =========     Read Thread (0,0,0) at softmax(float *)+0x310 in softmax.cu:22
//     ========= Error: Race reported between Write access at softmax(float *)+0x2f0 in
//     softmax.cu:20
//     =========     and Read access at softmax(float *)+0x310 in softmax.cu:22 [4 hazards]
//     ========= Barrier error detected. Divergent thread(s) in block.
//     ========= Uninitialized __global__ memory read of size 4 bytes
//     =========     at atomicAdd(float *, float)+0x660 in sm_20_atomic_functions.hpp:84
//     =========         Device Frame: void scatter(float *)+0x660 in scatter.cu:12
//     ========= ERROR SUMMARY: 3 errors
#include "kernels/cuda/sanitizer_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

namespace warpfuzz::cuda {
namespace {

constexpr std::string_view mark = "=========";
constexpr size_t max_line = 2000;
constexpr size_t max_name = 200;  // of a function or file

// Reads a line from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool accept(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // `word` if `next` follows it.
  bool accept_before(std::string_view word, std::string_view next) {
    Scanner ahead = *this;
    if (!ahead.accept(word)) return false;
    *this = ahead;
    return ahead.accept(next);
  }
  // Moves behind the next `word`, if there is one.
  bool find(std::string_view word) {
    const size_t at = rest_.find(word);
    if (at == rest_.npos) return false;
    rest_.remove_prefix(at + word.size());
    return true;
  }
  std::string_view word() {
    skip_space();
    const std::string_view result = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(result.size());
    return result;
  }
  // Decimal, perhaps with commas, or hexadecimal after 0x; 0 where there is none.
  uint64_t number() {
    skip_space();
    const int base = accept("0x") ? 16 : 10;
    std::string digits;
    while (!rest_.empty() && digits.size() < 20 &&
           (std::isxdigit(static_cast<unsigned char>(rest_[0])) != 0 || rest_[0] == ',')) {
      if (rest_[0] != ',') digits += rest_[0];
      rest_.remove_prefix(1);
    }
    uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return value;
  }
  // "(31,0,0)"
  Dim3 triple() {
    std::array<uint32_t, 3> values{};
    if (!accept("(")) return {};
    for (uint32_t& value : values) {
      skip_space();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      accept(",");
    }
    accept(")");
    return {values[0], values[1], values[2]};
  }
  std::string_view rest() {
    skip_space();
    return rest_;
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  std::string_view rest_;
};

std::string printable(std::string_view text) {
  std::string result(text.substr(0, max_name));
  for (char& c : result) {
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  }
  return result;
}

struct Position {
  std::string file;
  int line = 0;
  std::string code;  // "relu(float *)+0x90", where no line is known
};

// "relu(float *)+0x90 in relu.cu:8 [4 hazards]", or of older versions "0x90 in relu.cu:8:relu()".
Position position_in(std::string_view text) {
  Position position;
  if (const size_t counts = text.rfind(" ["); counts != text.npos) text = text.substr(0, counts);
  position.code = printable(text);
  const size_t in = text.rfind(" in ");
  if (in == text.npos) return position;
  const std::string_view place = text.substr(in + 4);
  for (size_t colon = place.find(':'); colon != place.npos; colon = place.find(':', colon + 1)) {
    const char* const end = place.data() + place.size();
    int line = 0;
    const auto [stop, error] = std::from_chars(place.data() + colon + 1, end, line);
    if (error != std::errc() || line <= 0 || (stop != end && *stop != ':')) continue;
    position.file = printable(place.substr(0, colon));
    position.line = line;
    break;
  }
  return position;
}

bool is_kernel_file(std::string_view file) { return file.ends_with(".cu"); }

enum class ReportKind : uint8_t { none, invalid, uninitialized, barrier, hazard, race };

class Parser {
 public:
  explicit Parser(const std::vector<NamedAllocation>& allocations) : allocations_(allocations) {}

  SanitizerReport parse(std::string_view text) {
    text = text.substr(0, max_sanitizer_report_bytes);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      take_line(text.substr(0, std::min(end, max_line)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    finish();
    return std::move(result_);
  }

 private:
  // Details are further to the right than headlines.
  void take_line(std::string_view line) {
    if (!line.starts_with(mark)) return;  // what the program itself printed
    line.remove_prefix(mark.size());
    if (line.starts_with("  ")) {
      if (kind_ != ReportKind::none) take_detail(line);
      return;
    }
    finish();
    take_headline(line);
  }

  void take_headline(std::string_view line) {
    Scanner scanner(line);
    if (line.find(" SUMMARY:") != line.npos) {
      result_.complete = true;
    } else if (scanner.accept("Invalid __")) {
      kind_ = ReportKind::invalid;
      take_access(scanner, "");
    } else if (scanner.accept("Uninitialized __")) {
      kind_ = ReportKind::uninitialized;
      take_access(scanner, "memory");
    } else if (scanner.accept("Barrier error detected.")) {
      kind_ = ReportKind::barrier;
      what_ = printable(scanner.rest());
    } else if (scanner.accept("Error:") || scanner.accept("ERROR:") ||
               // Threads of one warp: a race since they advance on their own.
               scanner.accept_before("Warning:", "Race reported")) {
      take_race(scanner);
    }
  }

  // "global__ write of size 4 bytes"
  void take_access(Scanner& scanner, std::string_view between) {
    space_ = printable(scanner.word());
    if (const size_t end = space_.find("__"); end != space_.npos) space_.resize(end);
    if (!between.empty()) scanner.accept(between);
    access_ = printable(scanner.word());
    scanner.find("of size");
    fault_.bytes = static_cast<uint32_t>(scanner.number());
  }

  void take_race(Scanner& scanner) {
    if (scanner.accept("Race reported between")) {
      kind_ = ReportKind::race;
      take_access_at(scanner);
    } else if (scanner.find("hazard detected at __")) {
      kind_ = ReportKind::hazard;
      space_ = printable(scanner.word());
      if (const size_t end = space_.find("__"); end != space_.npos) space_.resize(end);
      address_ = scanner.number();
      if (scanner.find("in block")) fault_.block = scanner.triple();
    }
  }

  void take_detail(std::string_view line) {
    Scanner scanner(line);
    if (kind_ == ReportKind::race) {
      if (scanner.accept("and")) take_access_at(scanner);
    } else if (kind_ == ReportKind::hazard) {
      const bool write = scanner.accept("Write Thread");
      if (write || scanner.accept("Read Thread")) {
        const Dim3 thread = scanner.triple();
        if (scanner.accept("at")) add_side(write ? "write" : "read", thread, scanner.rest());
      }
    } else if (scanner.accept("at ")) {
      if (position_.code.empty()) position_ = position_in(scanner.rest());
    } else if (scanner.accept("Device Frame:")) {
      // The caller, where a header of the toolkit holds the access.
      const Position caller = position_in(scanner.rest());
      if (!is_kernel_file(position_.file) && is_kernel_file(caller.file)) position_ = caller;
    } else if (scanner.accept("by thread")) {
      fault_.thread = scanner.triple();
      if (scanner.accept("in block")) fault_.block = scanner.triple();
    } else if (scanner.accept("Access at") || scanner.accept("Access to") ||
               scanner.accept("Address")) {
      address_ = scanner.number();
      misaligned_ = scanner.rest().find("misaligned") != std::string_view::npos;
    } else if (scanner.accept("and is")) {
      take_neighbour(scanner);
    }
  }

  // "1 bytes after the nearest allocation at 0x7f71b9e00a00 of size 2400 bytes"
  void take_neighbour(Scanner& scanner) {
    const uint64_t distance = scanner.number();
    scanner.accept("bytes");
    const bool after = scanner.accept("after"), before = !after && scanner.accept("before");
    if ((!after && !before) || !scanner.find("allocation at")) return;
    const uint64_t allocation = scanner.number();
    const auto known =
        std::find_if(allocations_.begin(), allocations_.end(),
                     [&](const NamedAllocation& named) { return named.address == allocation; });
    neighbour_ = fmt::format(", {} byte{} {} {}", distance, distance == 1 ? "" : "s",
                             after ? "after" : "before",
                             known != allocations_.end() ? known->name : "the nearest allocation");
  }

  // "Write access at softmax(float *)+0x2f0 in softmax.cu:20"
  void take_access_at(Scanner& scanner) {
    const bool write = scanner.accept("Write access");
    if ((write || scanner.accept("Read access")) && scanner.accept("at")) {
      add_side(write ? "write" : "read", {}, scanner.rest());
    }
  }

  // The earlier access, then the later one; further ones are races of their own, left out.
  void add_side(std::string_view access, const Dim3& thread, std::string_view text) {
    const Position position = position_in(text);
    if (!fault_.earlier) {
      fault_.earlier.emplace();
      fault_.earlier->kind = access;
      fault_.earlier->thread = thread;
      fault_.earlier->block = fault_.block;
      fault_.earlier->file = position.file;
      fault_.earlier->line = position.line;
      earlier_code_ = position.code;
    } else if (position_.code.empty()) {
      access_ = access;
      fault_.thread = thread;
      position_ = position;
    }
  }

  void finish() {
    if (kind_ != ReportKind::none) add_fault();
    kind_ = ReportKind::none;
    fault_ = {};
    position_ = {};
    space_ = access_ = what_ = neighbour_ = earlier_code_ = "";
    address_ = 0;
    misaligned_ = false;
  }

  void add_fault() {
    const bool race = kind_ == ReportKind::race || kind_ == ReportKind::hazard;
    if (race && (!fault_.earlier || position_.code.empty())) return;
    fault_.kind = kind_of();
    fault_.message = message();
    fault_.file = position_.file;
    fault_.line = position_.line;
    if (fault_.line == 0 && !position_.code.empty()) {
      fault_.message += fmt::format(" at {}", position_.code);
    }
    // One byte or thread after the other: each place once.
    if (!seen_.insert(fmt::format("{} {} {}", name(fault_.kind), position_.code, earlier_code_))
             .second) {
      return;
    }
    if (result_.faults.size() < max_faults) result_.faults.push_back(std::move(fault_));
  }

  FaultKind kind_of() const {
    switch (kind_) {
      case ReportKind::uninitialized:
        return FaultKind::uninitialized_read;
      case ReportKind::barrier:
        return what_.starts_with("Divergent") ? FaultKind::divergent_barrier
                                              : FaultKind::undefined_behavior;
      case ReportKind::hazard:
      case ReportKind::race:
        return FaultKind::data_race;
      case ReportKind::invalid:
      case ReportKind::none:
        break;
    }
    if (misaligned_) return FaultKind::misaligned_access;
    return access_ == "read" ? FaultKind::out_of_bounds_read : FaultKind::out_of_bounds_write;
  }

  std::string message() const {
    switch (kind_) {
      case ReportKind::uninitialized:
        return fmt::format("{} of {} bytes of {} that nobody has written", access_, fault_.bytes,
                           place());
      case ReportKind::barrier:
        return "barrier: " + what_;
      case ReportKind::hazard:
        return fmt::format("{} of byte {} of {} memory", access_, address_, space_);
      case ReportKind::race:
        return fmt::format("{} of shared memory", access_);
      case ReportKind::invalid:
      case ReportKind::none:
        break;
    }
    return fmt::format("{} {} of {} bytes in {} memory{}",
                       misaligned_ ? "misaligned" : "out-of-bounds", access_, fault_.bytes, space_,
                       misaligned_ ? "" : neighbour_);
  }

  // "y + 252", or "global memory" where the address is in no tensor.
  std::string place() const {
    for (const NamedAllocation& named : allocations_) {
      if (address_ >= named.address && address_ - named.address < named.bytes) {
        return fmt::format("{} + {}", named.name, address_ - named.address);
      }
    }
    return space_ + " memory";
  }

  const std::vector<NamedAllocation>& allocations_;
  SanitizerReport result_;
  std::set<std::string> seen_;
  // Of the report being read.
  ReportKind kind_ = ReportKind::none;
  Fault fault_;
  Position position_;
  std::string space_, access_, what_, neighbour_, earlier_code_;
  uint64_t address_ = 0;
  bool misaligned_ = false;
};

}  // namespace

SanitizerReport parse_sanitizer_report(std::string_view text,
                                       const std::vector<NamedAllocation>& allocations) {
  return Parser(allocations).parse(text);
}

}  // namespace warpfuzz::cuda
