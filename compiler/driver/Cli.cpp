#include "compiler/driver/Cli.h"

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/driver/Commands.h"
#include "compiler/options/HelpText.h"
#include "compiler/show/Console.h"
#include "compiler/show/Out.h"
#include "compiler/support/Bug.h"
#include "compiler/support/Streams.h"
#include "compiler/support/Version.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>

namespace tbem::driver {

namespace {

/// nullptr: none has this name.
const Command* findCommand(std::string_view name) {
  const auto found = std::ranges::find_if(commands(), [&](const Command* command) { return name == command->name; });
  return found == commands().end() ? nullptr : *found;
}

/// `tbemc FILE` and `tbemc -e TEXT` are `tbemc run ...`, and `tbemc` alone is `tbemc repl` where somebody sits before it.
std::vector<std::string> withCommand(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return {::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 ? "repl" : "--help"};
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "--version") return arguments;
  const bool known = findCommand(first) != nullptr;
  const bool later =
      std::any_of(laterCommands().begin(), laterCommands().end(), [&](const auto& row) { return first == row.first; });
  if (!known && !later) arguments.insert(arguments.begin(), "run");
  return arguments;
}

/// A first word that is neither a command nor a file, and does not look like one: why, or "".
std::string notACommand(int argc, char** argv) {
  if (argc < 2) return {};
  const std::string word = argv[1];
  std::error_code ignored;
  if (word.empty() || word.front() == '-' || word.find_first_of("./") != std::string::npos ||
      std::filesystem::exists(word, ignored))
    return {};
  std::vector<std::string> names;
  for (const Command* command : commands()) {
    if (word == command->name) return {};
    if (command->help != nullptr) names.emplace_back(command->name);
  }
  for (const auto& [name, help] : laterCommands()) {
    if (word == name) return {};
  }
  const std::string close = nearest(word, names);
  return fmt::format("no command or file is called `{}`{}", word,
                     close.empty() ? " (tbemc --help lists the commands)" : fmt::format(": did you mean `{}`?", close));
}

/// Of a command line with words that its command does not take: the first that looks like an option, and what may be meant.
std::string unknownOption(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const std::string& word : sub->remaining(true)) {
      if (!word.starts_with("--") || word.size() == 2) continue;
      const std::string option = word.substr(0, word.find('='));
      const std::string close = nearest(option, names);
      return fmt::format("`tbemc {}` has no option `{}`{}", sub->get_name(), option,
                         close.empty() ? fmt::format(" (tbemc {} --help lists them)", sub->get_name())
                                       : fmt::format(": did you mean `{}`?", close));
    }
  }
  return {};
}

std::string laterText() {
  std::string text = "Not there yet:";
  for (const auto& [name, help] : laterCommands()) text += fmt::format(" {}", name);
  return text;
}

constexpr std::size_t kWidestHelp = 100;  ///< columns: longer lines are hard to read

/// Says what failed, and where what reproduces it is.
void tellBug(const Bug& bug, show::Out& out) {
  out.error(fmt::format("tbemc: this is a bug in tbemc, not in your program\n  {}\n", bug.what()));
  const std::string path = bug.program().empty() ? std::string() : writeReproducer(bug.program());
  if (!path.empty()) out.error(fmt::format("  what reproduces it: {}\n", path));
}

/// Exceptions do not cross a folder; one that does is our bug, but for memory that the machine lacks.
int runGuarded(const Invocation& invocation, show::Out& out) {
  try {
    return invocation.run(out);
  } catch (const std::bad_alloc&) {
    out.failure("out of memory");
    return kEnvironment;
  } catch (const Bug& bug) {
    tellBug(bug, out);
    return kInternal;
  } catch (const std::exception& error) {
    out.failure(fmt::format("a bug of ours: {}", error.what()));
    return kInternal;
  }
}

/// The command's output; with --sarif the log of its diagnostics ends it.
int runOn(Invocation& invocation, const Host& host) {
  show::Console console(invocation.options().display, host.readerGone);
  const int status = runGuarded(invocation, console);
  if (console.display.sarif) console.jsonLine(console.sarif());
  return status;
}

/// A failure before there is a command's output.
void printFailure(std::string_view text) { show::Console({}).failure(text); }

