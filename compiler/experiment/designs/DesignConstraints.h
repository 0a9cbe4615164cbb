// The `where` clauses of a design as forbidden combinations of levels, and what they imply.
#pragma once

#include "compiler/design/rows/Constraints.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/graph/read/Where.h"
#include "compiler/spec/prove/AtInputs.h"

#include <optional>
#include <span>
#include <vector>

namespace tbem::driver {

/// Whether conditions hold at levels: processes among them are proved of those values.
class ConditionsAtLevels {
public:
  /// Both are to outlive this.
  ConditionsAtLevels(Workspace& workspace, const graph::DesignSpec& spec);
  ConditionsAtLevels(const ConditionsAtLevels&) = delete;
  ConditionsAtLevels& operator=(const ConditionsAtLevels&) = delete;
  /// As graph::holds.
  std::optional<bool> holds(const graph::RowCondition& condition, std::span<const std::uint32_t> levels) const;

private:
  Workspace& workspace;
  const graph::DesignSpec& spec;
  mutable spec::ProcessesAtInputs processes;
  graph::OutputsExist outputsExist;
};

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
