// Values of expressions at every combination of the levels of finitely many symbols.
//
// Each expression is computed once over the symbols on which it depends (its cone), not over all of them, and is forgotten when
// its last user is made. Expressions that intervals decide are not tabulated at all.
#pragma once

#include "compiler/sema/Symbolic.h"
#include "compiler/spec/size/Domain.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tbem::spec {

using sema::ExprId;

/// Values over the levels of `cone`, the last symbol running fastest.
struct Column {
  std::vector<std::uint32_t> cone;      ///< symbols, ascending
  std::vector<std::int64_t> whole;      ///< where all are whole numbers
  std::vector<Rational> values;         ///< else these,
  std::vector<sema::EvalError> errors;  ///< and why there is none
  bool isWhole() const { return values.empty(); }
  std::size_t size() const { return isWhole() ? whole.size() : values.size(); }
  bool hasValue(std::size_t i) const { return isWhole() || errors[i] == sema::EvalError::None; }
  Rational at(std::size_t i) const { return isWhole() ? Rational::of(whole[i]) : values[i]; }
};

class Tabulation {
public:
  /// `levels` by symbol, none empty. Columns longer than `limit` are not made.
  Tabulation(const sema::ExprPool& pool, std::vector<std::vector<Rational>> levels, std::size_t limit = std::size_t{1} << 22);

  /// What intervals alone say of an expression; of a truth value 0 and 1 are its ends.
  Interval hull(ExprId expr);
  /// Calls `visit(root, column)` for each of the roots, each once; column is null where it is too long.
  void run(const std::vector<ExprId>& roots, const std::function<void(ExprId, const Column*)>& visit);
  /// The levels that entry `i` of the column stands for, by symbol of its cone.
  std::vector<std::uint32_t> levelsAt(const Column& column, std::size_t i) const;

private:
  Interval makeHull(const sema::ExprNode& node) const;
  Interval hullOfSymbol(sema::SymbolId symbol) const;
  Interval hullOfTruth(const sema::ExprNode& node) const;
  Column make(ExprId expr);
  Column ofSymbol(std::uint32_t symbol) const;
  Column combine(ExprId expr, const Column& a, const Column* b, const Column* c);

  const sema::ExprPool& pool;
  std::vector<std::vector<Rational>> levels;
  std::size_t limit;
  std::vector<Interval> hulls;  ///< by expression, as far as computed
  std::vector<Column> columns;  ///< by expression; empty before and after its use
};

}  // namespace tbem::spec