/// What is wrong with the programs that a command line names, or "".
std::string wrongPrograms(const Command& command, const ProgramRequest& program) {
  if (command.takes == Takes::Own) return {};
  if (takesOne(command) && program.files.size() > 1)
    return fmt::format("one program at a time, found {}", fmt::join(program.files, " "));
  if (command.takes != Takes::Program && program.text && !program.files.empty()) return "-e TEXT or a FILE, not both";
  if (program.files.empty() && !program.text) return "no program: give a FILE, - for standard input, or -e TEXT";
  return {};
}

/// What follows from the options and the process for the stages.
void completeRequest(const Command& command, const Host& host, CommandOptions& options) {
  options.campaign.worker = host.worker;
  options.interrupts = host.interrupts;
  options.process = host.process;
  const StageRequest& stages = options.stages;
  options.target.everyUpdate = !stages.emitStage.empty() || !stages.printAfter.empty();
  if (command.runs && (stages.emitStage.empty() || runsSteps(stages.emitStage))) options.target.ownCode = Target::OwnCode::Told;
}

int runCommand(const Command& command, const CLI::App& app, Invocation& invocation, const Host& host) {
  std::string why = wrongPrograms(command, invocation.options().program);
  if (why.empty()) why = invocation.unheeded(Given(app));
  if (!why.empty()) {
    printErr("tbemc {}: {}\n", command.name, why);
    return kUsage;
  }
  completeRequest(command, host, invocation.options());
  return runOn(invocation, host);
}

int dispatch(int argc, char** argv, const Host& host) {
  const std::vector<std::string> arguments = withCommand(argc, argv);
  const Command* command = findCommand(arguments.front());
  for (const auto& [name, help] : laterCommands()) {
    if (arguments.front() == name) {
      printFailure(fmt::format("`tbemc {}` ({}) is not there yet", name, help));
      return kUsage;
    }
  }
  if (const std::string problem = notACommand(argc, argv); !problem.empty()) {
    printFailure(problem);
    return kUsage;
  }
  CLI::App app("Knows what a neural network will cost before it runs, and proves it by test.", "tbemc");
  app.set_version_flag("--version", versionText());
  app.require_subcommand(1);
  const std::size_t width = std::min(report::terminalWidth(STDOUT_FILENO), kWidestHelp);
  app.formatter(std::make_shared<HelpText>(width));
  std::unique_ptr<Invocation> invocation;
  for (const Command* each : commands()) {
    CLI::App* sub = app.add_subcommand(each->name, each->help);
    if (each != command) continue;  // no command line of it: spared the options
    OptionList list(*sub);
    invocation = each->begin(list);
    completeOptions(*sub);
    if (takesOne(*each)) sub->formatter(std::make_shared<HelpText>(width, HelpText::Files::One));
  }
  app.footer("tbemc FILE is tbemc run FILE; tbemc alone, on a terminal, is tbemc repl.\n" + laterText());  // of no subcommand
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ExtrasError& error) {
    const std::string why = unknownOption(app);
    printFailure(why.empty() ? error.what() : why);
    return kUsage;
  } catch (const CLI::ParseError& ended) {
    std::ostringstream out, error;
    const int status = app.exit(ended, out, error);
    writeText(stdout, out.str());
    writeText(stderr, error.str());
    return status == 0 ? kOk : kUsage;
  }
  if (command == nullptr || invocation == nullptr) return kUsage;
  return runCommand(*command, *app.get_subcommand(command->name), *invocation, host);
}

}  // namespace

bool runsNativeCode(int argc, char** argv) {
  const Command* command = findCommand(withCommand(argc, argv).front());
  return command != nullptr && command->runs;
}

int runCommandLine(int argc, char** argv, const Host& host) {
  const int status = dispatch(argc, argv, host);
  // What was printed may still be on its way: a full disk or a closed output loses nothing in silence.
  const int failure = writeFailure(stdout);
  if (failure == EPIPE && host.readerGone) host.readerGone();
  if (failure != 0) printFailure(fmt::format("cannot write the output: {} (errno {})", std::strerror(failure), failure));
  const bool lost = failure != 0 || writeFailure(stderr) != 0;
  return lost && status == kOk ? kEnvironment : status;
}

}  // namespace tbem::driver
