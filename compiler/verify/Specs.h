// The processes of a program, read and proved: what `check` and `spec` share.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/spec/prove/Scenarios.h"

#include <string_view>
#include <vector>

namespace tbem::driver {

/// The processes of the program's own file, all or the one of that name, checked; mistakes are in the session. Those that could
/// not be read are left out. `work`: of all proofs of the command.
std::vector<spec::CheckedProcess> checkProcesses(show::Out& out, Workspace& workspace, spec::Work& work,
                                                 std::string_view only = {});

}  // namespace tbem::driver
