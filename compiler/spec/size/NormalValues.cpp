// Values of normal forms, and the symbols in them.
#include "compiler/spec/size/Normal.h"

#include <algorithm>

namespace tbem::spec {

void Normalizer::symbolsIn(const Formula& formula, std::vector<bool>& seen) const {
  seen.resize(std::max(seen.size(), domains.size()), false);
  std::vector<bool> visited(atoms.size(), false);
  std::vector<const Formula*> formulas{&formula};
  std::vector<const Poly*> polys;
  while (!formulas.empty() || !polys.empty()) {
    if (!formulas.empty()) {
      const Formula* next = formulas.back();
      formulas.pop_back();
      polys.push_back(&next->poly);
      for (const Formula& part : next->parts) formulas.push_back(&part);
      continue;
    }
    const Poly* poly = polys.back();
    polys.pop_back();
    for (const Term& term : poly->terms) {
      for (const AtomId id : term.monomial) {
        if (visited[id]) continue;
        visited[id] = true;
        const Atom& atom = atoms[id];
        if (atom.kind == AtomKind::Symbol) seen[static_cast<std::size_t>(atom.symbol)] = true;
        if (atom.kind == AtomKind::Opaque) {
          for (const SymbolId symbol : pool.symbolsOf(atom.expr)) seen[static_cast<std::size_t>(symbol)] = true;
        }
        polys.push_back(&atom.a);
        polys.push_back(&atom.b);
        if (atom.kind == AtomKind::Choice) formulas.push_back(&atom.condition);
      }
    }
  }
}

bool Normalizer::complete(std::vector<std::optional<Rational>>& values) const {
  values.resize(domains.size());
  for (const auto& [symbol, poly] : replaced) {
    const std::optional<Rational> value = valueOf(poly, values);
    if (!value) return false;
    values[symbol] = value;
  }
  return true;
}

std::optional<Rational> Normalizer::valueOf(const Poly& poly, const std::vector<std::optional<Rational>>& values) const {
  std::optional<Rational> sum = Rational{};
  for (const Term& term : poly.terms) {
    std::optional<Rational> product = term.coefficient;
    for (const AtomId id : term.monomial) {
      const Atom& atom = atoms[id];
      std::optional<Rational> value;
      if (atom.kind == AtomKind::Symbol) {
        value = values[static_cast<std::size_t>(atom.symbol)];
      } else if (atom.kind == AtomKind::Floor) {
        const auto n = valueOf(atom.a, values);
        const auto d = valueOf(atom.b, values);
        if (n && d && d->num != 0) value = floorDiv(*n, *d);
      } else if (atom.kind == AtomKind::Choice) {
        const std::optional<bool> chosen = valueOf(atom.condition, values);
        if (chosen) value = valueOf(*chosen ? atom.a : atom.b, values);
      }
      product = product && value ? mul(*product, *value) : std::nullopt;
      if (!product) return std::nullopt;
    }
    sum = sum ? add(*sum, *product) : std::nullopt;
  }
  return sum;
}

std::optional<bool> Normalizer::valueOf(const Formula& formula, const std::vector<std::optional<Rational>>& values) const {
  using enum Formula::Kind;
  if (formula.isTrue() || formula.isFalse()) return formula.isTrue();
  if (formula.kind == And || formula.kind == Or) {
    for (const Formula& part : formula.parts) {
      const std::optional<bool> value = valueOf(part, values);
      if (!value) return std::nullopt;
      if (*value == (formula.kind == Or)) return *value;
    }
    return formula.kind == And;
  }
  const std::optional<Rational> value = valueOf(formula.poly, values);
  if (!value) return std::nullopt;
  switch (formula.kind) {
    case Zero:
      return value->num == 0;
    case NonZero:
      return value->num != 0;
    case NonNegative:
      return value->num >= 0;
    default:
      return value->num > 0;
  }
}

}  // namespace tbem::spec
