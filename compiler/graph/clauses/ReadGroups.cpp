#include "compiler/graph/clauses/ReadGroups.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/clauses/Places.h"

#include <algorithm>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

/// One place that a clause `word` names.
void readPlace(ClauseReader& reader, const char* word, const ast::Expr& expr, std::vector<WeightPlace>& into) {
  if (const auto* pattern = ast::dynCast<ast::String>(&expr)) {
    into.push_back({pattern->value, true, expr.range});
  } else if (std::optional<std::string> place = placeText(reader.session, expr)) {
    into.push_back({std::move(*place), false, expr.range});
  } else {
    reader.fail(diag::design_clause_value, expr.range, word, "places such as `stage[0].residual`, or patterns such as \"*.bias\"",
                "`" + reader.text(expr) + "`");
  }
}

}  // namespace

void readPlaces(ClauseReader& reader, const char* word, const ast::Expr& expr, std::vector<WeightPlace>& into) {
  const auto* list = ast::dynCast<ast::List>(&expr);
  if (list == nullptr) return readPlace(reader, word, expr, into);
  for (const ast::Expr* place : list->items) readPlace(reader, word, *place, into);
  if (list->items.empty()) reader.fail(diag::design_clause_value, list->range, word, "names of weights", "an empty list");
}

void readFreeze(ClauseReader& reader, const ast::Clause& clause, ParameterGroups& into) {
  if (clause.items.empty())
    reader.fail(diag::design_clause_value, clause.range, "freeze", "the weights that stay as they are", "nothing");
  for (const ast::Argument& item : clause.items) {
    if (item.name.empty() && !item.rest && item.value != nullptr)
      readPlaces(reader, "freeze", *item.value, into.frozen);
    else
      reader.fail(diag::design_clause_value, item.range, "freeze", "places", "`" + reader.text(item.range) + "`");
  }
}

void readGroup(ClauseReader& reader, const ast::Clause& clause, ParameterGroups& into) {
  const ast::Expr* const optimizer = reader.single(clause, "an optimiser");
  if (optimizer == nullptr) return;
  ParameterGroup group;
  group.optimizer = optimizer;
  group.text = reader.text(*optimizer);
  readPlaces(reader, "on", *clause.on, group.places);
  into.groups.push_back(std::move(group));
}

std::optional<Rational> rateOf(ClauseReader& reader, const Value& optimizer) {
  const auto* callable = optimizer.is(ValueKind::Declaration) || optimizer.is(ValueKind::Partial)
                             ? ast::dynCast<ast::Callable>(optimizer.decl)
                             : nullptr;
  if (callable == nullptr) return std::nullopt;  // elaboration says what is wrong
  const auto given = std::find(optimizer.words.begin(), optimizer.words.end(), "lr");
  if (given != optimizer.words.end())
    return reader.numberOf(optimizer.items[static_cast<std::size_t>(given - optimizer.words.begin())]);
  for (const ast::Parameter& parameter : callable->parameters) {
    if (parameter.name.text == "lr" && parameter.defaultValue != nullptr)
      return reader.numberOf(reader.evaluateIn(*optimizer.module, *parameter.defaultValue, {}));
  }
  return std::nullopt;
}

}  // namespace tbem::graph
