// The graphs of a search for slow inputs (SearchSpec): the network at inference with every gate's margin, an objective of these,
// the next points. Internal to compiler/graph.
#pragma once

#include "compiler/graph/read/ExperimentInputs.h"

#include <vector>

namespace tbem::graph {

/// The network that is looked at, with its parameters, in a row.
struct SearchedNetwork {
  const Value& callee;
  std::vector<Local> parameters;
  RowFactors row;
};

/// Task::Move or Task::Learn of a spec with a search. False after a report.
bool buildSearch(Elaborator& e, const ExperimentSpec& spec, SearchedNetwork network);

}  // namespace tbem::graph
