// Places of a network that clauses name: blocks that are computed again, weights that stay. Internal to compiler/graph.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/graph/ir/Graph.h"
#include "compiler/graph/pass/Checkpoint.h"
#include "compiler/graph/pass/ParameterGroups.h"

#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

/// The path that an expression is, without blanks: names, indices that are numbers, members. Nothing: it is none.
std::optional<std::string> placeText(const Session& session, const ast::Expr& expr);

/// Whether the step has the blocks that its clause `checkpoint` names; reports one that it has not.
bool placesAreThere(DiagnosticSink& sink, const Graph& graph, const CheckpointSpec& spec);

/// By weight: what moves it. Nothing after a report: a place names no weight, or two groups have one.
std::optional<std::vector<std::uint32_t>> groupOfEach(DiagnosticSink& sink, const Graph& graph, const ParameterGroups& groups);

}  // namespace tbem::graph
