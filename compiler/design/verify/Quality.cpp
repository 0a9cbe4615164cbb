// Rank, condition and efficiency of model matrices.
#include "compiler/design/model/Contrasts.h"
#include "compiler/design/model/Qr.h"
#include "compiler/design/verify/Aliases.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tbem::design {

namespace {

/// What the levels of one factor contribute to the columns: levels x columns. Behind those of a nested factor, its absence.
Eigen::MatrixXd contributions(const Basis& basis, std::uint32_t f) {
  const Factor& factor = basis.factors()[f];
  const auto levels = static_cast<Eigen::Index>(factor.levelCount() + (factor.nested ? 1 : 0));
  Eigen::MatrixXd values = Eigen::MatrixXd::Ones(levels, static_cast<Eigen::Index>(basis.size()));
  for (std::size_t c = 0; c < basis.size(); ++c) {
    const auto& parts = basis.terms()[basis.columns()[c].term].parts;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (parts[part].factor != f) continue;
      for (Eigen::Index level = 0; level < levels; ++level)
        values(level, static_cast<Eigen::Index>(c)) =
            basis.partValue<double>(basis.columns()[c], part, coordinateOf(factor, static_cast<std::uint32_t>(level)));
    }
  }
  return values;
}

/// One state of a factor and of those nested in it: how often it stands, and its product in each column.
struct State {
  double weight = 1;
  Eigen::ArrayXd values;
};

/// A factor and its tree do not exist.
State absence(const Basis& basis, std::uint32_t root) {
  const Eigen::MatrixXd values = contributions(basis, root);
  State state{1, values.row(values.rows() - 1).transpose().array()};
  for (std::uint32_t child = 0; child < basis.factors().size(); ++child) {
    const std::optional<Nested>& nested = basis.factors()[child].nested;
    if (nested && nested->parent == root) state.values *= absence(basis, child).values;
  }
  return state;
}

/// The states of a factor and its tree where every level stands equally often wherever its factor exists.
std::vector<State> statesOf(const Basis& basis, std::uint32_t root) {
  const Eigen::MatrixXd values = contributions(basis, root);
  const std::size_t levels = basis.factors()[root].levelCount();
  std::vector<State> all;
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<State> states{
        {1.0 / static_cast<double>(levels), values.row(static_cast<Eigen::Index>(level)).transpose().array()}};
    for (std::uint32_t child = 0; child < basis.factors().size(); ++child) {
      const std::optional<Nested>& nested = basis.factors()[child].nested;
      if (!nested || nested->parent != root) continue;
      const bool exists = std::find(nested->under.begin(), nested->under.end(), level) != nested->under.end();
      const std::vector<State> inner = exists ? statesOf(basis, child) : std::vector<State>{absence(basis, child)};
      std::vector<State> products;
      for (const State& a : states) {
        for (const State& b : inner) products.push_back({a.weight * b.weight, a.values * b.values});
      }
      states = std::move(products);
    }
    all.insert(all.end(), states.begin(), states.end());
  }
  return all;
}

/// Means over all combinations of levels of the products of two columns: F'F/N of the full factorial, a product over factors with
/// what is nested in them.
Eigen::MatrixXd factorialMoments(const Basis& basis) {
  const auto p = static_cast<Eigen::Index>(basis.size());
  Eigen::MatrixXd moments = Eigen::MatrixXd::Ones(p, p);
  for (std::uint32_t f = 0; f < basis.factors().size(); ++f) {
    if (basis.factors()[f].nested) continue;
    Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(p, p);
    for (const State& state : statesOf(basis, f))
      mean += state.weight * state.values.matrix() * state.values.matrix().transpose();
    moments.array() *= mean.array();
  }
  return moments;
}

/// log |A| of a symmetric positive matrix; minus infinity where it is singular.
double logDeterminant(const Eigen::MatrixXd& a) {
  double sum = 0;
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
  for (const double value : values) {
    if (value <= 1e-13 * values.maxCoeff()) return -std::numeric_limits<double>::infinity();
    sum += std::log(value);
  }
  return sum;
}

