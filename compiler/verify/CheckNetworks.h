// Networks that no design of a program builds: `check` elaborates them at sizes of its own.
#pragma once

#include "compiler/run/State.h"

namespace tbem::driver {

/// Elaborates every network of the program's file that its designs do not name, with its parameters' defaults, 2 samples and
/// sizes for the other dimensions that its conditions accept. Says what was checked so, and what was not and why. Mistakes that
/// no size would mend go to the session.
void checkNetworks(State& state);

}  // namespace tbem::driver
