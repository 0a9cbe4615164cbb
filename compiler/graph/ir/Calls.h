// What a forward pass was written as: the calls of declarations behind its operators, and the turns of loops in between. For
// those who write a network again in another language; the graph alone has lost what a call was, such as a normalisation.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/sema/Value.h"
#include "compiler/syntax/tree/Ast.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tbem::graph {

constexpr std::uint32_t kNoCall = 0xFFFFFFFFU;

/// An application of an operator, block or network to tensors, or a turn of a loop. Calls lie in the order in which they begin,
/// so that those inside of one follow it.
struct Call {
  const ast::Callable* decl = nullptr;  ///< nullptr: a turn
  bool isStandard = false;              ///< `decl` is the standard library's
  std::string path;                     ///< of the application: its weights lie at path + "." + name; of the turn: "stage[0]"
  std::vector<std::pair<std::string, sema::Value>> parameters;
  std::vector<sema::Value> tensors;  ///< as declared: Tensor, a List of them, None where one is absent
  sema::Value result;                ///< Tensor, or a List or Tuple of them
  std::uint32_t parent = kNoCall;    ///< the call or turn that it stands in
  std::uint32_t first = 0, end = 0;  ///< operators [first, end) of the graph were made in it
  SrcRange use;                      ///< the call itself
};

}  // namespace tbem::graph
