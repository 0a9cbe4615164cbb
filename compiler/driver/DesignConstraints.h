// The `where` clauses of a design as forbidden combinations of levels, and what they imply.
#pragma once

#include "compiler/design/Constraints.h"
#include "compiler/driver/Workspace.h"
#include "compiler/graph/Where.h"

#include <optional>
#include <vector>

namespace tbem::driver {

/// The conditions of a design, each with the combinations that it forbids by itself.
struct DesignConstraints {
  std::vector<graph::RowCondition> conditions;
  std::vector<design::Constraints> parts;  ///< by condition; behind them, what nested factors forbid
  design::Constraints all;                 ///< together, simplified
};

/// Tries every combination of the levels that a condition names, for each condition. Then drops levels that no row can have from
/// the factors of `spec`, with a warning. Nothing after an error: no row is left, a factor that had several levels keeps one, a
/// condition names too many levels or is too hard. For `full` such a condition counts as forbidding nothing.
std::optional<DesignConstraints> readConstraints(Workspace& workspace, graph::DesignSpec& spec);

}  // namespace tbem::driver
