#include "kernels/simt/rewrite.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "kernels/compile.h"
#include "kernels/simt/cuda_tokens.h"
#include "kernels/simt/shared_declaration.h"

namespace warpfuzz {
namespace {

// WF_KERNEL_CALL of wf_simt.h, which is a macro and so already gone.
constexpr std::string_view kernel_call_attribute =
    R"(__attribute__((no_sanitize("address", "undefined", "thread", "coverage"))))";

struct Scope {
  char open = '{';
  bool is_namespace = false;
  bool is_device = false;  // body of a function that is not also __host__
};

class Rewriter {
 public:
  explicit Rewriter(std::string_view text)
      : text_(text), source_(tokenize_cuda(text)), tokens_(source_.tokens) {}

  std::string run() {
    auto directive = source_.directives.begin();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      for (; directive != source_.directives.end() && directive->begin < tokens_[i].begin;
           ++directive) {
        if (!parse_line_marker(text_, *directive, marker_)) visit_pragma(*directive, i);
      }
      visit(i);
    }
    return apply_edits();
  }

 private:
  std::string_view word(size_t i) const {
    return i < tokens_.size() ? text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  bool is_symbol(size_t i, char c) const {
    return i < tokens_.size() && tokens_[i].kind == CudaTokenKind::symbol &&
           text_[tokens_[i].begin] == c;
  }
  bool is_word(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == CudaTokenKind::word;
  }
  bool adjacent(size_t i) const { return tokens_[i].end == tokens_[i + 1].begin; }

  // `<<<` or `>>>`; the last character may stand apart (`<< <`), as some editors format it.
  bool is_triple(size_t i, char c) const {
    return is_symbol(i, c) && is_symbol(i + 1, c) && is_symbol(i + 2, c) && adjacent(i);
  }

  [[noreturn]] void refuse(size_t i, const std::string& message) const {
    throw CompileError(marker_.file + ":" +
                       std::to_string(line_of(text_, marker_, tokens_[i].begin)) +
                       ": error: " + message);
  }

  void visit(size_t i) {
    switch (tokens_[i].kind) {
      case CudaTokenKind::word:
        visit_word(i);
        return;
      case CudaTokenKind::symbol:
        visit_symbol(i);
        return;
      case CudaTokenKind::number:
      case CudaTokenKind::literal:
        return;
    }
  }

  // nvcc ignores an unroll pragma before something else than a loop, clang refuses it.
  void visit_pragma(const Directive& directive, size_t next) {
    const std::string_view pragma = text_.substr(directive.begin, directive.end - directive.begin);
    const size_t name = pragma.find("unroll");
    if (name == std::string_view::npos || !pragma.starts_with("#pragma ") || name > 12) return;
    const std::string_view w = word(next);
    if (w != "for" && w != "while" && w != "do")
      edits_.push_back({directive.begin, directive.end, ""});
  }

  void visit_word(size_t i) {
    const std::string_view w = word(i);
    if (w.starts_with("__wf_")) {
      visit_qualifier(i, w);
    } else if (w == "__noinline__") {
      // Not a macro of <host_defines.h>, because libstdc++ writes __attribute__((__noinline__)).
      if (i == 0 || !(is_symbol(i - 1, '(') || is_symbol(i - 1, ','))) {
        replace(i, "__attribute__((noinline))");
      }
    } else if (!marker_.system_header) {
      if (w == "asm" || w == "__asm__" || w == "__asm") refuse_assembly(i);
      if ((w == "texture" || w == "surface") && is_symbol(i + 1, '<') && statement_starts(i)) {
        refuse(i, std::string(w) +
                      " references are not supported on the CPU device; read through a pointer");
      }
    }
  }

  bool statement_starts(size_t i) const {
    return i == 0 || is_symbol(i - 1, ';') || is_symbol(i - 1, '}') || is_symbol(i - 1, '{') ||
           word(i - 1) == "static";
  }

  void visit_qualifier(size_t i, std::string_view w) {
    if (w == "__wf_shared__") {
      if (i > 0 && (is_symbol(i - 1, '(') || is_symbol(i - 1, ','))) return replace(i, "");
      rewrite_shared_declaration(i);
    } else if (w == "__wf_global__" || w == "__wf_device__") {
      pending_device_ = true;
      pending_depth_ = scopes_.size();
      replace(i, "");
    } else if (w == "__wf_host__") {
      pending_host_ = true;
      pending_depth_ = scopes_.size();
      replace(i, "");
    } else if (w == "__wf_cluster_dims__") {
      refuse(i, "thread block clusters are not supported on the CPU device");
    }
  }

  void refuse_assembly(size_t i) const {
    size_t open = i + 1;
    while (is_word(open)) ++open;  // volatile, goto
    if (!is_symbol(open, '(')) return;
    const std::string_view code = word(open + 1);
    if (code == "\"\"") return;  // a compiler barrier
    refuse(i, "inline PTX (" + std::string(code.substr(0, 60)) +
                  ") cannot run on the CPU device; give a C++ version under #ifdef WARPFUZZ_CPU");
  }

  void rewrite_shared_declaration(size_t i) {
    const bool at_namespace_scope =
        std::all_of(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.is_namespace; });
    SharedDeclaration shared = rewrite_shared(text_, source_, i, at_namespace_scope);
    if (!shared.error.empty()) refuse(i, shared.error);
    for (Edit& edit : shared.edits) {
      const bool declares = edit.replacement.find("dynamic_shared()") != std::string::npos;
      if (at_namespace_scope && declares) {
        // `extern` may be repeated, a definition may not.
        const std::string statement = edit.replacement.substr(0, edit.replacement.find('\n'));
        if (std::find(namespace_arenas_.begin(), namespace_arenas_.end(), statement) !=
            namespace_arenas_.end()) {
          edit.replacement = line_structure(text_, source_.directives, edit.begin, edit.end);
        } else {
          namespace_arenas_.push_back(statement);
        }
      }
      edits_.push_back(std::move(edit));
    }
  }

