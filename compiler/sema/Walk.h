// Walks over expressions: direct children, and all names in them.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tbem::sema {

/// Calls `visit(child)` for every expression directly inside `expr`, in order of text.
template <class Visit>
void forEachChild(const ast::Expr& expr, Visit&& visit) {
  const auto maybe = [&](auto... children) { (static_cast<void>(children != nullptr && (visit(*children), true)), ...); };
  const auto all = [&](const std::vector<const ast::Expr*>& children) {
    for (const ast::Expr* child : children) maybe(child);
  };
  switch (expr.kind) {
    case ast::NodeKind::Member:
      maybe(ast::cast<ast::Member>(expr).object);
      break;
    case ast::NodeKind::Index:
      maybe(ast::cast<ast::Index>(expr).object);
      all(ast::cast<ast::Index>(expr).items);
      break;
    case ast::NodeKind::Call:
      maybe(ast::cast<ast::Call>(expr).callee);
      for (const ast::Argument& argument : ast::cast<ast::Call>(expr).arguments) maybe(argument.value);
      break;
    case ast::NodeKind::Unary:
      maybe(ast::cast<ast::Unary>(expr).operand);
      break;
    case ast::NodeKind::Binary:
      maybe(ast::cast<ast::Binary>(expr).left, ast::cast<ast::Binary>(expr).right);
      break;
    case ast::NodeKind::IfExpr: {
      const auto& node = ast::cast<ast::IfExpr>(expr);
      maybe(node.condition, node.then, node.otherwise);
      break;
    }
    case ast::NodeKind::List:
      all(ast::cast<ast::List>(expr).items);
      break;
    case ast::NodeKind::Tuple:
      all(ast::cast<ast::Tuple>(expr).items);
      break;
    case ast::NodeKind::Set:
      all(ast::cast<ast::Set>(expr).items);
      break;
    case ast::NodeKind::Record:
      for (const auto& field : ast::cast<ast::Record>(expr).fields) maybe(field.value);
      break;
    case ast::NodeKind::Comprehension: {
      const auto& node = ast::cast<ast::Comprehension>(expr);
      for (const auto& generator : node.generators) maybe(generator.domain);
      maybe(node.element);
      break;
    }
    case ast::NodeKind::Range: {
      const auto& node = ast::cast<ast::Range>(expr);
      maybe(node.low, node.high, node.step);
      break;
    }
    case ast::NodeKind::Pipe:
      maybe(ast::cast<ast::Pipe>(expr).input, ast::cast<ast::Pipe>(expr).target);
      break;
    case ast::NodeKind::Quantifier: {
      const auto& node = ast::cast<ast::Quantifier>(expr);
      for (const auto& variable : node.variables) maybe(variable.domain);
      maybe(node.body);
      break;
    }
    case ast::NodeKind::Skip: {
      const auto& node = ast::cast<ast::Skip>(expr);
      maybe(node.computed, node.condition, node.leaving);
      break;
    }
    case ast::NodeKind::Splice:
      maybe(ast::cast<ast::Splice>(expr).value);
      break;
    default:
      break;
  }
}

/// Whether `test` holds for `expr` or an expression inside it; outer ones are asked first, and none behind the first that it
/// holds for. Loops, so depth is no matter.
template <class Test>
bool anyInside(const ast::Expr& expr, Test&& test) {
  constexpr std::size_t kUsual = 16;
  std::vector<const ast::Expr*> open;
  for (const ast::Expr* next = &expr;; open.pop_back()) {
    if (test(*next)) return true;
    const std::size_t mark = open.size();
    forEachChild(*next, [&](const ast::Expr& child) {
      if (open.empty()) open.reserve(kUsual);
      open.push_back(&child);
    });
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(mark), open.end());
    if (open.empty()) return false;
    next = open.back();
  }
}

/// Calls `visit` for `expr` and every expression inside it, outer ones first.
template <class Visit>
void forEachInside(const ast::Expr& expr, Visit&& visit) {
  anyInside(expr, [&](const ast::Expr& inner) {
    visit(inner);
    return false;
  });
}

/// Whether an expression names a result of the declaration, or a dimension that only its results have.
inline bool namesResults(const ast::Callable& decl, const ast::Expr& expr) {
  std::vector<std::string_view> before, results;
  const auto dims = [](const ast::Type* type, std::vector<std::string_view>& out) {
    if (const auto* list = ast::dynCast<ast::ListType>(type)) type = list->element;
    const auto* tensor = ast::dynCast<ast::TensorType>(type);
    for (const ast::Expr* dim : tensor != nullptr ? tensor->dims : std::vector<const ast::Expr*>{}) {
      const auto* splice = ast::dynCast<ast::Splice>(dim);
      const auto* name = ast::dynCast<ast::NameRef>(splice != nullptr ? splice->value : dim);
      if (name != nullptr) out.push_back(name->name.text);
    }
  };
  for (const auto* list : {&decl.parameters, &decl.tensors})
    for (const ast::Parameter& one : *list) before.push_back(one.name.text);
  for (const ast::Parameter& one : decl.tensors) dims(one.type, before);
  for (const ast::Result& one : decl.results) {
    results.push_back(one.name.empty() ? std::string_view("result") : std::string_view(one.name.text));
    dims(one.type, results);
  }
  const auto has = [](const std::vector<std::string_view>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  bool found = false;
  forEachInside(expr, [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    found = found || (name != nullptr && has(results, name->name.text) && !has(before, name->name.text));
  });
  return found;
}

}  // namespace tbem::sema
