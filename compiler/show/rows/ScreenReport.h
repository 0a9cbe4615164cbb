// How a screening is shown: tables with bars, JSON, SVG.
#pragma once

#include "compiler/explore/Screen.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

struct ScreenView {
  double cutoff = 0.01;  ///< share below which a factor does not matter
  std::string folder;    ///< of plots; "": none
};

/// Of each design tables with bars, or one JSON object a response; plots. The exit status: also that of rows without a least time
/// and of plots that cannot be written, which was said.
int printScreening(show::Out& out, const State& state, const Screening& screening, const ScreenView& view);

}  // namespace tbem::driver
