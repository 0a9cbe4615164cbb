// What was proved of a network for all sizes of its inputs.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/verify/NetworkProofs.h"

namespace tbem::driver {

/// One line, or a `network` object with --json.
void printNetworkProof(show::Out& out, const NetworkProof& proved);

}  // namespace tbem::driver
