// `tbemc estimate --explain workspace`: the engines of each convolution, and what memory would be with others.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/run/State.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

struct WorkspaceView {
  const EngineRequest& engines;
  std::string limit;  ///< "256MiB": what memory would be if no convolution took more; "": not asked
};

/// Of all rows of a state that has passed `graph`. The exit status.
int explainWorkspaces(show::Out& out, State& state, const WorkspaceView& view);

}  // namespace tbem::driver
