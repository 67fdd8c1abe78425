#include "kernels/simt/shared_declaration.h"

#include <algorithm>

#include "kernels/simt/token_queries.h"
#include "kernels/simt/token_view.h"

namespace warpfuzz {
namespace {

// Aligned as the matrix functions want it, in every build: on a GPU a block's shared memory begins
// at such an address, and large arrays stay there, whatever their element.
constexpr std::string_view static_shared =
    "static __attribute__((section(\".wfshared\"), aligned(32)))";
constexpr std::string_view already_static_shared =
    "__attribute__((section(\".wfshared\"), aligned(32)))";
constexpr std::string_view shared_record =
    " static __attribute__((used, section(\".wfsizes\"), no_sanitize(\"address\"))) "
    "::wf_simt::SharedRecord wf_shared_";

class Declaration : TokenView {
 public:
  Declaration(std::string_view text, const CudaTokens& tokens, size_t keyword)
      : TokenView(text, tokens.tokens), directives_(tokens.directives), keyword_(keyword) {
    begin_ = find_begin();
    end_ = find_end();
  }

  SharedDeclaration rewrite(bool at_namespace_scope) {
    if (end_ == tokens_.size()) return {{}, "a __shared__ declaration does not end"};
    for (size_t i = begin_; i < end_; ++i) {
      if (word(i) == "extern") return rewrite_dynamic(at_namespace_scope);
      if (is_open(i)) i = close_of(i);
    }
    return rewrite_static();
  }

 private:
  bool is_open(size_t i) const { return word(i) == "(" || word(i) == "[" || word(i) == "{"; }

  // An attribute with its parentheses: alignas(16), __attribute__((aligned(16))).
  bool is_attribute(size_t i) const {
    return (word(i) == "alignas" || word(i) == "__attribute__" || word(i) == "decltype") &&
           i + 1 < tokens_.size() && word(i + 1) == "(";
  }

  size_t find_begin() const {
    size_t begin = keyword_;
    while (begin > 0) {
      const size_t previous = begin - 1;
      const std::string_view w = word(previous);
      if (w == ";" || w == "{" || w == "}" || w == "(" || w == "else" || w == "do") break;
      if (w == ":") {
        if (previous == 0 || word(previous - 1) != ":") break;
        begin -= 2;
        continue;
      }
      if (w == ")") {
        size_t open = previous;
        for (int depth = 0; open > 0; --open) {
          depth += word(open) == ")" ? 1 : word(open) == "(" ? -1 : 0;
          if (depth == 0) break;
        }
        if (open == 0 || !is_attribute(open - 1)) break;
        begin = open - 1;
        continue;
      }
      begin = previous;
    }
    return begin;
  }

  size_t find_end() const {
    for (size_t i = keyword_; i < tokens_.size(); ++i) {
      if (word(i) == ";") return i;
      if (is_open(i)) i = close_of(i);
    }
    return tokens_.size();
  }

  SharedDeclaration rewrite_static() {
    SharedDeclaration result;
    bool has_static = false;
    bool type_body = false;  // the next { opens a type, not an initialiser
    std::string alignment, records;
    std::string_view name;  // the declarator's, as far as it was read
    bool name_read = false;
    for (size_t i = begin_; i <= end_; ++i) {
      const std::string_view w = word(i);
      if (i == end_ || w == ",") {
        records += record(name);
        name_read = false;
        if (i == end_) break;
      }
      if (w == "[") name_read = true;
      if (tokens_[i].kind == CudaTokenKind::word && !name_read && !is_attribute(i)) name = w;
      if (w == "static") has_static = true;
      if (w == "struct" || w == "union" || w == "class" || w == "enum") type_body = true;
      if (w == "=" || (w == "{" && !type_body)) {
        return {{}, "a __shared__ variable cannot have an initializer (nvcc refuses it too)"};
      }
      if (w == "alignas" && is_attribute(i)) {
        // Legal after __shared__ for nvcc, but standard C++ wants it before `static`.
        const size_t close = close_of(i + 1);
        if (i > begin_ && close < end_) {
          const size_t first = tokens_[i].begin;
          const size_t last = tokens_[close].end;
          alignment += std::string(text_.substr(first, last - first)) + " ";
          result.edits.push_back({first, last, line_structure(text_, directives_, first, last)});
        }
      }
      if (is_open(i)) {
        if (w == "{") type_body = false;
        i = close_of(i);
      }
      if (w == "<") i = end_of_template_arguments(*this, i);
    }
    result.edits.push_back({tokens_[end_].end, tokens_[end_].end, records});
    result.edits.push_back({tokens_[keyword_].begin, tokens_[keyword_].end,
                            std::string(has_static ? already_static_shared : static_shared)});
    if (!alignment.empty()) {
      result.edits.push_back({tokens_[begin_].begin, tokens_[begin_].begin, alignment});
    }
    return result;
  }

