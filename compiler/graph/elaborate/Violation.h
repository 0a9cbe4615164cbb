// A condition that does not hold in a row, told with its values and the chain of shapes that led there.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <string>
#include <utility>
#include <vector>

namespace tbem::graph {

/// Reports it at the call that must meet it, or adds `levels` (factor, level) to what is told of the same condition there.
/// `values` are those of the structure's pool in the row.
void reportViolation(Session& session, const Structure& structure, const Obligation& obligation, const sema::Values& values,
                     const std::vector<std::pair<std::string, std::string>>& levels);

}  // namespace tbem::graph
