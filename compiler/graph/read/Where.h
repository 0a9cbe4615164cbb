// The conditions that a design's rows meet.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::graph {

/// What stands between the outermost `and`s of a `where`: every row meets it.
struct RowCondition {
  const ast::Expr* expr = nullptr;
  std::vector<std::uint32_t> factors;  ///< that it names, ascending
};

/// In order of text.
std::vector<RowCondition> rowConditions(const DesignSpec& spec);

/// What is asked of a process with these inputs: whether its `pre` holds and some outputs meet its `post`. Nothing: not known.
using OutputsExist = std::function<std::optional<bool>(const ast::Process& process, const sema::Module& module,
                                                       const std::vector<std::pair<std::string, sema::Value>>& inputs)>;

/// Whether a condition holds among these levels, one a factor; of factors that it does not name they do not matter. A row in
/// which a factor that it names does not exist meets it. Nothing where it could not be evaluated (reported).
std::optional<bool> holds(Session& session, const sema::Program& program, const DesignSpec& spec, const RowCondition& condition,
                          std::span<const std::uint32_t> levels, const OutputsExist& outputsExist);

}  // namespace tbem::graph
