// A process as conditions over unknowns: what proofs and tests of a specification read.
//
// SOFL (Liu, Offutt, Ho-Stuart, Sun, Ohba 1998) writes a process as `pre` and `post` over its ports and the external variables it
// reads (`rd`) or writes (`wr`). Each port's variable is one unknown; one that is written has two, before (`~x`) and after. Ports
// separated by `|` exclude each other; `bound(x)` says that the port of x has data.
#pragma once

#include "compiler/sema/Modules.h"
#include "compiler/sema/Symbolic.h"
#include "compiler/spec/Domain.h"
#include "compiler/support/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace tbem::spec {

using sema::ExprId;
using sema::SymbolId;

/// One unknown; its symbol is its position. "x", "~x", "bound(x)".
struct Unknown {
  std::string name;
  SrcRange range;
  bool isOutput = false;  ///< what `post` determines
  bool isTruth = false;
  std::optional<std::size_t> port;  ///< of a port beside others: position of its `bound(...)`
};

/// A condition with its logical structure, quantifiers written out, `=>`, `<=>` and `if` replaced, negations at the leaves.
struct Condition {
  enum class Kind : std::uint8_t { Atom, And, Or } kind = Kind::Atom;
  ExprId expr{};     ///< the whole
  std::string text;  ///< as the user wrote it, or as it came to be
  SrcRange range;
  std::vector<Condition> parts;
};

struct ProcessModel {
  const ast::Decl* decl = nullptr;
  const ast::Process* process = nullptr;  ///< nullptr: the conditions of a network, block or operator
  sema::ExprPool pool;
  std::vector<Unknown> unknowns;  ///< by symbol
  std::vector<Domain> domains;    ///< by symbol
  std::vector<ExprId> axioms;     ///< of ports that exclude each other
  ExprId pre{};                   ///< true where there is none
  Condition post;
  /// Each `/` whose quotient is over unknowns: its text, and the divisor's and dividend's expressions.
  struct Quotient {
    const ast::Binary* text = nullptr;
    ExprId left{}, right{};
  };
  std::vector<Quotient> quotients;

  bool mentionsOutputs(ExprId expr) const;
  /// Whether unknown `s` is a `bound(x)`.
  bool isPresence(std::size_t s) const;
  /// "W1 = 224, F = 7": values by the user's names, truth values as words.
  std::string describe(const std::vector<std::pair<SymbolId, Rational>>& values) const;
  std::string describe(SymbolId symbol, const Rational& value) const;
};

/// Reads a process; mistakes are reported. Nothing where there were some.
std::optional<ProcessModel> readProcess(Session& session, const sema::Program& program, const sema::Module& module,
                                        const ast::Process& process);

/// Reports an alternative of `post` that says nothing of the outputs because `and` binds closer than `or`, with the parentheses
/// as a fix. True where there is one: its scenarios are not what was meant.
bool reportLostParentheses(Session& session, const ast::Process& process);

}  // namespace tbem::spec
