// The plots of a command: written to a folder, and told of.
#pragma once

#include "compiler/driver/Options.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct PlotFile {
  std::string name;  ///< "table1-memory.svg"
  std::string text;
};
/// Writes them all and says where they are; false after saying which cannot be written.
bool writePlotFiles(const Options& options, const std::string& folder, const std::vector<PlotFile>& plots);

}  // namespace tbem::driver
