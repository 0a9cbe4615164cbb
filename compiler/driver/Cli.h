// The command line, from arguments to an exit status.
#pragma once

namespace tbem::driver {

/// Parses the arguments, runs the command, returns the exit status (Failed.h). Prints to standard output and error.
int runCommandLine(int argc, char** argv);

}  // namespace tbem::driver
