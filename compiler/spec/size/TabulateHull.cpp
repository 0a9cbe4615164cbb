// What intervals alone say of an expression.
#include "compiler/spec/size/Tabulate.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprNode;
using sema::ExprOp;

namespace {
std::uint32_t raw(ExprId id) { return static_cast<std::uint32_t>(id); }
}  // namespace

Interval Tabulation::hullOfSymbol(sema::SymbolId symbol) const {
  const std::vector<Rational>& values = levels[static_cast<std::size_t>(symbol)];
  const bool real = pool[symbol].runtime;
  const auto fits = [&](const Rational& value) { return real || value.isInt(); };
  if (values.empty() || !std::all_of(values.begin(), values.end(), fits)) return {};
  const auto less = [](const Rational& a, const Rational& b) { return compare(a, b) < 0; };
  const auto [least, most] = std::minmax_element(values.begin(), values.end(), less);
  return Domain{{*least, *most}, {}, {}}.hull();
}

/// Of comparisons, of what is made of truth values, and of a choice by one.
Interval Tabulation::hullOfTruth(const ExprNode& node) const {
  const auto of = [&](ExprId id) { return hulls[raw(id)]; };
  const auto truth = [](bool value) { return Interval{Rational::of(value ? 1 : 0), Rational::of(value ? 1 : 0)}; };
  const Interval either{Rational::of(0), Rational::of(1)};
  const auto isYes = [](const Interval& i) { return (i.low && i.low->num > 0) || (i.high && i.high->num < 0); };
  const auto isNo = [](const Interval& i) { return i.low && i.high && i.low->num == 0 && i.high->num == 0; };
  const auto below = [](const std::optional<Rational>& a, const std::optional<Rational>& b, int least) {
    return a && b && compare(*a, *b) <= least;
  };
  switch (node.op) {
    case ExprOp::Less:
      if (below(of(node.a).high, of(node.b).low, -1)) return truth(true);
      return below(of(node.b).high, of(node.a).low, 0) ? truth(false) : either;
    case ExprOp::LessEqual:
      if (below(of(node.a).high, of(node.b).low, 0)) return truth(true);
      return below(of(node.b).high, of(node.a).low, -1) ? truth(false) : either;
    case ExprOp::Equal: {
      const Interval a = of(node.a), b = of(node.b);
      if (below(a.high, b.low, -1) || below(b.high, a.low, -1)) return truth(false);
      const bool same = a.low && a.high && b.low && b.high && *a.low == *a.high && *b.low == *b.high && *a.low == *b.low;
      return same ? truth(true) : either;
    }
    case ExprOp::And:
      return isNo(of(node.a)) ? truth(false) : isYes(of(node.a)) && isYes(of(node.b)) ? truth(true) : either;
    case ExprOp::Or:
      return isYes(of(node.a)) ? truth(true) : isNo(of(node.a)) && isNo(of(node.b)) ? truth(false) : either;
    case ExprOp::Not:
      return isYes(of(node.a)) ? truth(false) : isNo(of(node.a)) ? truth(true) : either;
    case ExprOp::Select: {
      if (isYes(of(node.a))) return of(node.b);
      if (isNo(of(node.a))) return of(node.c);
      Interval made;
      if (of(node.b).low && of(node.c).low) made.low = smaller(of(node.b).low, of(node.c).low);
      if (of(node.b).high && of(node.c).high) made.high = larger(of(node.b).high, of(node.c).high);
      return made;
    }
    default:
      return {};
  }
}

Interval Tabulation::makeHull(const ExprNode& node) const {
  const auto of = [&](ExprId id) { return hulls[raw(id)]; };
  switch (node.op) {
    case ExprOp::Constant:
      return Domain{{node.value}, {}, {}}.hull();
    case ExprOp::Symbol:
      return hullOfSymbol(node.symbol);
    case ExprOp::Add:
      return plus(of(node.a), of(node.b));
    case ExprOp::Sub:
      return plus(of(node.a), scaled(of(node.b), Rational::of(-1)));
    case ExprOp::Mul:
      return times(of(node.a), of(node.b));
    case ExprOp::FloorDiv:
      return floorOfQuotient(of(node.a), of(node.b));
    case ExprOp::CeilDiv:
      return scaled(floorOfQuotient(scaled(of(node.a), Rational::of(-1)), of(node.b)), Rational::of(-1));
    case ExprOp::Mod: {
      const Interval d = of(node.b);
      if (!d.low || d.low->num <= 0) return {};
      return {Rational::of(0), d.high};
    }
    case ExprOp::Min: {
      const Interval a = of(node.a), b = of(node.b);
      Interval made;
      if (a.low && b.low) made.low = smaller(a.low, b.low);
      made.high = smaller(a.high, b.high);
      return made;
    }
    case ExprOp::Max: {
      const Interval a = of(node.a), b = of(node.b);
      Interval made;
      made.low = larger(a.low, b.low);
      if (a.high && b.high) made.high = larger(a.high, b.high);
      return made;
    }
    default:
      return hullOfTruth(node);
  }
}

Interval Tabulation::hull(ExprId expr) {
  for (std::size_t id = hulls.size(); id <= raw(expr); ++id) hulls.push_back(makeHull(pool[static_cast<ExprId>(id)]));
  return hulls[raw(expr)];
}

}  // namespace tbem::spec
