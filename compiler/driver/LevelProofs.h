// The conditions of each design's network, proved for all combinations of its levels.
#pragma once

#include "compiler/driver/Pipeline.h"
#include "compiler/spec/Levels.h"

#include <vector>

namespace tbem::driver {

struct DesignProof {
  const DesignRun* run = nullptr;
  spec::LevelProof proof;
};

/// For each design of a network; what breaks is reported with its cause, the levels nearest to the first ones, and the chain of
/// shapes that leads there.
std::vector<DesignProof> proveDesigns(State& state);

/// One line, or a `levels` object with --json.
void printDesignProof(const DesignProof& proved, const Options& options);

}  // namespace tbem::driver
