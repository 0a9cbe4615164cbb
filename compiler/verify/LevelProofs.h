// The conditions of each design's network, proved for all combinations of its levels.
#pragma once

#include "compiler/run/State.h"
#include "compiler/spec/network/Levels.h"
#include "compiler/verify/LevelRemedies.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct DesignProof {
  const DesignRun* run = nullptr;
  spec::LevelProof proof;
  std::vector<std::vector<LevelRemedy>> remedies;  ///< of each breach
  /// Whether what is refuted breaks at rows that the design leaves out.
  bool isFiltered() const { return proof.verdict == spec::Verdict::Refuted && run->spec.decl->filter; }
  const char* verdict() const;  ///< "filtered", else that of the proof
};

/// "depth = 16 and width = 4"; "always" for none.
std::string causeText(const std::vector<spec::Cause>& cause);

/// Structures of a design that are looked at: where what breaks is one of several things to be told, and where it is what was
/// asked for.
inline constexpr std::size_t kFewStructures = 256, kManyStructures = 4096;

/// A design whose levels are looked at.
struct LevelSubject {
  Workspace& workspace;
  const graph::DesignSpec& spec;
  graph::Experiment& experiment;
  std::vector<LevelIndices> rows = {};  ///< that it runs
};

/// The conditions of a design's network at all combinations of its levels that its `where` allows, in at most so many structures;
/// nothing is reported. `work`: of all proofs of the command.
spec::LevelProof proofOf(LevelSubject subject, const Target& target, spec::Work& work,
                         std::size_t maxStructures = kFewStructures);

/// The next combination of levels, the last factor running fastest; false after the last, which the first follows.
bool nextCombination(const graph::ExperimentSpec& spec, LevelIndices& levels);

/// For each design of a network; what breaks is reported with its cause, the levels nearest to the first ones, and the chain of
/// shapes that leads there, and what would mend it.
std::vector<DesignProof> proveDesigns(State& state, std::size_t maxStructures);

}  // namespace tbem::driver