  static std::string record(std::string_view variable) {
    const std::string name(variable);
    return std::string(shared_record) + name + "{&" + name + ", sizeof(" + name + "), \"" + name +
           "\", &wf_kernel_record};";
  }

  SharedDeclaration rewrite_dynamic(bool at_namespace_scope) {
    const std::vector<size_t> kept = tokens_of_declaration();
    // The type ends before the first declarator's name, which stands before `[`, `,` or the end.
    size_t after_name = 0;
    for (int angles = 0; after_name < kept.size(); ++after_name) {
      const std::string_view w = word(kept[after_name]);
      if (w == "<") ++angles;
      if (w == ">") --angles;
      if (angles == 0 && (w == "[" || w == "," || w == "=" || w == "(" || w == "{")) break;
    }
    size_t declarator = after_name == 0 ? 0 : after_name - 1;
    while (declarator > 0 && is_pointer_part(kept, declarator - 1)) --declarator;
    if (declarator == 0) return {{}, unsupported_dynamic};
    const std::string type = join(kept, 0, declarator);

    std::string replacement = at_namespace_scope ? "static " : "";
    replacement += type;
    for (size_t i = declarator; i < kept.size();) {
      size_t name = i;
      while (name < kept.size() && is_pointer_part(kept, name)) ++name;
      if (name == kept.size() || tokens_[kept[name]].kind != CudaTokenKind::word) {
        return {{}, unsupported_dynamic};
      }
      size_t end = name + 1;
      for (int depth = 0; end < kept.size() && (depth > 0 || word(kept[end]) != ","); ++end) {
        const std::string_view w = word(kept[end]);
        if (depth == 0 && w != "[") return {{}, unsupported_dynamic};
        depth += w == "[" ? 1 : w == "]" ? -1 : 0;
      }
      const std::string pointers = join(kept, i, name);
      const std::string extents = join(kept, name + 1, end);
      replacement += i == declarator ? " " : ", ";
      replacement += pointers + "(&" + std::string(word(kept[name])) + ")" + extents +
                     " = *reinterpret_cast<" + type + " " + pointers + "(*)" + extents +
                     ">(::wf_simt::dynamic_shared())";
      i = end + 1;
    }
    const size_t first = tokens_[begin_].begin;
    const size_t last = tokens_[end_].begin;
    replacement += line_structure(text_, directives_, first, last);
    return {{{first, last, replacement}}, ""};
  }

  // Without storage class, CUDA qualifiers, alignment and attributes.
  std::vector<size_t> tokens_of_declaration() const {
    std::vector<size_t> kept;
    for (size_t i = begin_; i < end_; ++i) {
      const std::string_view w = word(i);
      if (w == "extern" || w == "static" || w.starts_with("__wf_")) continue;
      if (w != "decltype" && is_attribute(i)) {
        i = close_of(i + 1);
        continue;
      }
      kept.push_back(i);
    }
    return kept;
  }

  bool is_pointer_part(const std::vector<size_t>& kept, size_t i) const {
    const std::string_view w = word(kept[i]);
    if (w == "*") return true;
    const bool qualifier = w == "const" || w == "volatile" || w == "__restrict__";
    return qualifier && i > 0 && word(kept[i - 1]) == "*";
  }

  std::string join(const std::vector<size_t>& kept, size_t from, size_t to) const {
    std::string joined;
    for (size_t i = from; i < to; ++i) {
      const bool adjacent = i > from && tokens_[kept[i - 1]].end == tokens_[kept[i]].begin;
      if (i > from && !adjacent) joined += ' ';
      joined += word(kept[i]);
    }
    return joined;
  }

  static constexpr const char* unsupported_dynamic =
      "this form of extern __shared__ is not supported; write: extern __shared__ T name[];";

  std::span<const Directive> directives_;
  size_t keyword_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace

std::string line_structure(std::string_view text, std::span<const Directive> directives,
                           size_t begin, size_t end) {
  std::string kept;
  auto next = std::lower_bound(directives.begin(), directives.end(), begin,
                               [](const Directive& d, size_t at) { return d.begin < at; });
  for (size_t at = begin; at < end;) {
    if (next != directives.end() && next->begin == at) {
      kept += text.substr(next->begin, next->end - next->begin);
      at = next->end;
      ++next;
    } else {
      if (text[at] == '\n') kept += '\n';
      ++at;
    }
  }
  return kept;
}

SharedDeclaration rewrite_shared(std::string_view text, const CudaTokens& tokens, size_t keyword,
                                 bool at_namespace_scope) {
  return Declaration(text, tokens, keyword).rewrite(at_namespace_scope);
}

}  // namespace warpfuzz
