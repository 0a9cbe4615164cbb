// tbemc completion SHELL: a script by which a shell completes commands, options and their values.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/options/ShellScripts.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

namespace {

struct CompletionOptions : CommandOptions {
  std::string shell;
};

void declare(OptionList& list, CompletionOptions& o) {
  list.add("SHELL", o.shell, "bash, zsh or fish").oneOf({"bash", "zsh", "fish"}).required();
}

std::string unheeded(const Given& /*given*/, const CompletionOptions& /*options*/) { return {}; }

std::vector<CommandWords> allCommands() {
  std::vector<CommandWords> all;
  forEachCommand([&](const Command& command, const CLI::App& options) {
    all.push_back({command.name, command.help, command.takes != Takes::Own, optionWords(options)});
  });
  return all;
}

int run(show::Out& out, const CompletionOptions& options) {
  constexpr const char* kProgram = "tbemc";
  const std::vector<CommandWords> all = allCommands();
  out.data(options.shell == "bash"  ? bashScript(kProgram, all)
           : options.shell == "zsh" ? zshScript(kProgram, all)
                                    : fishScript(kProgram, all));
  return kOk;
}

}  // namespace

const Command kCompletion = {"completion", "a script that completes commands and options in a shell", Takes::Own, false,
                             invocation<CompletionOptions, declare, unheeded, run>};

}  // namespace tbem::driver
