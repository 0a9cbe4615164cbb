#include "runtime/regress/Raw.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace tbem::regress {

namespace {

using design::Axis;
using design::Basis;
using design::Part;
using design::Term;
using design::Wide;

/// Coefficients, lowest power first, of P_degree((2 v - low - high) / (high - low)) as a polynomial in v.
std::vector<Wide> legendreInUnits(std::uint32_t degree, Axis axis) {
  const Wide span = axis.high - axis.low;
  const Wide slope = 2 / span, offset = -(axis.low + axis.high) / span;
  std::vector<Wide> previous{1}, current{offset, slope};
  if (degree == 0) return previous;
  for (std::uint32_t n = 1; n < degree; ++n) {
    std::vector<Wide> next(n + 2, 0);
    for (std::size_t i = 0; i < current.size(); ++i) {
      next[i] += Wide(2 * n + 1) * offset * current[i];
      next[i + 1] += Wide(2 * n + 1) * slope * current[i];
    }
    for (std::size_t i = 0; i < previous.size(); ++i) next[i] -= Wide(n) * previous[i];
    for (Wide& c : next) c /= Wide(n + 1);
    previous = std::move(current);
    current = std::move(next);
  }
  return current;
}

/// A monomial with, for each of its categorical parts in order, a level.
using Key = std::pair<std::vector<Part>, std::vector<std::uint32_t>>;
using Expansion = std::vector<std::pair<Key, Wide>>;

Expansion timesPart(const Expansion& expansion, const Basis& basis, Part part, std::uint32_t contrast) {
  Expansion out;
  const design::Factor& factor = basis.factors()[part.factor];
  for (const auto& [key, value] : expansion) {
    if (!factor.numeric()) {
      for (const auto& [level, sign] :
           {std::pair{contrast, 1}, std::pair{static_cast<std::uint32_t>(factor.levelCount() - 1), -1}}) {
        Key next = key;
        next.first.push_back(part);
        next.second.push_back(level);
        out.emplace_back(std::move(next), value * sign);
      }
      continue;
    }
    const std::vector<Wide> polynomial = legendreInUnits(part.degree, basis.axes()[part.factor]);
    for (std::uint32_t power = 0; power < polynomial.size(); ++power) {
      Key next = key;
      // Where a nested factor does not exist its polynomial is 0, its constant too: that is the factor to the power 0.
      if (power != 0 || factor.nested) next.first.push_back({part.factor, power});
      out.emplace_back(std::move(next), value * polynomial[power]);
    }
  }
  return out;
}

std::string rawName(const Basis& basis, const Term& term, const std::vector<std::uint32_t>& levels) {
  std::string text;
  std::size_t categorical = 0;
  for (const Part& part : term.parts) {
    const design::Factor& factor = basis.factors()[part.factor];
    if (!text.empty()) text += "*";
    text += factor.name;
    if (!factor.numeric()) text += "[" + factor.labels[levels[categorical++]] + "]";
    if (part.degree != 1) text += "^" + std::to_string(part.degree);
  }
  return text.empty() ? "1" : text;
}

}  // namespace

std::vector<RawCoefficient> rawCoefficients(const Basis& basis, const std::vector<Wide>& coefficients) {
  if (basis.throughOrigin()) {
    std::vector<RawCoefficient> same;
    for (std::size_t c = 0; c < basis.size(); ++c) same.push_back({basis.name(c), static_cast<double>(coefficients[c])});
    return same;
  }
  std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, Wide> sums;  // by term of the model and levels
  std::vector<Term> terms = basis.terms();
  for (std::size_t c = 0; c < basis.size(); ++c) {
    const auto& column = basis.columns()[c];
    const Term term = terms[column.term];
    Expansion expansion{{Key{}, coefficients[c]}};
    for (std::size_t p = 0; p < term.parts.size(); ++p)
      expansion = timesPart(expansion, basis, term.parts[p], column.contrasts[p]);
    for (const auto& [key, value] : expansion) {
      const auto at = std::find(terms.begin(), terms.end(), Term{key.first}) - terms.begin();
      if (at == static_cast<std::ptrdiff_t>(terms.size())) terms.push_back({key.first});
      sums[{static_cast<std::size_t>(at), key.second}] += value;
    }
  }
  std::vector<RawCoefficient> raw;
  raw.reserve(sums.size());
  for (const auto& [key, value] : sums) raw.push_back({rawName(basis, terms[key.first], key.second), static_cast<double>(value)});
  return raw;
}

}  // namespace tbem::regress
