// A program that is open in an editor.
#pragma once

#include "compiler/serve/Reading.h"
#include "compiler/serve/Text.h"
#include "compiler/serve/costs/Costs.h"
#include "compiler/session/CompileSession.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tbem::serve {

class Document {
public:
  /// `events`: of checks; it outlives this. Only files have a path; another address stands for itself.
  Document(std::string uri, Text text, std::int64_t version, const sema::LoadOptions& load, Events& events);

  const std::string uri;
  const std::string path;

  const Text& text() const { return current; }
  std::int64_t version() const { return number; }
  /// From now on nothing is known of it.
  void change(Text text, std::int64_t version);

  /// The program as it is now.
  const Reading& reading();
  bool isChecked() const { return checked; }
  /// Before `check`: reads it, and once more where a check that was ended has left a part of what there is to say. The listener
  /// must not ask for the program meanwhile.
  void beginCheck();
  /// What there is to say; an exception of the listener leaves it unchecked.
  const Session& check();
  bool showsRows = false;  ///< what was told last has something of rows or proofs, of this text or of one before
  /// Nothing more is to be learned of this text: a bug of ours ends its check.
  void giveUp() { checked = true; }

  /// From now on the job of this number (CostWorker.h) is that of the text as it is.
  void awaitCosts(std::uint64_t job) { awaited = job; }
  /// The result of a job. False: it is that of an earlier text, and nothing becomes of it.
  bool takeCosts(std::uint64_t job, Costs costs);
  /// Of the text as it is; nullptr: not known, or not yet.
  const Costs* costs() const { return known ? &*known : nullptr; }

  /// A place of the editor in the program, and a range of the program's own file for the editor.
  Loc loc(Position position) { return static_cast<Loc>(reading().source.base + current.offset(position)); }
  Span span(SrcRange range) {
    const Loc base = reading().source.base;
    return current.span(range.begin - base, range.end - base);
  }
  Span span(Piece piece) const { return current.span(piece.begin, piece.end); }

private:
  Text current;
  std::int64_t number;
  session::CompileSession session;
  std::optional<Reading> read;  ///< of the text as it is
  bool checked = false;
  bool begun = false;  ///< a check of it, which may have been ended
  std::uint64_t awaited = 0;
  std::optional<Costs> known;
};

/// The path of an address of the scheme "file", its escapes resolved; another address as it is.
std::string pathOf(const std::string& uri);
std::string uriOf(const std::string& path);

}  // namespace tbem::serve
