// The processes of a program, read and proved: what `check` and `spec` share.
#pragma once

#include "compiler/run/State.h"
#include "compiler/spec/prove/Scenarios.h"

#include <string_view>
#include <vector>

namespace tbem::driver {

/// The processes of the program's own file, all or the one of that name, checked; mistakes are in the session. Those that could
/// not be read are left out, and those of which the state's session has the answer.
std::vector<spec::CheckedProcess> checkProcesses(State& state, std::string_view only = {});

}  // namespace tbem::driver
