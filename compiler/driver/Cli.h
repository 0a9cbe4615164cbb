// The command line, from arguments to an exit status.
#pragma once

#include "compiler/repl/console/Outside.h"
#include "compiler/support/Interrupts.h"

#include <functional>
#include <string>

namespace tbem::driver {

/// What the command line asks of the process that it runs in, which it does not change itself.
struct Host {
  std::string worker;                ///< CampaignRequest::worker
  Interrupts* interrupts = nullptr;  ///< Request::interrupts
  /// Called once nobody reads standard output any more; may be empty, and need not return.
  std::function<void()> readerGone = {};
  repl::ProcessSettings process = {};  ///< of dialogues
};

/// Whether these arguments name a command that runs native code in this process, looks at its memory, and keeps what it makes.
bool runsNativeCode(int argc, char** argv);

/// Parses the arguments, runs the command, returns the exit status (Failed.h). Prints to standard output and error: a write to
/// a pipe without a reader must not raise a signal (SIGPIPE), nor one beyond a limit of file size (SIGXFSZ).
int runCommandLine(int argc, char** argv, const Host& host);

}  // namespace tbem::driver
