// Opaque operators (`native opaque`): their shapes are known, and what they compute is not. In a graph they are calls of code
// that no library has.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/syntax/tree/Ast.h"

#include <algorithm>
#include <cstdint>

namespace tbem::graph {

inline bool isOpaque(const ast::Callable& decl) {
  const auto* word = decl.native != nullptr ? ast::dynCast<ast::NameRef>(decl.native->callee) : nullptr;
  return word != nullptr && word->name.text == "opaque" && decl.native->arguments.empty();
}
inline bool isOpaque(const OwnCode& own) { return own.library.empty() && !own.symbol.empty(); }

/// Operators whose FLOPs nobody knows: those of the graph are at least what is counted.
inline std::uint32_t unknownFlops(const Graph& graph) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(graph.ops, [](const Op& op) { return isOpaque(op.own) && op.flops.empty(); }));
}

}  // namespace tbem::graph
