// Runs the lanes of a warp. Those that stand at one instruction run it together; of several places the one farthest behind comes
// first, so that ways that part meet again where they join.
#pragma once

#include "test/card/run/Lane.h"

namespace tbem::card {

/// Runs a warp until all its threads have ended or wait for other warps. False: none could run.
bool runWarp(Block& block, std::size_t warp);

}  // namespace tbem::card
