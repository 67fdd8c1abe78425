// What tokens around a given one belong to: the kernel of a launch, template arguments, the
// declaration of a qualifier.
#pragma once

#include "kernels/simt/token_view.h"

namespace warpfuzz {

// Index of the first token of the expression that ends before the token `open`: names with :: and
// template arguments, members, calls, subscripts, or an expression in parentheses. `open` itself if
// no expression ends there.
size_t launch_expression_begin(const TokenView& tokens, size_t open);

// Index of the `>` that closes the `<` at `open`; `open` if it closes nothing.
size_t end_of_template_arguments(const TokenView& tokens, size_t open);

// Whether the declaration that the qualifier at `qualifier` belongs to is one of a function, not of
// a variable or a lambda. (Of a variable with a constructor's arguments too, which does no harm.)
bool declares_function(const TokenView& tokens, size_t qualifier);

}  // namespace warpfuzz
