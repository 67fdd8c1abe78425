#include "kernels/simt/token_queries.h"

namespace warpfuzz {
namespace {

bool is_name(const TokenView& tokens, size_t i) {
  const std::string_view w = tokens.word(i);
  return tokens.is_word(i) && w != "return" && w != "else" && w != "do" && w != "if" &&
         w != "while" && w != "for" && w != "switch" && w != "case" && w != "co_return";
}

// Index of the bracket that the one at `close` closes, 0 if there is none.
size_t open_of(const TokenView& tokens, size_t close, char open, char closing) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (tokens.is_symbol(i, ')') && closing == '>') {
      i = open_of(tokens, i, '(', ')');
      continue;
    }
    if (tokens.is_symbol(i, closing)) ++depth;
    if (tokens.is_symbol(i, open) && --depth == 0) return i;
    if (closing == '>' && (tokens.is_symbol(i, ';') || tokens.is_symbol(i, '{'))) return 0;
  }
  return 0;
}

}  // namespace

size_t launch_expression_begin(const TokenView& tokens, size_t open) {
  size_t begin = open;  // everything from here on belongs to the expression
  while (begin > 0) {
    size_t i = begin - 1;
    if (tokens.is_symbol(i, '>') &&
        !(i > 0 && tokens.is_symbol(i - 1, '-') && tokens.adjacent(i - 1))) {
      i = open_of(tokens, i, '<', '>');
      if (i == 0 || !tokens.is_word(i - 1)) return open;
      begin = i;
      continue;
    }
    if (tokens.is_symbol(i, ')') || tokens.is_symbol(i, ']')) {
      begin =
          tokens.is_symbol(i, ')') ? open_of(tokens, i, '(', ')') : open_of(tokens, i, '[', ']');
      const bool called =
          begin > 0 && (tokens.is_symbol(begin - 1, ')') || tokens.is_symbol(begin - 1, ']') ||
                        tokens.is_symbol(begin - 1, '>') || is_name(tokens, begin - 1));
      if (!called) return begin;
      continue;
    }
    if (!is_name(tokens, i)) return open;
    begin = i;
    if (begin > 0 && tokens.word(begin - 1) == "template") --begin;
    if (begin > 1 && tokens.is_symbol(begin - 1, ':') && tokens.is_symbol(begin - 2, ':')) {
      begin -= 2;
      if (begin == 0 || !(is_name(tokens, begin - 1) || tokens.is_symbol(begin - 1, '>')))
        return begin;
      continue;
    }
    if (begin > 0 && tokens.is_symbol(begin - 1, '.')) {
      begin -= 1;
      continue;
    }
    if (begin > 1 && tokens.is_symbol(begin - 1, '>') && tokens.is_symbol(begin - 2, '-')) {
      begin -= 2;
      continue;
    }
    return begin;
  }
  return begin;
}

size_t end_of_template_arguments(const TokenView& tokens, size_t open) {
  int depth = 0;
  int brackets = 0;
  for (size_t i = open; !tokens.word(i).empty(); ++i) {
    if (tokens.is_symbol(i, ';') || tokens.is_symbol(i, '{')) break;
    if (tokens.is_symbol(i, '(') || tokens.is_symbol(i, '[')) ++brackets;
    if (tokens.is_symbol(i, ')') || tokens.is_symbol(i, ']')) --brackets;
    if (brackets < 0) break;
    if (brackets == 0 && tokens.is_symbol(i, '<')) ++depth;
    if (brackets == 0 && tokens.is_symbol(i, '>') && --depth == 0) return i;
  }
  return open;
}

bool declares_function(const TokenView& tokens, size_t qualifier) {
  size_t before = qualifier;
  while (before > 0 && tokens.word(before - 1).starts_with("__wf_")) --before;
  if (before > 0 && tokens.is_symbol(before - 1, ']') && !tokens.is_symbol(before - 2, ']'))
    return false;
  for (size_t i = qualifier + 1; !tokens.word(i).empty(); ++i) {
    const std::string_view w = tokens.word(i);
    if (w == "operator") return true;
    if (w == "__attribute__" || w == "alignas" || w == "decltype" || w.starts_with("__wf_")) {
      if (tokens.is_symbol(i + 1, '(')) i = tokens.close_of(i + 1);
    } else if (tokens.is_symbol(i, '[') && tokens.is_symbol(i + 1, '[')) {
      i = tokens.close_of(i);
    } else if (tokens.is_symbol(i, '<')) {
      i = end_of_template_arguments(tokens, i);
    } else if (tokens.is_symbol(i, '(')) {
      return true;
    } else if (tokens.is_symbol(i, ';') || tokens.is_symbol(i, '=') || tokens.is_symbol(i, '[') ||
               tokens.is_symbol(i, '{') || tokens.is_symbol(i, ',') || tokens.is_symbol(i, ')')) {
      return false;
    }
  }
  return false;
}

}  // namespace warpfuzz
