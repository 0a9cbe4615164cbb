// Clauses `freeze` and `optimizer .. on ..` of a design or a training. Internal to compiler/graph.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/pass/ParameterGroups.h"

#include <optional>
#include <vector>

namespace tbem::graph {

/// `freeze encoder, "*.bias"`. Reports what names no weights.
void readFreeze(ClauseReader& reader, const ast::Clause& clause, ParameterGroups& into);
/// `optimizer adam(lr: 0.001) on head`, or `on [head, "*.bias"]`. Reports else.
void readGroup(ClauseReader& reader, const ast::Clause& clause, ParameterGroups& into);

/// What `word` names: one place, or a list of them. Reports else.
void readPlaces(ClauseReader& reader, const char* word, const ast::Expr& expr, std::vector<WeightPlace>& into);

/// The `lr` of an optimiser, its default where it is given none; nothing: it has none, or it is no number.
std::optional<Rational> rateOf(ClauseReader& reader, const sema::Value& optimizer);

}  // namespace tbem::graph
