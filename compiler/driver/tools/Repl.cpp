// tbemc repl: a dialogue at the keyboard or over a pipe.
#include "compiler/repl/console/Repl.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/repl/console/Outside.h"
#include "compiler/show/Out.h"
#include "runtime/files/Read.h"

#include <unistd.h>

#include <string>

namespace tbem::driver {

namespace {

struct ReplOptions : CommandOptions {
  std::string file;
  bool echo = false;
};

void declare(OptionList& list, ReplOptions& o) {
  list.add("FILE", o.file, "a program to begin with");
  list.flag("--echo", o.echo, "print each entry before its answer, as it stands on a terminal");
  addDisplay(list, o);
}

std::string unheeded(const Given& /*given*/, const ReplOptions& /*options*/) { return {}; }

/// Commands that a dialogue hands on: not itself, nor those that speak with an editor or a shell.
std::vector<repl::OutsideCommand> outsideCommands() {
  std::vector<repl::OutsideCommand> list;
  for (const Command* command : commands()) {
    const std::string name = command->name;
    if (command->help == nullptr || name == "repl" || name == "lsp" || name == "completion" || name == "fmt") continue;
    list.push_back({name, command->help, command->takes != Takes::Own});
  }
  return list;
}

int run(show::Out& out, const ReplOptions& options) {
  repl::Outside outside;
  outside.process = options.process;
  outside.interrupts = options.interrupts;
  outside.commands = outsideCommands();
  outside.isTerminal = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && !options.display.json;
  outside.echoes = options.echo;
  sema::LoadOptions load = sema::LoadOptions::fromEnvironment();
  load.allStandard = true;
  repl::Repl dialogue(out, outside, load);
  if (!options.file.empty()) {
    const auto text = files::readFile(options.file, kMostText);
    if (!text) {
      out.failure(text.error().message);
      return kEnvironment;
    }
    if (!dialogue.begin(options.file, *text) && !outside.isTerminal) return kProgramErrors;
  }
  const std::size_t failures = dialogue.run();
  // At the keyboard somebody saw what failed.
  return failures == 0 || outside.isTerminal ? kOk : kProgramErrors;
}

}  // namespace

const Command kRepl = {"repl", "a dialogue: declare, ask, run, plot, save", Takes::Own, false,
                       invocation<ReplOptions, declare, unheeded, run>};

}  // namespace tbem::driver
