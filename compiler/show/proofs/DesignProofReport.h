// What was proved of a design's network for all combinations of its levels.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/verify/LevelProofs.h"

namespace tbem::driver {

/// One line, or a `levels` object with --json.
void printDesignProof(show::Out& out, const DesignProof& proved);

}  // namespace tbem::driver
