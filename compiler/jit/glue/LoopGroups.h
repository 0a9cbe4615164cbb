// Which loops of a step for a card run as one launch.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::jit {

/// Loops that one kernel of nvptx/GroupKernel.h can run, two or more.
struct LoopGroup {
  std::uint32_t step = 0;            ///< the first of theirs; behind it all of them may run
  std::vector<std::uint32_t> loops;  ///< numbers in Program::loops
};

/// `nests`: by loop.
std::vector<LoopGroup> groupLoops(const estimate::Program& program, const std::vector<LoopNest>& nests);

}  // namespace tbem::jit
