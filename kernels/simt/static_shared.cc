#include "kernels/simt/static_shared.h"

#include <charconv>
#include <map>
#include <set>

namespace warpfuzz {
namespace {

struct Variable {
  std::string_view name_string;  // symbol of the string that holds its name
  size_t bytes = 0;
};
struct Function {
  std::string_view debug;              // its metadata, "!298"
  std::vector<std::string_view> uses;  // symbols
};

// The text from `at` up to one of the characters of `end`.
std::string_view until(std::string_view text, size_t at, std::string_view end) {
  return text.substr(at, text.find_first_of(end, at) - at);
}

// The text after `key`, up to one of the characters of `end`; empty if there is no key.
std::string_view value_of(std::string_view line, std::string_view key, std::string_view end) {
  const size_t at = line.find(key);
  return at == line.npos ? std::string_view() : until(line, at + key.size(), end);
}

size_t number(std::string_view text) {
  size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The symbols of a line, without @; LLVM quotes unusual names.
std::vector<std::string_view> symbols(std::string_view line) {
  std::vector<std::string_view> found;
  for (size_t at = line.find('@'); at != line.npos; at = line.find('@', at + 1)) {
    const bool quoted = line.substr(at + 1, 1) == "\"";
    found.push_back(quoted ? until(line, at + 2, "\"") : until(line, at + 1, " ,)(}]"));
  }
  return found;
}

// c"tile\00" without the zero.
std::string string_constant(std::string_view line) {
  std::string text(value_of(line, " c\"", "\""));
  if (text.ends_with("\\00")) text.resize(text.size() - 3);
  return text;
}

class Module {
 public:
  explicit Module(std::string_view text) {
    Function* open = nullptr;
    for (size_t begin = 0; begin < text.size();) {
      const std::string_view line = until(text, begin, "\n");
      begin += line.size() + 1;
      if (line.starts_with("define ")) {
        open = &functions_[symbols(line).front()];
        open->debug = value_of(line, "!dbg ", " ");
      } else if (line == "}") {
        open = nullptr;
      } else if (open != nullptr) {
        for (const std::string_view symbol : symbols(line)) open->uses.push_back(symbol);
      } else if (line.starts_with('@')) {
        read_global(line);
      } else if (line.starts_with('!')) {
        metadata_[until(line, 0, " ")] = line;
      }
    }
  }

  std::vector<StaticSharedUse> uses() const {
    std::vector<StaticSharedUse> result;
    for (const auto& [name, function] : functions_) {
      for (const std::string_view symbol : function.uses) {
        const auto record = kernel_names_.find(symbol);
        if (record == kernel_names_.end()) continue;
        StaticSharedUse use = reached_from(name);
        use.kernel = strings_.contains(record->second) ? strings_.at(record->second) : "";
        locate(function, use);
        if (use.bytes != 0) result.push_back(std::move(use));
        break;
      }
    }
    return result;
  }

 private:
  void read_global(std::string_view line) {
    const std::vector<std::string_view> names = symbols(line);
    if (line.find("wf_simt::SharedRecord\" {") != line.npos && names.size() == 4) {
      variables_[names[1]] = {names[2], number(value_of(line, ", i64 ", ","))};
    } else if (line.find("wf_simt::KernelRecord\" {") != line.npos && names.size() == 2) {
      kernel_names_[names[0]] = names[1];
    } else if (line.find(" c\"") != line.npos) {
      strings_[names[0]] = string_constant(line);
    }
  }

  StaticSharedUse reached_from(std::string_view kernel) const {
    StaticSharedUse use;
    std::set<std::string_view> seen = {kernel};
    std::vector<std::string_view> reached = {kernel};
    for (size_t next = 0; next < reached.size(); ++next) {
      const std::string_view name = reached[next];
      if (const auto variable = variables_.find(name); variable != variables_.end()) {
        const auto text = strings_.find(variable->second.name_string);
        use.bytes += variable->second.bytes;
        use.variables.push_back((text != strings_.end() ? text->second : "") + " (" +
                                std::to_string(variable->second.bytes) + " bytes)");
      }
      const auto function = functions_.find(name);
      if (function == functions_.end()) continue;
      for (const std::string_view symbol : function->second.uses) {
        if (seen.insert(symbol).second) reached.push_back(symbol);
      }
    }
    return use;
  }

  void locate(const Function& function, StaticSharedUse& use) const {
    const auto subprogram = metadata_.find(function.debug);
    if (subprogram == metadata_.end()) return;
    use.line = static_cast<int>(number(value_of(subprogram->second, ", line: ", ",")));
    const auto file = metadata_.find(value_of(subprogram->second, ", file: ", ","));
    if (file == metadata_.end()) return;
    use.file = value_of(file->second, "filename: \"", "\"");
    // Relative to where the compiler ran if both lie in one directory.
    const std::string_view directory = value_of(file->second, "directory: \"", "\"");
    if (!use.file.starts_with('/') && !directory.empty()) {
      use.file = std::string(directory) + "/" + use.file;
    }
  }

  std::map<std::string_view, Function> functions_;
  std::map<std::string_view, Variable> variables_;             // by the variable's symbol
  std::map<std::string_view, std::string_view> kernel_names_;  // record to string
  std::map<std::string_view, std::string> strings_;
  std::map<std::string_view, std::string_view> metadata_;
};

}  // namespace

std::vector<StaticSharedUse> static_shared_use(std::string_view llvm_text) {
  return Module(llvm_text).uses();
}

}  // namespace warpfuzz
