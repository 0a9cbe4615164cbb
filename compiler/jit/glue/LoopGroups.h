// Which loops of a step for a card run as one launch.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::jit {

/// Loops that one kernel of nvptx/GroupKernel.h can run, two or more.
struct LoopGroup {
  std::vector<std::uint32_t> steps;  ///< numbers in Program::steps, ascending; at the first one's place all may run
};

/// `nests`: by loop; `taken`: by step, those that run otherwise.
std::vector<LoopGroup> groupLoops(const estimate::Program& program, const std::vector<LoopNest>& nests,
                                  const std::vector<bool>& taken);

}  // namespace tbem::jit
