// What a training reads. Internal to compiler/graph.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/read/Training.h"

namespace tbem::graph {

/// `fashion.train`, `fashion.test(count: 1000)`: a split of a dataset of the program. What is wrong is reported.
void readDataset(ClauseReader& e, const ast::Expr& expr, DataSpec& data);

}  // namespace tbem::graph
