#include "kernels/simt/rewrite.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/compile.h"
#include "kernels/simt/cuda_tokens.h"
#include "kernels/simt/shared_declaration.h"
#include "kernels/simt/token_queries.h"
#include "kernels/simt/token_view.h"

namespace warpfuzz {
namespace {

// WF_KERNEL_CALL of wf_simt.h, which is a macro and so already gone.
constexpr std::string_view kernel_call_attribute =
    R"(__attribute__((no_sanitize("address", "undefined", "thread", "coverage"))))";

// Of functions with device code, so that their shared variables have internal linkage too: those of
// templates would be COMDAT otherwise, and have no redzones. (On the variables themselves it would
// make all those of one name one variable.)
constexpr std::string_view internal_linkage = "__attribute__((internal_linkage))";

// Functions of the host API with a kernel among their arguments. Our overloads want it with its
// type, so a cast to void* is taken away.
constexpr std::string_view functions_of_kernels[] = {
    "cudaLaunchKernel",
    "cudaLaunchCooperativeKernel",
    "cudaFuncSetAttribute",
    "cudaFuncGetAttributes",
    "cudaFuncSetCacheConfig",
    "cudaFuncSetSharedMemConfig",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyMaxPotentialBlockSize",
    "cudaOccupancyMaxPotentialBlockSizeWithFlags",
    "cudaOccupancyMaxPotentialBlockSizeVariableSMem",
    "cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags"};

struct Scope {
  char open = '{';
  bool is_namespace = false;
  bool is_device = false;  // body of a function that is not also __host__
};

// The qualifiers of the declaration that is being read.
struct Pending {
  bool device = false;
  bool host = false;
  bool kernel = false;
  std::string launch_bound;  // the expression, empty if there is none
  size_t depth = 0;          // how many brackets are open around the declaration
};

class Rewriter : TokenView {
 public:
  explicit Rewriter(std::string_view text) : Rewriter(text, tokenize_cuda(text)) {}

  std::string run() {
    auto directive = source_.directives.begin();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      for (; directive != source_.directives.end() && directive->begin < tokens_[i].begin;
           ++directive) {
        if (!parse_line_marker(text_, *directive, marker_)) visit_pragma(*directive, i);
      }
      visit(i);
    }
    std::string result = apply_edits();
    if (enters_) {
      if (!result.ends_with('\n')) result += '\n';
      result += "extern \"C\" { extern const char wf_kernels_enter = 1; }";
    }
    return result;
  }

 private:
  Rewriter(std::string_view text, CudaTokens source)
      : TokenView(text, source.tokens),
        source_(std::move(source)),
        enters_(std::any_of(tokens_.begin(), tokens_.end(), [&](const CudaToken& token) {
          const std::string_view w = text.substr(token.begin, token.end - token.begin);
          return w == "__wf_shared__" || w == "__wf_launch_bounds__";
        })) {}

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
      if (((w == "texture" || w == "surface") && is_symbol(i + 1, '<') && statement_starts(i)) ||
          w == "cudaTextureObject_t" || w == "cudaSurfaceObject_t") {
        refuse(i, "textures and surfaces (" + std::string(w) +
                      ") are not supported on the CPU device; read through a pointer");
      }
      if (std::find(std::begin(functions_of_kernels), std::end(functions_of_kernels), w) !=
          std::end(functions_of_kernels)) {
        remove_casts_to_void(i + 1);
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
      pending_.device = true;
      pending_.kernel = pending_.kernel || w == "__wf_global__";
      pending_.depth = scopes_.size();
      replace(i, declares_function(*this, i) ? internal_linkage : "");
    } else if (w == "__wf_host__") {
      pending_.host = true;
      pending_.depth = scopes_.size();
      replace(i, "");
    } else if (w == "__wf_launch_bounds__") {
      read_launch_bounds(i);
    } else if (w == "__wf_cluster_dims__") {
      refuse(i, "thread block clusters are not supported on the CPU device");
    }
  }

