#include "compiler/graph/clauses/ClauseReader.h"

#include "compiler/diagnostics/tables/Graph.h"

#include <fmt/format.h>

namespace tbem::graph {

using sema::Value;

const ast::Expr* ClauseReader::single(const ast::Clause& clause, const char* wants) {
  if (clause.items.size() == 1 && clause.items[0].name.empty() && !clause.items[0].rest) return clause.items[0].value;
  fail(diag::design_clause_value, clause.range, clause.word.text, wants, clause.items.empty() ? "nothing" : text(clause.range));
  return nullptr;
}

std::optional<std::int64_t> ClauseReader::whole(const std::string& what, const ast::Expr& expr, std::int64_t least) {
  const Value given = value(expr);
  const auto number = numberOf(given);
  if (number && number->isInt() && number->num >= least) return number->num;
  if (!given.isPoison())
    fail(diag::design_clause_value, expr.range, what, fmt::format("a whole number from {}", least), text(expr));
  return std::nullopt;
}

std::optional<std::int64_t> ClauseReader::whole(const ast::Clause& clause, std::int64_t least) {
  const ast::Expr* expr = single(clause, "a whole number");
  return expr != nullptr ? whole(clause.word.text, *expr, least) : std::nullopt;
}

std::optional<double> ClauseReader::real(const std::string& what, const ast::Expr& expr, double least,
                                         std::optional<double> below) {
  const Value given = value(expr);
  const auto number = numberOf(given);
  if (number && number->toDouble() >= least && (!below || number->toDouble() < *below)) return number->toDouble();
  if (!given.isPoison())
    fail(diag::design_clause_value, expr.range, what, below ? "a number from 0 to below 1" : "a number from 0", text(expr));
  return std::nullopt;
}

std::optional<double> ClauseReader::countedSeconds(const std::string& what, const ast::Expr& expr) {
  const Value given = value(expr);
  const auto number = numberOf(given);
  if (number && compare(*number, {1, 20}) >= 0 && compare(*number, {3600}) <= 0) return number->toDouble();
  if (!given.isPoison()) fail(diag::design_clause_value, expr.range, what, "a number from 0.05 to 3600", text(expr));
  return std::nullopt;
}

}  // namespace tbem::graph
