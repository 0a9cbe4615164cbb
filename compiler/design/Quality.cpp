// Rank, condition and efficiency of model matrices.
#include "compiler/design/Aliases.h"
#include "compiler/design/Contrasts.h"
#include "compiler/design/Qr.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbem::design {

namespace {

/// Means over all combinations of levels of the products of two columns: F'F/N of the full factorial, a product over factors.
Eigen::MatrixXd factorialMoments(const Basis& basis) {
  const auto p = static_cast<Eigen::Index>(basis.size());
  Eigen::MatrixXd moments = Eigen::MatrixXd::Ones(p, p);
  for (std::uint32_t f = 0; f < basis.factors().size(); ++f) {
    const Factor& factor = basis.factors()[f];
    const std::size_t levels = factor.levelCount();
    Eigen::MatrixXd values = Eigen::MatrixXd::Ones(static_cast<Eigen::Index>(levels), p);
    for (Eigen::Index c = 0; c < p; ++c) {
      const auto& column = basis.columns()[static_cast<std::size_t>(c)];
      const auto& parts = basis.terms()[column.term].parts;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (parts[part].factor != f) continue;
        for (std::size_t level = 0; level < levels; ++level) {
          const double coordinate = factor.numeric() ? factor.values[level] : static_cast<double>(level);
          values(static_cast<Eigen::Index>(level), c) = basis.partValue<double>(column, part, coordinate);
        }
      }
    }
    moments.array() *= (values.transpose() * values / static_cast<double>(levels)).array();
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
  const double ours = logDeterminant(x.transpose() * x / static_cast<double>(n)), best = logDeterminant(factorialMoments(basis));
  if (full && std::isfinite(ours) && std::isfinite(best)) quality.dEfficiency = std::exp((ours - best) / static_cast<double>(p));
  return quality;
}

}  // namespace tbem::design