  // __wf_launch_bounds__(most threads per block, ...)
  void read_launch_bounds(size_t i) {
    const size_t close = close_of(i + 1);
    if (!is_symbol(i + 1, '(') || close == tokens_.size()) return;
    size_t end = i + 2;
    for (int angles = 0; end < close && (angles > 0 || !is_symbol(end, ',')); ++end) {
      if (is_symbol(end, '(')) end = close_of(end);
      angles += is_symbol(end, '<') ? 1 : is_symbol(end, '>') ? -1 : 0;
    }
    const size_t first = tokens_[i + 1].end;
    pending_.launch_bound = std::string(text_.substr(first, tokens_[end].begin - first));
    pending_.depth = scopes_.size();
    const size_t last = tokens_[close].end;
    edits_.push_back({tokens_[i].begin, last,
                      line_structure(text_, source_.directives, tokens_[i].begin, last)});
  }

  // Of the arguments in the parentheses at `open`.
  void remove_casts_to_void(size_t open) {
    if (!is_symbol(open, '(')) return;
    const size_t close = close_of(open);
    for (size_t i = open; i < close; ++i) {
      if (!is_symbol(i, '(') && !is_symbol(i, ',')) continue;
      const bool named = word(i + 1) == "reinterpret_cast";
      size_t at = i + 1 + (named ? 1 : 0);
      if (!is_symbol(at, named ? '<' : '(')) continue;
      ++at;
      if (word(at) == "const") ++at;
      if (word(at) != "void" || !is_symbol(at + 1, '*') || !is_symbol(at + 2, named ? '>' : ')')) {
        continue;
      }
      edits_.push_back({tokens_[i + 1].begin, tokens_[at + 2].end, ""});
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
        if (scopes_.size() <= pending_.depth) pending_ = {};
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
    const bool declared = scopes_.size() == pending_.depth;
    if (declared && pending_.kernel && enters_) enter_kernel(i);
    scopes_.push_back({'{', opens_namespace(i), declared && pending_.device && !pending_.host});
  }

  // The first statements of a kernel's body. On its first line, so that no line moves.
  void enter_kernel(size_t brace) {
    const std::string bound = pending_.launch_bound.empty() ? "0" : pending_.launch_bound;
    const size_t at = tokens_[brace].end;
    edits_.push_back({at, at,
                      "static __attribute__((used, no_sanitize(\"address\"))) "
                      "const ::wf_simt::KernelRecord wf_kernel_record{__PRETTY_FUNCTION__, (" +
                          bound + ")}; ::wf_simt::enter(wf_kernel_record);"});
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
    if (scopes_.size() < pending_.depth) {
      pending_ = {};
      return;
    }
    // A constructor's initialisers may have braces of their own: A() : a{1} { body }.
    const bool more = is_symbol(i + 1, '{') || is_symbol(i + 1, ',');
    if (brace && scopes_.size() == pending_.depth && !more) pending_ = {};
  }

  void rewrite_launch(size_t open) {
    const size_t first = launch_expression_begin(*this, open);
    if (first == open) refuse(open, "no kernel before <<<");
    const size_t close = launch_configuration_end(open + 3);
    if (close == tokens_.size()) refuse(open, "<<< without >>> and arguments");
    const size_t arguments = close + 3;
    const size_t arguments_end = close_of(arguments);
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
        i = close_of(i);
      }
    }
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
        i = close_of(i);
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

  CudaTokens source_;  // what tokens_ points into
  bool enters_;        // kernels tell the runtime of themselves
  SourceMarker marker_{.file = "<source>"};
  std::vector<Scope> scopes_;
  std::vector<std::string> namespace_arenas_;
  std::vector<Edit> edits_;
  Pending pending_;
};

}  // namespace

std::string rewrite_cuda(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

}  // namespace warpfuzz
