// A process as conditions over unknowns: what proofs and tests of a specification read.
//
// SOFL (Liu, Offutt, Ho-Stuart, Sun, Ohba 1998) writes a process as `pre` and `post` over its ports and the external variables it
// reads (`rd`) or writes (`wr`). Each port's variable is one unknown; one that is written has two, before (`~x`) and after. Ports
// separated by `|` exclude each other; `bound(x)` says that the port of x has data.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Symbolic.h"
#include "compiler/spec/size/Domain.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::spec {

using sema::ExprId;
using sema::SymbolId;

/// One unknown; its symbol is its position. "x", "~x", "bound(x)"; of a sequence or set "len(x)", "x(1)", "3 inset x".
struct Unknown {
  std::string name;
  SrcRange range;
  bool isOutput = false;  ///< what `post` determines
  bool isTruth = false;
  bool isWord = false;              ///< a member of an enumeration, or a text: its value is a number of `words`
  std::optional<std::size_t> port;  ///< of a port beside others: position of its `bound(...)`
};

/// What bears a name in the text: one unknown, or those of a sequence or set.
struct Variable {
  enum class Shape : std::uint8_t { Plain, Sequence, Set } shape = Shape::Plain;
  std::string name;
  bool isOutput = false;
  std::optional<std::size_t> port;   ///< as of its unknowns
  std::optional<SymbolId> size;      ///< how many elements there are; nothing for a set with `candidates`
  std::vector<SymbolId> symbols;     ///< the unknown; elements, as many as are looked at; or for each candidate, whether it is in
  std::vector<Rational> candidates;  ///< of a set whose members are these at most
  std::vector<Variable> elements;    ///< of a sequence or set of sequences or sets: these, in place of `symbols`
  bool isCut = false;                ///< it may have more elements than are looked at
  std::string bound;                 ///< a condition that says how many, as in "len(s) <= 8"; empty: none is understood
  bool isTruth = false, isWord = false;  ///< its elements

  /// All that it is made of, as the elements of its elements.
  std::vector<SymbolId> unknowns() const;
  bool has(SymbolId symbol) const;
  /// Elements that are looked at.
  std::size_t looked() const { return std::max(symbols.size(), elements.size()); }
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
  std::vector<Unknown> unknowns;    ///< by symbol
  std::vector<Domain> domains;      ///< by symbol
  std::vector<Variable> variables;  ///< in order of the text, without `bound(x)`
  std::vector<std::string> words;   ///< members of enumerations as written, `<north>`, and texts; the first is number kFirstWord
  std::vector<ExprId> axioms;       ///< of ports that exclude each other
  ExprId pre{};                     ///< true where there is none
  Condition post;
  /// Each `/` whose quotient is over unknowns: its text, and the divisor's and dividend's expressions.
  struct Quotient {
    const ast::Binary* text = nullptr;
    ExprId left{}, right{};
  };
  std::vector<Quotient> quotients;

  static constexpr std::int64_t kFirstWord = std::int64_t{1} << 40;  // no number that a specification is likely to have

  bool mentionsOutputs(ExprId expr) const;
  /// The word of a number, which is one.
  const std::string& wordOf(const Rational& value) const { return words[static_cast<std::size_t>(value.num - kFirstWord)]; }
  /// How many elements a sequence has at a point, of those that are looked at; and so has a set without `candidates`.
  std::size_t countOf(const Variable& variable, std::span<const std::optional<Rational>> point) const;
  /// The elements of a sequence or set of plain ones at a point, as far as they have values; of a plain one, its value.
  std::vector<Rational> itemsOf(const Variable& variable, std::span<const std::optional<Rational>> point) const;
  /// Gives unknowns that are no part of their sequence at this point a fixed value: equal sequences are equal points.
  void normalize(std::vector<std::optional<Rational>>& point) const;
  /// A variable, or an element of one, some of whose elements are not looked at and that one of these expressions mentions; or
  /// nullptr.
  const Variable* cutIn(std::span<const ExprId> exprs) const;
  /// Whether unknown `s` is a `bound(x)`.
  bool isPresence(std::size_t s) const;
  /// "W1 = 224, F = 7": values by the user's names, truth values as words.
  std::string describe(const std::vector<std::pair<SymbolId, Rational>>& values) const;
  std::string describe(const Variable& variable, std::span<const std::optional<Rational>> point) const;
};

/// Reads a process; mistakes are reported. Nothing where there were some.
std::optional<ProcessModel> readProcess(Session& session, const sema::Program& program, const sema::Module& module,
                                        const ast::Process& process);

/// Reports an alternative of `post` that says nothing of the outputs because `and` binds closer than `or`, with the parentheses
/// as a fix. True where there is one: its scenarios are not what was meant.
bool reportLostParentheses(Session& session, const ast::Process& process);

}  // namespace tbem::spec
