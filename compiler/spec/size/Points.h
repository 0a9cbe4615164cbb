// Expressions at points: what a point costs does not grow with the pool from which they come.
#pragma once

#include "compiler/sema/Symbolic.h"

#include <optional>
#include <span>
#include <vector>

namespace tbem::spec {

using sema::ExprId;
using sema::SymbolId;

/// A value for each symbol, by SymbolId; nothing: not looked at.
using Point = std::vector<std::optional<Rational>>;

class Points {
public:
  /// Copies the expressions; `from` may grow and end afterwards.
  Points(const sema::ExprPool& from, std::span<const ExprId> roots);
  void at(std::span<const std::optional<Rational>> point);

  // Of root i at the last point:
  sema::EvalError errorOf(std::size_t i) const { return values.errorOf(roots[i]); }
  const Rational& operator[](std::size_t i) const { return values[roots[i]]; }
  /// Whether it has a value, and that is true.
  bool holds(std::size_t i) const { return errorOf(i) == sema::EvalError::None && (*this)[i].num != 0; }
  std::size_t size() const { return roots.size(); }
  /// Expressions that a point evaluates.
  std::size_t nodes() const { return pool.size(); }

private:
  sema::ExprPool pool;
  sema::Values values;
  std::vector<ExprId> roots;
};

}  // namespace tbem::spec
