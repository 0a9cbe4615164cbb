// The parameters of a call while its arguments are written.
#pragma once

#include "compiler/serve/Reading.h"
#include "compiler/serve/costs/CallCosts.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tbem::serve {

struct SignatureHelp {
  std::string text;                   ///< "conv2d(x: tensor[n, c, h, w]; out: int, kernel: pair) -> tensor[n, out, ..]"
  std::string documentation;          ///< Markdown; "" where there is none
  std::vector<Piece> parameters;      ///< in `text`: tensors first
  std::optional<std::size_t> active;  ///< of `parameters`: the one that is written; nothing: there is none left
};

/// Of the innermost call in whose parentheses this byte of the program's own file lies, if a declaration is called there. The
/// text need not be right. Whether an argument by position is a tensor is not known: one that begins as a number, a list, a
/// string or a truth value is taken for none.
std::optional<SignatureHelp> signatureAt(const Reading& reading, std::size_t place);

}  // namespace tbem::serve
