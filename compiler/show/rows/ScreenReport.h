// How a screening is shown: tables with bars, JSON, SVG.
#pragma once

#include "compiler/explore/Screen.h"
#include "compiler/show/Out.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct ScreenView {
  double cutoff = 0.01;  ///< share below which a factor does not matter
  std::string folder;    ///< of plots; "": none
};

/// The findings on one design: tables with bars, or one JSON object a response; plots. False where a plot cannot be written,
/// which was said.
bool reportScreening(show::Out& out, const State& state, const std::vector<Screened>& findings, const ScreenView& view);

}  // namespace tbem::driver
