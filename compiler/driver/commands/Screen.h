// Screening as `tbemc screen` and a page show it.
#pragma once

#include "compiler/driver/Command.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/show/rows/ScreenReport.h"

#include <cstdint>
#include <string>

namespace tbem::driver {

struct ScreenOptions : CommandOptions {
  std::string roofline;      ///< the device of least times; "": none
  std::uint64_t grid = 256;  ///< rows up to which a full grid replaces the array
  ScreenView view;
};

/// Screens the designs of a state, whose request has the grid. The exit status; diagnostics are left in the session.
int screenProgram(show::Out& out, PipelineState& state, const ScreenOptions& options);

}  // namespace tbem::driver
