#include "compiler/design/model/Qr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

/// Columns of the matrix, each contiguous and of unit length, with their former lengths (0 stays 0).
struct Columns {
  std::vector<std::vector<Wide>> column;
  std::vector<Wide> length;
};

Wide dot(const std::vector<Wide>& a, const std::vector<Wide>& b, std::size_t from) {
  Wide sum = 0;
  for (std::size_t i = from; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// What is left of a column from row `from` on, squared: only to choose a pivot, so double will do.
double roughRest(const std::vector<Wide>& column, std::size_t from) {
  double sum = 0;
  for (std::size_t i = from; i < column.size(); ++i) sum += static_cast<double>(column[i]) * static_cast<double>(column[i]);
  return sum;
}

Columns unitColumns(const Matrix& x) {
  Columns out;
  for (std::size_t c = 0; c < x.columns; ++c) {
    std::vector<Wide> column(x.rows);
    for (std::size_t r = 0; r < x.rows; ++r) column[r] = x(r, c);
    const Wide length = squareRoot(dot(column, column, 0));
    if (length > 0) {
      for (Wide& cell : column) cell /= length;
    }
    out.column.push_back(std::move(column));
    out.length.push_back(length);
  }
  return out;
}

/// The reflector that maps `column` from row k on to a multiple of the unit vector k; returns the diagonal element of R.
Wide makeReflector(std::vector<Wide>& column, std::size_t k, Wide norm, std::vector<Wide>& v) {
  const Wide diagonal = column[k] > 0 ? -norm : norm;
  v.assign(column.size(), 0);
  for (std::size_t i = k; i < column.size(); ++i) v[i] = column[i];
  v[k] -= diagonal;
  const Wide length = squareRoot(dot(v, v, k));
  for (std::size_t i = k; i < v.size(); ++i) v[i] /= length;
  return diagonal;
}

void reflect(const std::vector<Wide>& v, std::size_t k, std::vector<Wide>& target) {
  const Wide twice = 2 * dot(v, target, k);
  for (std::size_t i = k; i < target.size(); ++i) target[i] -= twice * v[i];
}

/// Solves R w = b for the leading `size` x `size` block of an upper triangle held in columns.
std::vector<Wide> backSubstitute(const std::vector<std::vector<Wide>>& r, const std::vector<Wide>& b, std::size_t size) {
  std::vector<Wide> w(size, 0);
  for (std::size_t i = size; i-- > 0;) {
    Wide sum = b[i];
    for (std::size_t j = i + 1; j < size; ++j) sum -= r[j][i] * w[j];
    w[i] = sum / r[i][i];
  }
  return w;
}

/// Columns that earlier ones determine: the same reflections without pivoting, so that simple terms stay and later ones are
/// named.
std::vector<Dependency> findDependencies(const Matrix& x, double tolerance) {
  Columns unit = unitColumns(x);
  std::vector<Dependency> found;
  std::vector<std::size_t> kept;
  std::vector<std::vector<Wide>> triangle, reflectors;
  for (std::size_t c = 0; c < x.columns; ++c) {
    std::vector<Wide> column = unit.column[c];
    for (std::size_t k = 0; k < kept.size(); ++k) reflect(reflectors[k], k, column);
    const std::size_t k = kept.size();
    const Wide rest = k < x.rows ? squareRoot(dot(column, column, k)) : Wide(0);
    if (rest >= Wide(tolerance)) {
      std::vector<Wide> v;
      const Wide diagonal = makeReflector(column, k, rest, v);
      column[k] = diagonal;
      triangle.push_back(std::move(column));
      reflectors.push_back(std::move(v));
      kept.push_back(c);
      continue;
    }
    Dependency dependency{c, {}, {}};
    const std::vector<Wide> weights = backSubstitute(triangle, column, k);
    for (std::size_t i = 0; i < k; ++i) {
      if (unit.length[c] == 0 || absolute(weights[i]) < Wide(1e-8)) continue;
      dependency.basis.push_back(kept[i]);
      dependency.weights.push_back(weights[i] * unit.length[c] / unit.length[kept[i]]);
    }
    found.push_back(std::move(dependency));
  }
  return found;
}

}  // namespace

LeastSquares leastSquares(const Matrix& x, const std::vector<Wide>& y, double tolerance) {
  const std::size_t n = x.rows, p = x.columns;
  Columns unit = unitColumns(x);
  std::vector<std::size_t> order(p);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<Wide>>& a = unit.column;
  std::vector<Wide> rhs = y, v;
  LeastSquares result;
  for (std::size_t k = 0; k < std::min(n, p); ++k) {
    std::size_t best = k;
    double most = -1;
    for (std::size_t c = k; c < p; ++c) {
      const double rest = roughRest(a[c], k);
      if (rest > most * (1 + 1e-12)) {  // ties go to the earlier column
        most = rest;
        best = c;
      }
    }
    const Wide norm = squareRoot(dot(a[best], a[best], k));
    if (norm < Wide(tolerance)) break;
    std::swap(a[k], a[best]);
    std::swap(order[k], order[best]);
    const Wide diagonal = makeReflector(a[k], k, norm, v);
    for (std::size_t c = k; c < p; ++c) reflect(v, k, a[c]);
    reflect(v, k, rhs);
    a[k][k] = diagonal;
    ++result.rank;
  }
  if (result.rank < p) {
    result.dependencies = findDependencies(x, tolerance);
    return result;
  }
  const std::vector<Wide> scaled = backSubstitute(a, rhs, p);
  result.coefficients.assign(p, 0);
  for (std::size_t i = 0; i < p; ++i) result.coefficients[order[i]] = scaled[i] / unit.length[order[i]];
  for (std::size_t r = 0; r < n; ++r) {
    Wide fitted = 0;
    for (std::size_t c = 0; c < p; ++c) fitted += x(r, c) * result.coefficients[c];
    result.residuals.push_back(y[r] - fitted);
    result.residualSumOfSquares += result.residuals.back() * result.residuals.back();
  }
  result.rootInverse = Matrix(p, p);
  result.unitR.assign(p * p, 0);
  for (std::size_t j = 0; j < p; ++j) {
    std::vector<Wide> e(p, 0);
    e[j] = 1;
    const std::vector<Wide> column = backSubstitute(a, e, p);
    for (std::size_t i = 0; i < p; ++i) result.rootInverse(order[i], j) = column[i] / unit.length[order[i]];
    for (std::size_t i = 0; i <= j; ++i) result.unitR[i * p + j] = static_cast<double>(a[j][i]);
  }
  return result;
}

Matrix modelMatrix(const Basis& basis, const std::vector<Point>& points) {
  Matrix x(points.size(), basis.size());
  for (std::size_t r = 0; r < points.size(); ++r) basis.evaluate<Wide>(points[r], &x.cells[r * basis.size()]);
  return x;
}

std::string equationText(const Basis& basis, const Dependency& dependency) {
  if (dependency.basis.empty()) return fmt::format("{} = 0 in these rows", basis.name(dependency.column));
  std::string right;
  for (std::size_t i = 0; i < dependency.basis.size(); ++i) {
    const double weight = static_cast<double>(dependency.weights[i]);
    const std::string name = basis.name(dependency.basis[i]);
    right += right.empty() ? (weight < 0 ? "-" : "") : weight < 0 ? " - " : " + ";
    const bool one = std::fabs(std::fabs(weight) - 1) < 1e-9;
    right += one           ? name
             : name == "1" ? fmt::format("{:.6g}", std::fabs(weight))
                           : fmt::format("{:.6g} {}", std::fabs(weight), name);
  }
  return fmt::format("{} = {} in these rows", basis.name(dependency.column), right);
}

}  // namespace tbem::design
