// `tbemc estimate --explain workspace`: the engines of each convolution, and what memory would be with others.
#pragma once

#include "compiler/driver/Pipeline.h"

namespace tbem::driver {

/// Of all rows of a state that has passed `graph`. The exit status.
int explainWorkspaces(show::Out& out, State& state);

}  // namespace tbem::driver
