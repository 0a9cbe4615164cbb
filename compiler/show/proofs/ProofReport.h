// All that is proved of a program, and what is left to a check at run time.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"
#include "compiler/verify/Proofs.h"

namespace tbem::driver {

/// `strict`: what is neither proved nor refuted is a verdict against the program, which the line on it says.
void printProofs(show::Out& out, const Workspace& workspace, const Proofs& proofs, bool strict);

}  // namespace tbem::driver
