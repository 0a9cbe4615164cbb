// What a dialogue needs of the process in which it runs: its own program once more, for commands. A command that fails, crashes
// or is ended by Ctrl-C ends alone.
#pragma once

#include "compiler/support/Interrupts.h"

#include <tl/expected.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tbem::repl {

/// How a command ended.
struct Ended {
  int status = 0;
  int signal = 0;      ///< that ended it; 0: none
  std::string output;  ///< standard output, where it was asked for
};

struct SelfCommand {
  std::vector<std::string> arguments;  ///< behind the program's name
  std::string input;                   ///< its standard input
  bool keepsOutput = false;            ///< standard output is for the caller, and not written
};

/// Errors: why it cannot be started.
using RunSelf = std::function<tl::expected<Ended, std::string>(const SelfCommand& command)>;

/// What only the process can do and say.
struct ProcessSettings {
  RunSelf runSelf;      ///< empty: no command can be run
  std::string history;  ///< a file for what is typed; "": none is kept
};

/// A command of the command line that a dialogue hands on.
struct OutsideCommand {
  std::string name, help;
  bool takesProgram = false;
};

struct Outside {
  ProcessSettings process;
  Interrupts* interrupts = nullptr;  ///< nullptr: nobody ends an entry early
  std::vector<OutsideCommand> commands;
  bool isTerminal = false;
  bool echoes = false;  ///< each entry is printed before its answer, as it stands on a terminal
};

}  // namespace tbem::repl
