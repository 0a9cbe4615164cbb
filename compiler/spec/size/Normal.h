// Normal forms of expressions: what is equal for all values becomes the same object, as far as the rules below reach.
//
// Numbers are quotients of polynomials over atoms. Rules for floors (Graham, Knuth, Patashnik 1994, section 3.2), for divisors
// that are not 0: common factors cancel; floor((a x + y) / x) = a + floor(y / x) for whole a; floor((floor(x / a) + k) / b) =
// floor((x + k a) / (a b)) for whole k and b > 0; x mod b = x - b floor(x / b); ceil(x / b) = floor((x + b - 1) / b) for whole x
// and b > 0. Truth values are formulas in negation normal form over comparisons with 0.
#pragma once

#include "compiler/sema/Symbolic.h"
#include "compiler/spec/size/Domain.h"
#include "compiler/spec/size/Polynomial.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace tbem::spec {

using sema::ExprId;
using sema::SymbolId;

struct Formula {
  enum class Kind : std::uint8_t { True, False, Zero, NonZero, NonNegative, Positive, And, Or } kind = Kind::True;
  Poly poly;                   ///< of a comparison with 0
  std::vector<Formula> parts;  ///< And, Or

  bool isTrue() const { return kind == Kind::True; }
  bool isFalse() const { return kind == Kind::False; }
};

enum class AtomKind : std::uint8_t { Symbol, Floor, Choice, Opaque };

struct Atom {
  AtomKind kind{};
  SymbolId symbol{};  ///< Symbol; those from `firstFresh()` on are made by the normaliser
  Poly a, b;          ///< Floor: floor(a / b). Choice: `condition` ? a : b
  Formula condition;  ///< Choice
  ExprId expr{};      ///< Opaque: what no rule knows
  bool integral = true;
};

/// a / b
struct Fraction {
  Poly a, b;
};

class Normalizer {
public:
  Normalizer(const sema::ExprPool& pool, std::vector<Domain> domains);

  /// The condition, or its negation. Divisors are taken not to be 0.
  Formula formula(ExprId condition, bool negated = false);
  Fraction number(ExprId expr);
  /// Something left the range of numbers: results are not to be believed.
  bool failed() const { return algebra.failed(); }

  /// Takes a fact into account: bounds of symbols, equations that define one.
  void assume(const Formula& fact);
  /// The formula after all that was assumed; comparisons that bounds decide are decided.
  Formula simplify(const Formula& formula);
  /// Facts that no substitution used up, with the bounds of symbols that were replaced.
  const std::vector<Formula>& facts() const { return known; }
  bool contradiction() const { return impossible; }

  Interval bounds(const Poly& poly);
  bool isIntegral(const Poly& poly) const;
  Formula negated(const Formula& formula);
  const std::vector<Atom>& allAtoms() const { return atoms; }
  const std::vector<Domain>& allDomains() const { return domains; }
  /// Symbols on which a formula depends, by atoms.
  void symbolsIn(const Formula& formula, std::vector<bool>& seen) const;
  /// Values of replaced symbols from those of the others, in `values` by symbol. False where one has none.
  bool complete(std::vector<std::optional<Rational>>& values) const;
  const Interval& rangeOf(SymbolId symbol) const { return ranges[static_cast<std::size_t>(symbol)]; }
  const std::vector<Interval>& allRanges() const { return ranges; }
  bool isReplaced(SymbolId symbol) const { return replaced.count(static_cast<std::uint32_t>(symbol)) != 0; }
  std::uint32_t firstFresh() const { return fresh; }

  AtomId symbolAtom(SymbolId symbol);
  Poly floorOf(Poly n, Poly d);

private:
  // Normal.cpp
  void prepare(ExprId root);
  Fraction makeNumber(ExprId expr);
  Fraction combine(sema::ExprOp op, const Fraction& a, const Fraction& b, ExprId expr);
  Fraction opaque(ExprId expr, bool integral);
  Fraction choice(Formula condition, const Fraction& a, const Fraction& b);
  AtomId intern(Atom atom);
  // NormalFloor.cpp
  void cancelCommon(Poly& n, Poly& d);
  Poly pullMultiples(Poly& n, const Poly& d);
  bool flatten(Poly& n, Poly& d);
  // NormalFormula.cpp
  Formula makeFormula(ExprId expr, bool negated);
  Formula compareNumbers(sema::ExprOp op, const Fraction& a, const Fraction& b, bool negated);
  Formula literal(Formula::Kind kind, Poly poly);
  // Facts.cpp
  void learn(const Formula& fact);
  bool replace(const Poly& equation);
  bool replaceDividend(const Poly& equation, AtomId floor);
  bool substitute(SymbolId symbol, const Poly& by);
  void tighten(const Poly& nonNegative);
  Poly rebuild(const Poly& poly, std::unordered_map<AtomId, Poly>& done);
  Formula rebuild(const Formula& formula, std::unordered_map<AtomId, Poly>& done);
  std::optional<bool> decide(Formula::Kind kind, const Poly& poly);
  bool followsFromFacts(const Poly& nonNegative);
  Interval boundsOf(AtomId atom);
  std::optional<Rational> valueOf(const Poly& poly, const std::vector<std::optional<Rational>>& values) const;
  std::optional<bool> valueOf(const Formula& formula, const std::vector<std::optional<Rational>>& values) const;

  const sema::ExprPool& pool;
  std::vector<Domain> domains;  ///< by symbol, fresh ones behind
  std::uint32_t fresh = 0;
  Algebra algebra;
  std::vector<Atom> atoms;
  std::map<std::string, AtomId> byText;
  std::unordered_map<std::uint32_t, Fraction> numbers;  ///< by expression
  std::map<std::uint32_t, Poly> replaced;               ///< by symbol: equal to this
  std::vector<Formula> known;
  std::vector<std::optional<Interval>> intervals;  ///< by atom, as far as computed
  std::vector<Interval> ranges;                    ///< by symbol: the domain's hull, tightened by facts
  bool impossible = false;
  int depth = 0;
};

/// And, Or with the simple identities.
Formula allOf(std::vector<Formula> parts);
Formula anyOf(std::vector<Formula> parts);
Formula truth(bool value);

}  // namespace tbem::spec
