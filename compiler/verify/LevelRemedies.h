// What would mend a condition that breaks at some levels of a design: other arguments of the call, levels that go, a `where`.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/spec/network/Levels.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::driver {

/// A change of the program with which the condition holds at all combinations that stay, and no other breaks that did not before.
struct LevelRemedy {
  enum class Kind : std::uint8_t { Argument, Levels, Where } kind{};
  std::string text;         ///< "`pad: kernel div 2` of `conv2d`", "`factor kernel: 1, 3` (without 9)", "`where kernel <= 3`"
  std::vector<Fix> change;  ///< of the program's file
  std::uint64_t combinations = 0;  ///< that stay
};

/// "argument", "levels", "where".
const char* word(LevelRemedy::Kind kind);

/// Each was tried: the changed program was read and all its levels were proved anew. At most one of a kind, and
/// none once `work`, that of all proofs of the command, is spent.
std::vector<LevelRemedy> remediesFor(const Workspace& workspace, const DesignRun& run, const spec::LevelProof& proof,
                                     const spec::Breach& breach, const Target& target, spec::Work& work);

}  // namespace tbem::driver
