// Operators whose result is their operand's elements where they lie: `native view`, and `native detached`, through which no
// gradient passes.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <string_view>

namespace tbem::graph {

namespace detail {
inline bool isNative(const ast::Callable& decl, std::string_view word) {
  const auto* name = decl.native != nullptr ? ast::dynCast<ast::NameRef>(decl.native->callee) : nullptr;
  return name != nullptr && name->name.text == word;
}
}  // namespace detail

inline bool isView(const ast::Callable& decl) { return detail::isNative(decl, "view") || detail::isNative(decl, "detached"); }
/// Whether it is a number to all that come before it. One that declares a gradient has that.
inline bool stopsGradient(const ast::Callable& decl) { return detail::isNative(decl, "detached") && decl.backward.empty(); }

}  // namespace tbem::graph