/// Fills `inflation` and `inflated`: of the columns of a term, |R_tt| |(R^-1)_tt| in the correlations R of all columns but the
/// constant.
void findInflation(const Basis& basis, const Eigen::MatrixXd& x, ModelQuality& quality) {
  std::vector<Eigen::Index> columns;
  for (std::size_t c = 0; c < basis.size(); ++c) {
    if (!basis.terms()[basis.columns()[c].term].parts.empty()) columns.push_back(static_cast<Eigen::Index>(c));
  }
  if (columns.empty()) return;
  Eigen::MatrixXd centred = x(Eigen::all, columns);
  centred.rowwise() -= centred.colwise().mean().eval();
  centred.colwise().normalize();
  const Eigen::MatrixXd correlations = centred.transpose() * centred;
  const auto k = correlations.rows();
  const Eigen::MatrixXd inverse = correlations.ldlt().solve(Eigen::MatrixXd::Identity(k, k));
  for (Eigen::Index begin = 0, end = 0; begin < k; begin = end) {
    const auto termAt = [&](Eigen::Index i) {
      return basis.columns()[static_cast<std::size_t>(columns[static_cast<std::size_t>(i)])].term;
    };
    while (end < k && termAt(end) == termAt(begin)) ++end;
    const Eigen::Index d = end - begin;
    const double factor = correlations.block(begin, begin, d, d).determinant() * inverse.block(begin, begin, d, d).determinant();
    const double inflation = std::pow(std::max(1.0, factor), 1.0 / static_cast<double>(d));
    if (inflation <= quality.inflation * (1 + 1e-9)) continue;
    quality.inflation = inflation;
    quality.inflated = termAt(begin);
  }
}

}  // namespace

MainEffects mainEffects(const Array& array) {
  MainEffects result;
  const Eigen::MatrixXd x = mainEffectMatrix(array);
  result.parameters = static_cast<std::size_t>(x.cols());
  const Eigen::MatrixXd information = x.transpose() * x / static_cast<double>(array.runs);
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(information, Eigen::EigenvaluesOnly).eigenvalues();
  const double largest = values.maxCoeff();
  for (const double value : values) result.rank += value > 1e-10 * largest ? 1 : 0;
  result.condition =
      result.rank == result.parameters ? std::sqrt(largest / values.minCoeff()) : std::numeric_limits<double>::infinity();
  return result;
}

ModelQuality modelQuality(const Basis& basis, const std::vector<Point>& points) {
  ModelQuality quality;
  quality.parameters = basis.size();
  if (points.empty()) return quality;
  const Matrix wide = modelMatrix(basis, points);
  const LeastSquares solved = leastSquares(wide, std::vector<Wide>(points.size(), 0));
  quality.rank = solved.rank;
  for (const Dependency& dependency : solved.dependencies) quality.dependent.push_back(equationText(basis, dependency));
  const auto n = static_cast<Eigen::Index>(points.size()), p = static_cast<Eigen::Index>(basis.size());
  Eigen::MatrixXd x(n, p);
  for (Eigen::Index r = 0; r < n; ++r) {
    for (Eigen::Index c = 0; c < p; ++c)
      x(r, c) = static_cast<double>(wide(static_cast<std::size_t>(r), static_cast<std::size_t>(c)));
  }
  Eigen::MatrixXd unit = x;
  for (Eigen::Index c = 0; c < p; ++c) {
    if (unit.col(c).norm() > 0) unit.col(c).normalize();
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(unit, Eigen::ComputeThinU);
  const Eigen::VectorXd& singular = svd.singularValues();
  const bool full = quality.rank == quality.parameters;
  quality.condition = full ? singular(0) / singular(p - 1) : std::numeric_limits<double>::infinity();
  const auto rank = static_cast<Eigen::Index>(quality.rank);
  for (Eigen::Index r = 0; r < n; ++r) quality.leverages.push_back(svd.matrixU().row(r).head(rank).squaredNorm());
  quality.maxLeverage = *std::max_element(quality.leverages.begin(), quality.leverages.end());
  const Eigen::MatrixXd moments = factorialMoments(basis);
  if (full) {
    const Eigen::MatrixXd information = x.transpose() * x / static_cast<double>(n);
    quality.aEfficiency = static_cast<double>(p) / (moments * information.ldlt().solve(Eigen::MatrixXd::Identity(p, p))).trace();
    findInflation(basis, x, quality);
  } else {
    quality.inflation = std::numeric_limits<double>::infinity();
  }
  const double ours = logDeterminant(x.transpose() * x / static_cast<double>(n)), best = logDeterminant(moments);
  if (full && std::isfinite(ours) && std::isfinite(best)) quality.dEfficiency = std::exp((ours - best) / static_cast<double>(p));
  return quality;
}

}  // namespace tbem::design