  void visit_symbol(size_t i) {
    const char c = text_[tokens_[i].begin];
    switch (c) {
      case '(':
      case '[':
        scopes_.push_back({c, false, false});
        return;
      case '{':
        open_brace(i);
        return;
      case ')':
      case ']':
      case '}':
        close_bracket(i);
        return;
      case ';':
        if (scopes_.size() <= pending_depth_) forget_qualifiers();
        return;
      case '<':
        if (i > 0 && is_triple(i, '<') && !is_symbol(i - 1, '<') && word(i - 1) != "operator") {
          rewrite_launch(i);
        }
        return;
      default:
        return;
    }
  }

  void open_brace(size_t i) {
    const bool body = scopes_.size() == pending_depth_ && pending_device_ && !pending_host_;
    scopes_.push_back({'{', opens_namespace(i), body});
  }

  // namespace a::b [[attributes]] {   extern "C" {   inline namespace {
  bool opens_namespace(size_t i) const {
    for (size_t back = i; back > 0 && i - back < 12;) {
      --back;
      if (word(back) == "namespace") return true;
      if (tokens_[back].kind == CudaTokenKind::literal)
        return back > 0 && word(back - 1) == "extern";
      if (is_word(back) || is_symbol(back, ':')) continue;
      return false;
    }
    return false;
  }

  void close_bracket(size_t i) {
    if (scopes_.empty()) return;
    const bool brace = scopes_.back().open == '{';
    scopes_.pop_back();
    if (scopes_.size() < pending_depth_) return forget_qualifiers();
    // A constructor's initialisers may have braces of their own: A() : a{1} { body }.
    const bool more = is_symbol(i + 1, '{') || is_symbol(i + 1, ',');
    if (brace && scopes_.size() == pending_depth_ && !more) forget_qualifiers();
  }

  void forget_qualifiers() {
    pending_device_ = false;
    pending_host_ = false;
    pending_depth_ = 0;
  }

