// Points that meet conditions: by seeded moves from one to the next, and by proof (Prove.h) where moves do not lead there. The
// same seed gives the same points on every machine. Internal to this folder.
#pragma once

#include "compiler/spec/prove/Prove.h"
#include "compiler/spec/size/Points.h"
#include "compiler/support/Random.h"

#include <optional>
#include <vector>

namespace tbem::spec {

/// What a point has to meet.
struct Wanted {
  std::vector<ExprId> conditions;  ///< all true
  ExprId zero = sema::kNoExpr;     ///< an expression that is 0, where given
};

class Sampler {
public:
  /// `inputs`: the symbols that get values; `domains` by symbol.
  Sampler(sema::ExprPool& pool, const std::vector<Domain>& domains, std::vector<SymbolId> inputs, std::uint64_t seed);

  /// A point that meets what is wanted, near `from` where that is given. Nothing where there is none, or none was found: see
  /// `undecided`.
  std::optional<Point> find(const Wanted& wanted, const Point* from);
  /// Moves from a point that meets what is wanted to others that do.
  Point wander(const Wanted& wanted, Point from, unsigned moves);
  /// Whether the last `find` ended without a proof that there is no such point.
  bool undecided() const { return open; }

private:
  class Judge;
  std::optional<Point> moveTo(Judge& judge, const Point& from);
  std::optional<Point> prove(const Wanted& wanted, const Point* from, const std::vector<SymbolId>& pinned);
  bool correct(Judge& judge, Point& point, SymbolId symbol);
  bool correctAny(Judge& judge, Point& point, std::optional<SymbolId> but);
  Rational propose(SymbolId symbol, const Rational& now);
  const Domain& domainOf(SymbolId symbol) const { return domains[static_cast<std::size_t>(symbol)]; }

  sema::ExprPool& pool;
  std::vector<Domain> domains;
  std::vector<SymbolId> inputs;
  Random random;
  bool open = false;
};

}  // namespace tbem::spec
