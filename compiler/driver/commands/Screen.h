// Screening as `tbemc screen` and a page show it.
#pragma once

#include "compiler/driver/Command.h"
#include "compiler/show/rows/ScreenReport.h"

#include <cstdint>
#include <string>

namespace tbem::driver {

struct ScreenOptions : CommandOptions {
  std::string roofline;      ///< the device of least times; "": none
  std::uint64_t grid = 256;  ///< rows up to which a full grid replaces the array
  ScreenView view;
};

/// Loads and screens the program's designs. The exit status.
int runScreen(show::Out& out, const ScreenOptions& options);

}  // namespace tbem::driver
