// How a training treats its network's gates: clauses `gates` and `exits`. Internal to compiler/graph.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/elaborate/Elaborate.h"

namespace tbem::graph {

constexpr const char* kGateModes = "`straight_through`, `soft`, `gumbel(temperature: 0.5)` or `reinforce(reward: r())`";
/// One of these. Reports else.
void readGateMode(ClauseReader& reader, const ast::Expr& expr, GateTraining& into);
/// The weights of the exits' losses: a list of numbers, none of them negative and not all of them zero. Reports else.
void readExitWeights(ClauseReader& reader, const ast::Expr& expr, GateTraining& into);

}  // namespace tbem::graph
