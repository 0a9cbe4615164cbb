// What a dialogue knows: the program that its entries made, the tensors that they named, and what there is to say of an entry. It
// prints nothing, and starts no process: whoever holds the dialogue shows its answers, runs what is to be run and hands the
// tensors back.
#pragma once

#include "compiler/repl/CallCost.h"
#include "compiler/repl/Entry.h"
#include "compiler/repl/RuntimeCall.h"
#include "compiler/repl/SessionProgram.h"
#include "compiler/repl/Tensors.h"
#include "compiler/session/CompileSession.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::repl {

/// Declarations that were taken into the program.
struct Declared {
  std::vector<std::pair<std::string, std::string>> declarations;  ///< kind and name; of an import the path
  std::vector<std::string> replaced;                              ///< names that meant something else before
  session::CompileSession::Parts parts;
};

/// What was taken away.
struct Forgotten {
  std::vector<std::string> users;  ///< the declarations that use it, in the program's order; none of a tensor
  std::string instead;             ///< the standard module whose declaration they use from now on, or ""
};

/// A value of elaboration time.
struct ShownValue {
  std::string text;             ///< as it can be typed again
  std::vector<double> numbers;  ///< of a list of numbers, or of one number
};

class Dialogue {
public:
  /// What messages call the program.
  static constexpr const char* kName = "<session>";
  /// What they call an expression that was typed.
  static constexpr const char* kEntry = "<entry>";

  /// `load` has every public name of `std` in scope (allStandard). `events` is told of stages, may end a check by an exception,
  /// and outlives this.
  Dialogue(sema::LoadOptions load, Events& events);

  // ---- Each of these says what there is to say in `said()`; nothing is returned where that is why -------------------------
  std::optional<Declared> declare(const Entry& entry);
  /// Another program, with what can be said of it. Nothing: it cannot be read.
  std::optional<Declared> load(const std::string& text);
  std::optional<ShownValue> evaluate(const std::string& expression);
  /// Nothing, with nothing said: no tensor flows in the expression. It has no mistakes of syntax.
  std::optional<RuntimeCall> runtimeCall(const std::string& expression);
  /// Of a call's only row, on this backend ("": the default). Errors: what the environment lacks.
  tl::expected<std::optional<CallCost>, Failed> cost(const RuntimeCall& call, const std::string& backend);
  /// Whether a name in the expression is a tensor's.
  bool readsTensors(const std::string& expression) const;
  /// Why the text cannot be read is said.
  void sayMistakes(const std::string& text);

  /// The session with all that is to be said of the last entry, or nullptr.
  const Session* said() const { return toSay; }

  /// A program that stands for itself: with imports of what it takes from the standard library, and `added` behind it.
  std::string standalone(const std::string& added = {});

  // ---- The program and the tensors -----------------------------------------------------------------------------------------
  const SessionProgram& program() const { return current; }
  /// A declaration, or a tensor. What uses a declaration stays in the program: what is wrong with it is said with the next
  /// declaration. Nothing: nothing has this name.
  std::optional<Forgotten> forget(const std::string& name);
  /// The program before the last change, or the one that `undo` left. False: there is none.
  bool undo();
  bool redo();
  Tensors tensors;

private:
  const driver::Workspace& read(const std::string& text);
  std::optional<Declared> take(SessionProgram next, const std::vector<Piece>& pieces, std::vector<std::string> replaced);
  void change(SessionProgram next);

  const sema::LoadOptions loadOptions;
  Events& events;
  session::CompileSession session;
  SessionProgram current;
  std::vector<SessionProgram> before, after;     ///< for `undo` and `redo`
  std::unique_ptr<driver::Workspace> estimated;  ///< of the last call whose cost was asked for
  std::unique_ptr<Session> unread;               ///< what was said of a text that cannot be read
  const Session* toSay = nullptr;
  std::set<std::string> broken;  ///< mistakes elsewhere in the program that were said already
};

}  // namespace tbem::repl
