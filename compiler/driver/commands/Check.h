// What `tbemc check` does with one program.
#pragma once

#include "compiler/driver/Command.h"

namespace tbem::driver {

/// Everything that can be known of the state's program without running it. Prints the diagnostics, which stay in the session, and
/// returns the exit status.
int checkProgram(show::Out& out, PipelineState& state, const CommandOptions& options);

}  // namespace tbem::driver
