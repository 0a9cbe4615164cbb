// The measured part of a program, as commands and a page show it.
#pragma once

#include "compiler/driver/Command.h"

#include <string>

namespace tbem::driver {

struct MeasureOptions : CommandOptions {
  std::string out;  ///< folder of plots and checkpoints; "": beside the program
  bool noPlots = false;
};

/// Of a state that has passed `graph`: what the store holds, whatever it was measured with, and the regressions of it. The exit
/// status.
int showStored(show::Out& out, PipelineState& state, const MeasureOptions& options);

}  // namespace tbem::driver
