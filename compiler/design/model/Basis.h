// Columns of the model matrix: products of Legendre polynomials over the factors' ranges and of sum-to-zero contrasts; of a model
// without the constant, products of powers.
#pragma once

#include "compiler/design/model/Terms.h"
#include "compiler/design/model/Wide.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tbem::design {

/// Where a basis stands on the axis of a numeric factor: [low, high] is mapped to [-1, 1].
struct Axis {
  Wide low = -1, high = 1;
};

/// The basis of a model. A term of numeric factors is one column, the product of Legendre polynomials P_degree of each factor
/// scaled to
/// [-1, 1] over its levels; a categorical factor of K levels gives K-1 columns: column k is 1 at level k, -1 at the last level,
/// else 0. Where a nested factor does not exist, columns of it are 0. A model through the origin, which Legendre
/// polynomials do not keep, has the terms themselves as columns, in the factors' units. Immutable, free of shared state.
class Basis {
public:
  Basis(std::vector<Factor> factors, std::vector<Term> terms, bool throughOrigin = false);

  struct Column {
    std::uint32_t term = 0;                ///< index into terms()
    std::vector<std::uint32_t> contrasts;  ///< by part of the term: the level of a categorical part, else 0
  };
  std::size_t size() const { return cols.size(); }
  const std::vector<Column>& columns() const { return cols; }
  const std::vector<Factor>& factors() const { return allFactors; }
  const std::vector<Term>& terms() const { return allTerms; }
  const std::vector<Axis>& axes() const { return allAxes; }
  bool throughOrigin() const { return isThroughOrigin; }
  /// "1", "P1(batch)", "P2(batch)", "P1(batch)*P1(depth)", "optimizer[sgd]"; "batch^2" of a model through the origin.
  std::string name(std::size_t column) const;

  /// Writes size() numbers for a point. `Real`: double or Wide, which takes coordinates as decimals.
  template <class Real>
  void evaluate(std::span<const double> point, Real* out) const;
  /// The factor of a column that comes from part `p` of its term, where that part's factor has this coordinate.
  template <class Real>
  Real partValue(const Column& column, std::size_t p, Real coordinate) const;

private:
  std::vector<Factor> allFactors;
  std::vector<Term> allTerms;
  std::vector<Axis> allAxes;
  std::vector<Column> cols;
  bool isThroughOrigin = false;
};

/// P_degree(x) by Bonnet's recursion (degree + 1) P_{degree+1} = (2 degree + 1) x P_degree - degree P_{degree-1}.
template <class Real>
Real legendre(std::uint32_t degree, Real x) {
  Real previous = 1, current = x;
  if (degree == 0) return previous;
  for (std::uint32_t n = 1; n < degree; ++n) {
    const Real next = (Real(2 * n + 1) * x * current - Real(n) * previous) / Real(n + 1);
    previous = current;
    current = next;
  }
  return current;
}

/// x^degree.
template <class Real>
Real power(std::uint32_t degree, Real x) {
  Real product = 1;
  for (std::uint32_t n = 0; n < degree; ++n) product *= x;
  return product;
}

template <class Real>
Real Basis::partValue(const Column& column, std::size_t p, Real coordinate) const {
  if (coordinate != coordinate) return Real(0);  // not a number
  const Part part = allTerms[column.term].parts[p];
  const Factor& factor = allFactors[part.factor];
  if (!factor.numeric()) {
    const auto level = static_cast<std::size_t>(coordinate);
    return level == column.contrasts[p] ? Real(1) : level + 1 == factor.levelCount() ? Real(-1) : Real(0);
  }
  if (isThroughOrigin) return power(part.degree, coordinate);
  const Axis axis = allAxes[part.factor];
  const Real span = Real(axis.high) - Real(axis.low);
  return legendre(part.degree, span == Real(0) ? Real(0) : (Real(2) * coordinate - Real(axis.low) - Real(axis.high)) / span);
}

template <class Real>
void Basis::evaluate(std::span<const double> point, Real* out) const {
  std::vector<Real> coordinates;
  for (const double coordinate : point) {
    if constexpr (std::is_same_v<Real, Wide>)
      coordinates.push_back(std::isnan(coordinate) ? Wide(coordinate) : decimal(coordinate));
    else
      coordinates.push_back(coordinate);
  }
  for (std::size_t c = 0; c < cols.size(); ++c) {
    const std::vector<Part>& parts = allTerms[cols[c].term].parts;
    out[c] = 1;
    for (std::size_t p = 0; p < parts.size(); ++p) out[c] *= partValue<Real>(cols[c], p, coordinates[parts[p].factor]);
  }
}

}  // namespace tbem::design