  void rewrite_launch(size_t open) {
    const size_t first = launch_expression_begin(open);
    if (first == open) refuse(open, "no kernel before <<<");
    const size_t close = launch_configuration_end(open + 3);
    if (close == tokens_.size()) refuse(open, "<<< without >>> and arguments");
    const size_t arguments = close + 3;
    const size_t arguments_end = find_close(text_, tokens_, arguments);
    if (std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.is_device; })) {
      refuse(open, "a launch from device code (dynamic parallelism) is not supported");
    }
    std::string expression;
    for (size_t i = first; i < open; ++i) {
      if (i > first && tokens_[i - 1].end != tokens_[i].begin) expression += ' ';
      expression += word(i);
    }
    edits_.push_back(
        {tokens_[first].begin, tokens_[open + 2].end,
         line_structure(text_, source_.directives, tokens_[first].begin, tokens_[open].begin) +
             "::wf_simt::Config("});
    edits_.push_back({tokens_[close].begin, tokens_[close + 2].end,
                      ").kernel(" + quote(expression) + ", [&](auto&... wf_args) " +
                          std::string(kernel_call_attribute) + " { [[clang::noinline]] " +
                          expression + "(wf_args...); })"});
    for (size_t i = arguments + 1; i < arguments_end; ++i) {
      const bool alone = (is_symbol(i - 1, '(') || is_symbol(i - 1, ',')) &&
                         (is_symbol(i + 1, ')') || is_symbol(i + 1, ','));
      if (alone && word(i) == "__null") replace(i, "nullptr");
      if (is_symbol(i, '(') || is_symbol(i, '[') || is_symbol(i, '{')) {
        i = find_close(text_, tokens_, i);
      }
    }
  }

  // Index of the first token of the expression that ends before `open`: names with :: and template
  // arguments, members, calls, subscripts, or an expression in parentheses.
  size_t launch_expression_begin(size_t open) const {
    size_t begin = open;  // everything from here on belongs to the expression
    while (begin > 0) {
      size_t i = begin - 1;
      if (is_symbol(i, '>') && !(i > 0 && is_symbol(i - 1, '-') && adjacent(i - 1))) {
        i = open_of(i, '<', '>');
        if (i == 0 || !is_word(i - 1)) return open;
        begin = i;
        continue;
      }
      if (is_symbol(i, ')') || is_symbol(i, ']')) {
        begin = is_symbol(i, ')') ? open_of(i, '(', ')') : open_of(i, '[', ']');
        const bool called = begin > 0 && (is_symbol(begin - 1, ')') || is_symbol(begin - 1, ']') ||
                                          is_symbol(begin - 1, '>') || is_name(begin - 1));
        if (!called) return begin;
        continue;
      }
      if (!is_name(i)) return open;
      begin = i;
      if (begin > 0 && word(begin - 1) == "template") --begin;
      if (begin > 1 && is_symbol(begin - 1, ':') && is_symbol(begin - 2, ':')) {
        begin -= 2;
        if (begin == 0 || !(is_name(begin - 1) || is_symbol(begin - 1, '>'))) return begin;
        continue;
      }
      if (begin > 0 && is_symbol(begin - 1, '.')) {
        begin -= 1;
        continue;
      }
      if (begin > 1 && is_symbol(begin - 1, '>') && is_symbol(begin - 2, '-')) {
        begin -= 2;
        continue;
      }
      return begin;
    }
    return begin;
  }

  bool is_name(size_t i) const {
    const std::string_view w = word(i);
    return is_word(i) && w != "return" && w != "else" && w != "do" && w != "if" && w != "while" &&
           w != "for" && w != "switch" && w != "case" && w != "co_return";
  }

  // Index of the bracket that the one at `close` closes, 0 if there is none.
  size_t open_of(size_t close, char open, char closing) const {
    int depth = 0;
    for (size_t i = close + 1; i-- > 0;) {
      if (is_symbol(i, ')') && closing == '>') {
        i = open_of(i, '(', ')');
        continue;
      }
      if (is_symbol(i, closing)) ++depth;
      if (is_symbol(i, open) && --depth == 0) return i;
      if (closing == '>' && (is_symbol(i, ';') || is_symbol(i, '{'))) return 0;
    }
    return 0;
  }

  // Index of the `>>>` that ends a configuration, tokens_.size() if there is none. A `>>>` that
  // closes template arguments of the first configuration argument has no comma before it.
  size_t launch_configuration_end(size_t begin) const {
    bool comma = false;
    for (size_t i = begin; i < tokens_.size(); ++i) {
      if (is_symbol(i, ';')) break;
      if (is_symbol(i, ',')) comma = true;
      if (comma && is_triple(i, '>') && is_symbol(i + 3, '(')) return i;
      if (is_symbol(i, '(') || is_symbol(i, '[') || is_symbol(i, '{')) {
        i = find_close(text_, tokens_, i);
      }
    }
    return tokens_.size();
  }

  static std::string quote(std::string_view expression) {
    std::string quoted = "\"";
    for (const char c : expression) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + "\"";
  }

  void replace(size_t i, std::string_view replacement) {
    edits_.push_back({tokens_[i].begin, tokens_[i].end, std::string(replacement)});
  }

  std::string apply_edits() {
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::string result;
    result.reserve(text_.size() + 1024);
    size_t at = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < at) continue;  // inside a range that was replaced as a whole
      result += text_.substr(at, edit.begin - at);
      result += edit.replacement;
      at = edit.end;
    }
    result += text_.substr(at);
    return result;
  }

  std::string_view text_;
  CudaTokens source_;
  std::span<const CudaToken> tokens_;
  SourceMarker marker_{.file = "<source>"};
  std::vector<Scope> scopes_;
  std::vector<std::string> namespace_arenas_;
  std::vector<Edit> edits_;
  // Qualifiers of the declaration that is being read, and how many brackets are open around it.
  bool pending_device_ = false;
  bool pending_host_ = false;
  size_t pending_depth_ = 0;
};

}  // namespace

std::string rewrite_cuda(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

}  // namespace warpfuzz
