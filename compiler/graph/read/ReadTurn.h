// Clause `turn` of a training. Internal to this folder.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/read/Training.h"

#include <optional>

namespace tbem::graph {

/// `turn discriminator, loss: told_apart, optimizer: adam(lr: 0.0002), repeat: 1`. Nothing after a report.
std::optional<TurnSpec> readTurn(ClauseReader& reader, const ast::Clause& clause);

}  // namespace tbem::graph
