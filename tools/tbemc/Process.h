// What tbemc does to its own process. Libraries below do none of this: other programs may hold them.
#pragma once

#include "compiler/repl/console/Outside.h"
#include "compiler/support/Interrupts.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::process {

/// Starts `program` anew, once, with `argv` and the variable that limits how long OpenMP's threads spin (waitingThreads, which
/// says why). It returns where that is set.
void limitSpinning(const char* program, char** argv);

/// Call before anything is opened: a file that takes the place of a closed standard stream would get its output. Reading from a
/// closed standard input and writing to a closed standard output fail as they would; a closed standard error is /dev/null.
void holdStandardStreams();

/// A write that cannot be done fails with an error, told as a full disk is, and ends nothing: one to a pipe without a reader, one
/// beyond the limit of file size.
void writesSayWhatFails();

/// Ends the process as a write to a pipe without a reader ends other programs in a pipeline.
void endBySigpipe();

/// Runs `program` with the command's arguments and standard input, and waits for its end. It has this process's terminal, so that
/// Ctrl-C reaches it; where this process is to outlive that, its own signals are held (Signals).
tl::expected<repl::Ended, std::string> runSelf(const char* program, const repl::SelfCommand& command);

/// Where what was typed in dialogues is kept: $XDG_STATE_HOME/tbemc/history or ~/.local/state/tbemc/history; "" without both.
std::string historyFile();

/// Ctrl-C and SIGTERM: while a run asks they end nothing else. One at a time.
class Signals final : public Interrupts {
public:
  void begin() override;
  void end() override;
  bool asked() const override;
  bool endAsked() const override;
};

}  // namespace tbem::process
