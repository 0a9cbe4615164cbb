// Which loops of a step for a card run as one launch.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::jit {

/// Loops that one kernel of nvptx/GroupKernel.h can run, two or more: at the first one's place, before what stands between them.
struct LoopGroup {
  std::vector<std::uint32_t> steps;  ///< numbers in Program::steps, ascending
};

/// Whether the loop does the same at the same places in all micro-batches, for all samples and threads, whoever calls the step.
bool isAlwaysAlike(const LoopNest& nest);
/// Whether it writes nothing but what outlives the step.
bool onlyUpdates(const estimate::Program& program, const estimate::FusedLoop& loop);

/// `nests`: by loop; `taken`: by step, those that run otherwise.
std::vector<LoopGroup> groupLoops(const estimate::Program& program, const std::vector<LoopNest>& nests,
                                  const std::vector<bool>& taken);

}  // namespace tbem::jit
