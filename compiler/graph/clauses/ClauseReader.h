// Evaluates what the clauses of a declaration say, one evaluator for all of them. Internal to compiler/graph.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

class ClauseReader : public sema::Evaluator {
public:
  ClauseReader(Session& session, const sema::Program& program, const sema::Module& module, sema::ExprPool& pool)
      : Evaluator(program, pool, session.sink), session(session), module(module) {}

  sema::Value value(const ast::Expr& expr) { return evaluateIn(module, expr, names); }
  std::string text(SrcRange range) const { return std::string(session.sources.text(range)); }
  std::string text(const ast::Expr& expr) const { return text(expr.range); }
  std::optional<Rational> numberOf(const sema::Value& value) const {
    return value.is(sema::ValueKind::Number) ? pool.constantValue(value.expr) : std::nullopt;
  }

  /// The one value of a clause; null after a report.
  const ast::Expr* single(const ast::Clause& clause, const char* wants);
  /// A whole number of at least so much; nothing after a report. `what`: the clause, for that.
  std::optional<std::int64_t> whole(const std::string& what, const ast::Expr& expr, std::int64_t least);
  std::optional<std::int64_t> whole(const ast::Clause& clause, std::int64_t least);
  /// A number with `least <= x` and, where `below` is given, `x < below`; nothing after a report.
  std::optional<double> real(const std::string& what, const ast::Expr& expr, double least, std::optional<double> below);
  /// How many seconds runs are to last of which energy is counted: 0.05 at least, fifty ticks of RAPL's counters, and an hour at
  /// most; nothing after a report.
  std::optional<double> countedSeconds(const std::string& what, const ast::Expr& expr);

  Session& session;
  const sema::Module& module;
  std::vector<sema::Local> names;  ///< that expressions may take beside those of the program: factors with their levels in a row
  using Evaluator::bind;
  using Evaluator::elements;
  using Evaluator::equal;
  using Evaluator::fail;
  using Evaluator::forceBool;
  using Evaluator::frame;
  using Evaluator::pool;
  using Evaluator::program;
  using Evaluator::sink;
};

}  // namespace tbem::graph
