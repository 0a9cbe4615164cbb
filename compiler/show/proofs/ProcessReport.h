// How a process is shown: its functional scenarios and what was proved of it.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"
#include "compiler/spec/prove/Scenarios.h"

namespace tbem::driver {

void printProcess(show::Out& out, const Workspace& workspace, const spec::CheckedProcess& process);

}  // namespace tbem::driver
