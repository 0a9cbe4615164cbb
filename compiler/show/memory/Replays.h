// `tbemc replay`: what it works out, and how it is shown.
#pragma once

#include "compiler/pytorch/allocator/ReplayTrace.h"
#include "compiler/show/Out.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// One history under one text of options.
struct ReplayedOptions {
  std::string text;
  bool recorded = false;  ///< as it was
  estimate::Replay replay;
  std::vector<std::string> ignored;  ///< options that are not simulated
};

/// One history under the options it was recorded with, and under others.
struct ReplayedTrace {
  const TraceFile* file = nullptr;
  const estimate::AllocatorTrace* trace = nullptr;
  estimate::AllocatorHistory history;
  estimate::TraceCheck check;
  estimate::CardMemory card;
  std::string rules;  ///< the version of PyTorch whose rules hold
  std::vector<ReplayedOptions> replays;
};

void printReplay(show::Out& out, bool saysOptions, const std::string& path, const ReplayedTrace& traced);
void printReplayJson(show::Out& out, const std::string& path, const ReplayedTrace& traced);

}  // namespace tbem::driver
