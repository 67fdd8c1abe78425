#include "kernels/simt/kernel_ir.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <unordered_set>

namespace warpfuzz {
namespace {

// Not inlined and without coverage: a comparison in user code would be traced for libFuzzer. The
// report is a tail call, so that its return address is that of the copy.
constexpr std::string_view check_definition = R"(
define internal void @wf.check_alignment(ptr %p, i64 %mask) noinline nounwind nosanitize_coverage {
  %bits = ptrtoint ptr %p to i64
  %low = and i64 %bits, %mask
  %misaligned = icmp ne i64 %low, 0
  br i1 %misaligned, label %report, label %done
report:
  musttail call void @wf_misaligned(ptr %p, i64 %mask)
  ret void
done:
  ret void
}
declare void @wf_misaligned(ptr, i64)
)";

constexpr bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '$';
}

// ", !dbg !18" of an instruction; empty if it has none.
std::string_view debug_location(std::string_view instruction) {
  constexpr std::string_view attribute = ", !dbg !";
  const size_t at = instruction.find(attribute);
  if (at == std::string_view::npos) return {};
  return instruction.substr(
      at, instruction.find_first_not_of("0123456789", at + attribute.size()) - at);
}

// "%name" at the start of the text, quotes included; empty if there is none.
std::string_view local_name(std::string_view text) {
  if (!text.starts_with('%')) return {};
  size_t end = 1;
  if (end < text.size() && text[end] == '"') {
    end = text.find('"', 2);
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
  }
  while (end < text.size() && is_name(text[end])) ++end;
  return text.substr(0, end);
}

class AlignmentChecks {
 public:
  // Writes the checks that go before the line.
  void before(std::string_view line, std::string& out) {
    if (line.starts_with("define ")) {
      stack_.clear();
      add_stack_parameters(line);
    }
    const size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) return;
    const std::string_view statement = line.substr(start);
    if (const std::string_view name = local_name(statement);
        !name.empty() && statement.substr(name.size()).starts_with(" = alloca ")) {
      stack_.insert(name);
      return;
    }
    constexpr std::string_view intrinsic = "call void @llvm.";
    const size_t call = statement.find(intrinsic);
    if (call == std::string_view::npos) return;
    const std::string_view callee = statement.substr(call + intrinsic.size());
    if (!callee.starts_with("memcpy.") && !callee.starts_with("memmove.")) return;
    check_operands(callee, out);
  }

 private:
  // "ptr noundef byval(%struct.View) align 8 %x": what callers put on the stack.
  void add_stack_parameters(std::string_view line) {
    constexpr std::string_view attribute = ") align ";
    for (size_t at = 0; (at = line.find(attribute, at)) != std::string_view::npos;) {
      at = line.find(' ', at + attribute.size());
      if (at == std::string_view::npos) return;
      if (const std::string_view name = local_name(line.substr(at + 1)); !name.empty()) {
        stack_.insert(name);
      }
    }
  }

  // "ptr align 16 %to, ptr align 16 %from, i64 16, i1 false), !dbg !18". What clang puts on the
  // stack is aligned.
  void check_operands(std::string_view callee, std::string& out) const {
    constexpr std::string_view attribute = "align ";
    const std::string_view location = debug_location(callee);
    size_t at = 0;
    for (int operand = 0; operand < 2; ++operand) {
      at = callee.find(attribute, at);
      if (at == std::string_view::npos) return;
      at += attribute.size();
      uint64_t alignment = 1;
      const auto [end, error] =
          std::from_chars(callee.data() + at, callee.data() + callee.size(), alignment);
      if (error != std::errc() || alignment < 2) continue;
      const std::string_view pointer =
          local_name(std::string_view(end + 1, callee.data() + callee.size()));
      if (pointer.empty() || stack_.contains(pointer)) continue;
      out += "  call void @wf.check_alignment(ptr ";
      out += pointer;
      out += ", i64 " + std::to_string(alignment - 1) + ")";
      out += location;
      out += '\n';
    }
  }

  std::unordered_set<std::string_view> stack_;  // of the function being read
};

// What edit(line, out) makes of the lines.
template <class Edit>
std::string edit_lines(std::string_view ir, Edit edit) {
  std::string out;
  out.reserve(ir.size() + ir.size() / 16 + check_definition.size());
  for (size_t at = 0; at < ir.size();) {
    const size_t end = std::min(ir.find('\n', at), ir.size());
    edit(ir.substr(at, end - at), out);
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string add_alignment_checks(std::string_view ir) {
  AlignmentChecks checks;
  std::string out = edit_lines(ir, [&](std::string_view line, std::string& to) {
    checks.before(line, to);
    to += line;
    to += '\n';
  });
  out += check_definition;
  return out;
}

std::string add_volatile_polls(std::string_view ir) {
  constexpr std::string_view loads[] = {" = load volatile ", " = load atomic volatile "};
  bool any = false;
  std::string out = edit_lines(ir, [&](std::string_view line, std::string& to) {
    to += line;
    to += '\n';
    const bool volatile_load = std::any_of(std::begin(loads), std::end(loads), [&](auto load) {
      return line.find(load) != std::string_view::npos;
    });
    if (!volatile_load || !line.starts_with("  %")) return;
    any = true;
    to += "  call void @wf_volatile_read()";
    to += debug_location(line);
    to += '\n';
  });
  if (any && ir.find("declare void @wf_volatile_read(") == std::string_view::npos) {
    out += "declare void @wf_volatile_read()\n";
  }
  return out;
}

}  // namespace warpfuzz
