// The conditions of each design's network, proved for all combinations of its levels.
#pragma once

#include "compiler/driver/LevelRemedies.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/spec/Levels.h"

#include <vector>

namespace tbem::driver {

struct DesignProof {
  const DesignRun* run = nullptr;
  spec::LevelProof proof;
  std::vector<std::vector<LevelRemedy>> remedies;  ///< of each breach
};

/// The conditions of a design's network at all combinations of its levels that its `where` allows; nothing is reported.
spec::LevelProof proofOf(Workspace& workspace, const graph::DesignSpec& spec, graph::Experiment& experiment,
                         std::vector<LevelIndices> rows);

/// The next combination of levels, the last factor running fastest; false after the last, which the first follows.
bool nextCombination(const graph::ExperimentSpec& spec, LevelIndices& levels);

/// For each design of a network; what breaks is reported with its cause, the levels nearest to the first ones, and the chain of
/// shapes that leads there, and what would mend it.
std::vector<DesignProof> proveDesigns(State& state);

/// One line, or a `levels` object with --json.
void printDesignProof(const DesignProof& proved, const Options& options);

}  // namespace tbem::driver
