// Walks over expressions: direct children, and all names in them.
#pragma once

#include "compiler/syntax/Ast.h"

#include <vector>

namespace tbem::sema {

/// Calls `visit(child)` for every expression directly inside `expr`, in order of text.
template <class Visit>
void forEachChild(const ast::Expr& expr, Visit&& visit) {
  const auto maybe = [&](const ast::Expr* child) {
    if (child != nullptr) visit(*child);
  };
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
      maybe(ast::cast<ast::Binary>(expr).left);
      maybe(ast::cast<ast::Binary>(expr).right);
      break;
    case ast::NodeKind::IfExpr: {
      const auto& node = ast::cast<ast::IfExpr>(expr);
      maybe(node.condition);
      maybe(node.then);
      maybe(node.otherwise);
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
      maybe(node.low);
      maybe(node.high);
      maybe(node.step);
      break;
    }
    case ast::NodeKind::Pipe:
      maybe(ast::cast<ast::Pipe>(expr).input);
      maybe(ast::cast<ast::Pipe>(expr).target);
      break;
    case ast::NodeKind::Quantifier: {
      const auto& node = ast::cast<ast::Quantifier>(expr);
      for (const auto& variable : node.variables) maybe(variable.domain);
      maybe(node.body);
      break;
    }
    case ast::NodeKind::Skip: {
      const auto& node = ast::cast<ast::Skip>(expr);
      maybe(node.computed);
      maybe(node.condition);
      maybe(node.leaving);
      break;
    }
    case ast::NodeKind::Splice:
      maybe(ast::cast<ast::Splice>(expr).value);
      break;
    default:
      break;
  }
}

/// Calls `visit` for `expr` and every expression inside it, outer ones first. Loops, so depth is no matter.
template <class Visit>
void forEachInside(const ast::Expr& expr, Visit&& visit) {
  std::vector<const ast::Expr*> open{&expr};
  while (!open.empty()) {
    const ast::Expr& next = *open.back();
    open.pop_back();
    visit(next);
    const std::size_t mark = open.size();
    forEachChild(next, [&](const ast::Expr& child) { open.push_back(&child); });
    for (std::size_t i = mark, j = open.size(); i + 1 < j; ++i) std::swap(open[i], open[--j]);
  }
}

}  // namespace tbem::sema
