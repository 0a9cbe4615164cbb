// Clause and option `tune`: whether a program runs the backend's default algorithms or those that were the fastest when they were
// timed on this machine.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/tree/Ast.h"

#include <optional>
#include <string>
#include <string_view>

namespace tbem::driver {

/// `off` is the default: the backend's default algorithms, which are the same in every command on one kind of processor.
struct Tuning {
  enum class Kind { Off, On, Within } kind = Kind::Off;
  double percent = 0;  ///< Within: the arena may be larger than that of the default algorithms by so much
  bool times() const { return kind != Kind::Off; }
};

/// "off", "on", "within 10 %".
std::string text(const Tuning& tuning);
/// What `--tune` says. Nothing: it is none of these forms, with 0 to 1000 %.
std::optional<Tuning> parseTuning(std::string_view text);
/// What a clause `tune` of `measure` or `train` says: `on`, `off`, `within(percent: 10)`. Nothing after a report to `sink`.
std::optional<Tuning> readTuning(const ast::Clause& clause, DiagnosticSink& sink, const SourceManager& sources);
/// The clause `tune` of a list of clauses, or nullptr.
const ast::Clause* tuneClause(const std::vector<ast::Clause>& clauses);

}  // namespace tbem::driver
