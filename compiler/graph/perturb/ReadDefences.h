// Clauses `detect` and `squeeze` of a perturbation. Internal to compiler/graph.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/perturb/Defences.h"

#include <optional>
#include <vector>

namespace tbem::graph {

/// `detect`, `detect svm(folds: 5, cost: 1, examples: 2000)`. Nothing after a report.
std::optional<DetectSpec> readDetect(ClauseReader& reader, const ast::Clause& clause);

/// `squeeze bits(4), median(2)`; what has errors is left out.
std::vector<SqueezeSpec> readSqueeze(ClauseReader& reader, const ast::Clause& clause);

}  // namespace tbem::graph
