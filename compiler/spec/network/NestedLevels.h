// Which combinations of levels exist where factors are nested. Internal to this folder.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/spec/network/Causes.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tbem::spec {

using LevelBox = std::vector<std::vector<std::uint32_t>>;  ///< by factor: positions of levels, ascending

/// `whole`, which holds all levels, as boxes in which each nested factor exists everywhere or nowhere; none where they are more
/// than `most`.
std::deque<LevelBox> branchesOf(const graph::ExperimentSpec& spec, LevelBox whole, std::size_t most);

/// Fills `broken.exists`, where some of its factors are nested in others of them.
void findExisting(const graph::ExperimentSpec& spec, Broken& broken);

}  // namespace tbem::spec
