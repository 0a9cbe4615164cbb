// Which steps of a program for a card one launch takes channel by channel (nvptx/ChannelWork.h).
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/nvptx/ChannelWork.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::jit {

/// Two steps or more, of which one computes statistics of channels or the sums of their gradient. No block of threads needs what
/// another computes, and nothing that stands between the steps minds that all of them run at the last one's place.
struct ChannelRun {
  std::vector<std::uint32_t> steps;  ///< numbers in Program::steps, ascending
  ChannelWork work;                  ///< its parts are those of the steps
};

/// `nests`: by loop.
std::vector<ChannelRun> channelRuns(const estimate::Program& program, const std::vector<LoopNest>& nests);

}  // namespace tbem::jit
