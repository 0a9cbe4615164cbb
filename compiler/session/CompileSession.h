// A program that is edited and checked again and again: what an edit leaves as it was is not done again. For editors and for a
// dialogue; it prints nothing and keeps nothing outside of itself, so that a process may have several, each in a thread.
//
// A check says what `tbemc check` says of the same text, in the same order. What is kept, by content:
//   the standard library's modules (sema/Kept.h), as long as the program imports them in the same order;
//   what there is to say of the rows of a design, of its proof, of a network and of a process, mostly nothing, by the text of all
//   that each depends on (verify/KeptAnswers.h).
// The file itself is parsed anew, and its names are looked up anew.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Value.h"
#include "compiler/support/Events.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tbem::session {

/// A number or a list that an expression knows beside the names of its program.
struct NamedValue {
  std::string name;
  sema::Value value;  ///< its expressions lie in Evaluation::pool
};

/// An expression of elaboration time and its value.
struct Evaluation {
  std::unique_ptr<ast::File> file;
  sema::ExprPool pool;
  std::vector<NamedValue> names;
  sema::Value value;  ///< Poison where a mistake was reported
};

class CompileSession {
public:
  /// `events`: told of the stages of a check, and of "load" and "beyond" before and behind them; it must outlive this. It may end
  /// a check by an exception.
  CompileSession(sema::LoadOptions load, Events& events);
  /// Nobody listens.
  CompileSession();
  ~CompileSession();
  CompileSession(const CompileSession&) = delete;
  CompileSession& operator=(const CompileSession&) = delete;

  /// Reads `text` as the contents of the file `path`, which need not exist, and what it imports; the user's modules are read from
  /// the disk each time. The program, never null in it, and what its syntax gives to say stay until the next call.
  const driver::Workspace& read(const std::string& path, std::string text);
  /// Checks the program that was read last, once: what there is to say is in its session. Arrays and datasets are read from the
  /// disk. After a bug of ours (support/Bug.h) the program is gone; after an exception of the listener it is there, with a part
  /// of what there is to say. The session goes on after either.
  const Session& check();
  /// Both.
  const Session& check(const std::string& path, std::string text) {
    read(path, std::move(text));
    return check();
  }

  /// Parts of the program (rows of a design, proofs, networks, processes) that the last check came to, and those that it looked
  /// at, as nothing was known of them.
  struct Parts {
    std::size_t all = 0, again = 0;
  };
  Parts parts() const;
  /// Evaluates the text, one expression, among the names of the program that was read last and `into.names`. What is wrong with
  /// it is said in that program's session, behind all else. `name`: what messages call the text.
  void evaluate(const std::string& name, std::string text, Evaluation& into);
  /// Of what there is to say of that program, this stays.
  void keepSaid(const std::function<bool(const Diagnostic&)>& stays);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::session
