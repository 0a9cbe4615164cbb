// The dialogue at the keyboard or over a pipe: reads entries, answers each, and goes on after whatever one of them did.
#pragma once

#include "compiler/repl/Dialogue.h"
#include "compiler/repl/console/LineReader.h"
#include "compiler/repl/console/Outside.h"
#include "compiler/show/Out.h"
#include "runtime/report/TextPlot.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::repl {

/// A command of the dialogue, `:word`.
struct ReplCommand;

/// What stands before an entry, and before each further line of it.
inline constexpr const char* kPrompt = "tbem> ";
inline constexpr const char* kMorePrompt = "    | ";

/// One class: each command of the dialogue is a member of it.
class Repl {
public:
  /// `out` and `outside` outlive it; `load` as Dialogue's.
  Repl(show::Out& out, const Outside& outside, const sema::LoadOptions& load);
  ~Repl();
  /// Takes a program's text as if it had been typed. False, after saying why: it cannot be taken.
  bool begin(const std::string& path, const std::string& text);
  /// Until the end of the input or `:quit`. How many entries failed.
  std::size_t run();

private:
  friend struct ReplCommand;
  class Listener;

  // ---- Entries -------------------------------------------------------------------------------------------------------------
  std::optional<std::string> readWhole();
  void answer(const std::string& text);
  /// What happens to `work` ends the entry and not the session: Ctrl-C, a bug of ours, too little memory.
  bool guarded(const std::function<bool()>& work);
  bool answerEntry(const Entry& entry);
  bool declare(const Entry& entry);
  bool declareEntry(const Entry& entry);
  bool express(const std::string& expression);
  bool plot(const std::string& expression);
  bool ask(const std::string& name);
  bool listModules();
  bool command(const Entry& entry);

  // ---- Calls and commands of the command line (Calls.cpp) ------------------------------------------------------------------
  /// The call that an expression is; nothing after saying why it is none.
  std::optional<RuntimeCall> callOf(const std::string& expression);
  std::optional<CallCost> costOf(const RuntimeCall& call);
  /// Runs a call; its results. Nothing after saying why not.
  std::optional<std::vector<data::Array>> runCall(const RuntimeCall& call);
  bool nameResults(const std::string& name, const RuntimeCall& call);
  bool outsideCommand(const OutsideCommand& command, const std::string& rest);
  /// `arguments` with the backend that `:on` chose; whether it went well.
  bool hand(std::vector<std::string> arguments, std::string program);
  bool handCall(const std::string& expression, std::vector<std::string> arguments);
  bool endedWell(const tl::expected<Ended, std::string>& ended);
  void showNamed(const std::string& name);
  bool isDesign(const std::string& name);
  static bool takesBackend(const std::string& command);

  // ---- Commands of the dialogue (ReplCommands.cpp) -------------------------------------------------------------------------
  static const std::vector<ReplCommand>& commands();
  bool help(const std::string& rest);
  bool list(const std::string& rest);
  bool undo(const std::string& rest);
  bool redo(const std::string& rest);
  bool forget(const std::string& rest);
  bool save(const std::string& rest);
  tl::expected<std::string, std::string> asTest();
  bool load(const std::string& rest);
  bool shape(const std::string& rest);
  bool flops(const std::string& rest);
  bool mem(const std::string& rest);
  bool plan(const std::string& rest);
  bool llvm(const std::string& rest);
  bool assembly(const std::string& rest);
  bool time(const std::string& rest);
  bool why(const std::string& rest);
  bool on(const std::string& rest);
  bool listTensors(const std::string& rest);
  bool quit(const std::string& rest);

  serve::Completions complete(const std::string& line);
  /// The program as it is now, for questions about its names.
  const driver::Workspace& program();
  /// The size of a character, in a terminal that shows pictures in colour; it is asked once.
  std::optional<report::CellSize> pixels();
  /// Prints what the dialogue has to say. False where an error is among it.
  bool say();
  bool fail(std::string_view why);

  show::Out& out;
  const Outside& outside;
  std::unique_ptr<Listener> listener;
  Dialogue dialogue;
  Events nobody;
  session::CompileSession completing;  ///< reads what is being typed
  std::unique_ptr<LineReader> reader;
  std::string pending;  ///< lines of the entry that is being typed
  std::optional<std::string> pushedBack;
  std::string backend;             ///< of `:on`
  std::string lastCode;            ///< of the last error, for `:why`
  std::vector<std::string> typed;  ///< entries that went well, for a test
  std::size_t entries = 0, failures = 0;
  std::optional<report::CellSize> cell;  ///< pixels()
  bool echoes, ended = false, askedForPixels = false;
};

struct ReplCommand {
  const char* name;
  const char* arguments;
  const char* help;
  bool (Repl::*run)(const std::string& rest);
};

}  // namespace tbem::repl
