// Which options of `tbemc estimate` make no sense together.
#pragma once

#include "compiler/driver/Options.h"

#include <string>

namespace tbem::driver {

/// What is wrong with them, with the way out; "": nothing.
std::string wrongEstimate(const Options& options);

}  // namespace tbem::driver
