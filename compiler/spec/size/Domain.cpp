#include "compiler/spec/size/Domain.h"

#include <algorithm>

namespace tbem::spec {

Interval Domain::hull() const {
  Interval made;
  if (!levels.empty()) {
    if (levels.front().isExact()) made.low = levels.front();
    if (levels.back().isExact()) made.high = levels.back();
    return made;
  }
  if (low) made.low = Rational::of(*low);
  if (high) made.high = Rational::of(*high);
  return made;
}

std::optional<std::vector<Rational>> Domain::values(std::size_t limit) const {
  if (!levels.empty()) return levels;
  if (isReal || !low || !high) return std::nullopt;
  std::vector<Rational> all;
  for (__int128 value = *low; value <= *high; ++value) {
    if (all.size() == limit) return std::nullopt;
    all.push_back(Rational::of(static_cast<std::int64_t>(value)));
  }
  return all;
}

Rational Domain::simplest() const {
  if (!levels.empty()) return contains({}) ? Rational{} : levels.front();
  return Rational::of(low && *low > 0 ? *low : high && *high < 0 ? *high : 0);
}

bool Domain::contains(const Rational& value) const {
  if (!levels.empty()) return std::find(levels.begin(), levels.end(), value) != levels.end();
  if (!isReal && !value.isInt()) return false;
  return (!low || compare(Rational::of(*low), value) <= 0) && (!high || compare(value, Rational::of(*high)) <= 0);
}

std::optional<Rational> smaller(std::optional<Rational> a, std::optional<Rational> b) {
  if (!a || !b) return a ? a : b;
  return compare(*a, *b) <= 0 ? a : b;
}
std::optional<Rational> larger(std::optional<Rational> a, std::optional<Rational> b) {
  if (!a || !b) return a ? a : b;
  return compare(*a, *b) >= 0 ? a : b;
}

Interval plus(const Interval& a, const Interval& b) {
  Interval made;
  if (a.low && b.low) made.low = add(*a.low, *b.low);
  if (a.high && b.high) made.high = add(*a.high, *b.high);
  return made;
}

// The hull of products; only where both have both ends, or both are not negative.
Interval times(const Interval& a, const Interval& b) {
  Interval made;
  const auto isNonNegative = [](const Interval& i) { return i.low && i.low->num >= 0; };
  if (isNonNegative(a) && isNonNegative(b)) {
    made.low = mul(*a.low, *b.low);
    if (a.high && b.high) made.high = mul(*a.high, *b.high);
    return made;
  }
  if (!a.low || !a.high || !b.low || !b.high) return made;
  bool first = true;
  for (const Rational x : {*a.low, *a.high}) {
    for (const Rational y : {*b.low, *b.high}) {
      const std::optional<Rational> product = mul(x, y);
      if (!product) return {};
      made.low = first ? product : smaller(made.low, product);
      made.high = first ? product : larger(made.high, product);
      first = false;
    }
  }
  return made;
}

Interval scaled(const Interval& a, const Rational& factor) {
  Interval made;
  if (factor.num == 0) return {Rational{}, Rational{}};
  const auto end = [&](const std::optional<Rational>& value) { return value ? mul(*value, factor) : std::nullopt; };
  made.low = end(factor.num > 0 ? a.low : a.high);
  made.high = end(factor.num > 0 ? a.high : a.low);
  return made;
}

Interval floorOfQuotient(const Interval& n, const Interval& d) {
  Interval made;
  if (!d.low || d.low->num <= 0) return made;
  if (n.low && n.low->num >= 0)
    made.low = d.high ? floorDiv(*n.low, *d.high) : Rational::of(0);
  else if (n.low)
    made.low = floorDiv(*n.low, *d.low);
  if (n.high && n.high->num >= 0)
    made.high = floorDiv(*n.high, *d.low);
  else if (n.high)
    made.high = d.high ? floorDiv(*n.high, *d.high) : Rational::of(-1);
  return made;
}

}  // namespace tbem::spec
