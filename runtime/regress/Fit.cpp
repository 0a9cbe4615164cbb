#include "runtime/regress/Fit.h"

#include "compiler/design/model/Qr.h"
#include "runtime/regress/Raw.h"
#include "runtime/regress/StudentT.h"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbem::regress {

namespace {

using design::Basis;
using design::decimal;
using design::Dependency;
using design::LeastSquares;
using design::Matrix;
using design::squareRoot;
using design::Wide;

std::optional<Refusal> checkInput(const std::vector<Factor>& factors, const std::vector<Point>& rows,
                                  std::span<const double> response) {
  using Kind = Refusal::Kind;
  if (rows.empty()) return Refusal{Kind::NoRows, "there are no rows to fit", {}, 0, 0};
  if (response.size() != rows.size()) {
    return Refusal{Kind::NotFinite, fmt::format("{} rows have {} responses", rows.size(), response.size()), {}, rows.size(), 0};
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!std::isfinite(response[r]))
      return Refusal{Kind::NotFinite, fmt::format("the response of row {} is not a number", r + 1), {}, rows.size(), 0};
    if (rows[r].size() != factors.size()) {
      return Refusal{Kind::BadTerms,
                     fmt::format("row {} has {} values for {} factors", r + 1, rows[r].size(), factors.size()),
                     {},
                     rows.size(),
                     0};
    }
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const double value = rows[r][f];
      if (factors[f].nested && std::isnan(value)) continue;
      const bool level = value >= 0 && value < static_cast<double>(factors[f].levelCount()) && value == std::floor(value);
      if (!std::isfinite(value) || (!factors[f].numeric() && !level)) {
        return Refusal{Kind::NotFinite, fmt::format("row {} has no level of `{}`", r + 1, factors[f].name), {}, rows.size(), 0};
      }
    }
  }
  return std::nullopt;
}

Refusal aliasRefusal(const Basis& basis, const LeastSquares& solved, std::size_t rows) {
  Refusal refusal{Refusal::Kind::Aliased, "", {}, rows, basis.size()};
  std::string names;
  for (const Dependency& dependency : solved.dependencies) {
    refusal.aliased.push_back(design::equationText(basis, dependency));
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", basis.name(dependency.column));
  }
  refusal.text = names.empty()
                     ? fmt::format("the rows tell apart {} of the model's {} coefficients", solved.rank, basis.size())
                     : fmt::format("the rows cannot tell {} from the other terms: {} of {} coefficients can be estimated", names,
                                   solved.rank, basis.size());
  return refusal;
}

void describeRegion(Result& result, const std::vector<Point>& rows) {
  const auto& factors = result.basis.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    Interval range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    std::vector<bool> seen(factors[f].numeric() ? 0 : factors[f].levelCount(), false);
    for (const Point& row : rows) {
      if (std::isnan(row[f])) continue;
      range = {std::min(range.low, row[f]), std::max(range.high, row[f])};
      if (!seen.empty()) seen[static_cast<std::size_t>(row[f])] = true;
    }
    result.box.push_back(range);
    result.seen.push_back(std::move(seen));
  }
}

double conditionOf(const std::vector<double>& unitR, std::size_t p) {
  Eigen::MatrixXd r(p, p);
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) r(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = unitR[i * p + j];
  }
  const Eigen::VectorXd singular = Eigen::JacobiSVD<Eigen::MatrixXd>(r).singularValues();
  const double smallest = singular(singular.size() - 1);
  return smallest > 0 ? singular(0) / smallest : std::numeric_limits<double>::infinity();
}

/// Of a root of the inverse over all columns, the root of its part of the first ones.
std::vector<double> rootOfCoefficients(const std::vector<long double>& root, std::size_t columns, std::size_t parameters) {
  if (columns == parameters) return {root.begin(), root.end()};
  const auto size = static_cast<Eigen::Index>(parameters);
  Eigen::MatrixXd inverse(size, size);
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::size_t j = 0; j < parameters; ++j) {
      long double sum = 0;
      for (std::size_t k = 0; k < columns; ++k) sum += root[i * columns + k] * root[j * columns + k];
      inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = static_cast<double>(sum);
    }
  }
  const Eigen::MatrixXd lower = inverse.llt().matrixL();
  std::vector<double> cells;
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) cells.push_back(lower(i, j));
  }
  return cells;
}

/// The columns of a matrix and one more.
Matrix withColumn(const Matrix& x, const std::vector<double>& column) {
  Matrix wider(x.rows, x.columns + 1);
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t c = 0; c < x.columns; ++c) wider(r, c) = x(r, c);
    wider(r, x.columns) = column[r];
  }
  return wider;
}

void computeLeverages(Result& result, const Matrix& x, const Matrix& rootInverse) {
  const std::size_t p = x.columns;
  const std::vector<long double> root(rootInverse.cells.begin(), rootInverse.cells.end());
  for (std::size_t r = 0; r < x.rows; ++r) {
    std::vector<long double> sums(p, 0);
    for (std::size_t i = 0; i < p; ++i) {
      const auto cell = static_cast<long double>(x(r, i));
      for (std::size_t j = 0; j < p; ++j) sums[j] += cell * root[i * p + j];
    }
    long double leverage = 0;
    for (const long double sum : sums) leverage += sum * sum;
    result.leverages.push_back(static_cast<double>(leverage));
  }
  result.maxLeverage = *std::max_element(result.leverages.begin(), result.leverages.end());
  result.rootInverse = rootOfCoefficients(root, p, result.parameters);
}

/// About the mean, or about 0 of a model through the origin, whose fit of nothing but a constant is 0.
void computeSpread(Result& result, const std::vector<Wide>& response, Wide rss) {
  const bool hasConstant = !result.basis.throughOrigin();
  Wide mean = 0, total = 0, squares = 0;
  for (const Wide y : response) mean += hasConstant ? y : Wide(0);
  mean /= Wide(response.size());
  for (const Wide y : response) {
    total += (y - mean) * (y - mean);
    squares += y * y;
  }
  if (total > squares * Wide(1e-30)) {
    const Wide unexplained = rss / total;
    result.r2 = static_cast<double>(1 - unexplained);
    if (result.residualDegrees > 0) {
      const Wide degrees = Wide(response.size() - (hasConstant ? 1 : 0));
      result.adjustedR2 = static_cast<double>(1 - unexplained * degrees / Wide(result.residualDegrees));
    }
  } else {
    result.warnings.push_back(
        {Warning::Kind::NoSpread, "the response is the same in every row, so there is nothing that the terms could explain"});
  }
  if (result.residualDegrees > 0) result.residualSd = static_cast<double>(squareRoot(rss / Wide(result.residualDegrees)));
}

void computeLeaveOneOut(Result& result, std::span<const double> response) {
  constexpr double kAlone = 1e-9;  // of a row's residual is left: the row determines a coefficient alone
  double press = 0, size = 0;
  std::string alone;
  for (std::size_t r = 0; r < response.size(); ++r) {
    const double rest = 1 - result.leverages[r];
    size += std::fabs(response[r]);
    if (rest < kAlone) {
      result.looResiduals.emplace_back();
      alone += fmt::format("{}{}", alone.empty() ? "" : ", ", r + 1);
      continue;
    }
    result.looResiduals.emplace_back(result.residuals[r] / rest);
    press += *result.looResiduals.back() * *result.looResiduals.back();
  }
  if (!alone.empty()) {
    result.looReason = result.residualDegrees == 0 ? "there are as many coefficients as rows"
                                                   : fmt::format("without row {} the model cannot be fitted", alone);
    result.warnings.push_back({Warning::Kind::NoLeaveOneOut, "no leave-one-out error: " + result.looReason});
    return;
  }
  result.looRmse = std::sqrt(press / static_cast<double>(response.size()));
  if (size > 0) result.looRelativeError = *result.looRmse / (size / static_cast<double>(response.size()));
}

void nameCoefficients(Result& result, const std::vector<Wide>& coefficients) {
  const std::size_t p = result.basis.size();
  const double t =
      result.residualSd ? studentQuantile(0.5 + result.confidence / 2, static_cast<double>(result.residualDegrees)) : 0;
  for (std::size_t c = 0; c < p; ++c) {
    Coefficient coefficient{result.basis.name(c), static_cast<double>(coefficients[c]), {}, {}};
    if (result.residualSd) {
      double variance = 0;
      for (std::size_t j = 0; j < p; ++j) variance += result.rootInverse[c * p + j] * result.rootInverse[c * p + j];
      coefficient.standardError = *result.residualSd * std::sqrt(variance);
      coefficient.interval =
          Interval{coefficient.value - t * *coefficient.standardError, coefficient.value + t * *coefficient.standardError};
    }
    result.coefficients.push_back(std::move(coefficient));
  }
}

void addWarnings(Result& result, const Model& model) {
  if (!model.added.empty()) {
    std::string names;
    for (const design::Term& term : model.added) {
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", design::termText(result.basis.factors(), term));
    }
    result.warnings.push_back(
        {Warning::Kind::HierarchyAdded, fmt::format("{} added: a term stands with every term that it contains", names)});
  }
  if (result.residualDegrees == 0) {
    result.intervalReason =
        fmt::format("{} coefficients from {} rows leave no degree of freedom for the error", result.parameters, result.rows);
    result.warnings.push_back({Warning::Kind::Saturated, "no intervals: " + result.intervalReason});
  } else if (result.rows < 2 * result.parameters) {
    result.warnings.push_back(
        {Warning::Kind::FewRows,
         fmt::format("{} rows for {} coefficients: fewer than two rows a coefficient", result.rows, result.parameters)});
  }
  if (result.condition > 1e6) {
    result.warnings.push_back(
        {Warning::Kind::IllConditioned,
         fmt::format("the terms nearly determine each other in these rows (condition {:.2g})", result.condition)});
  }
}

}  // namespace

tl::expected<Result, Refusal> fit(const std::vector<Factor>& factors, const std::vector<Point>& rows,
                                  std::span<const double> response, const Model& model, double confidence,
                                  const Nuisance& nuisance) {
  if (auto refusal = checkInput(factors, rows, response)) return tl::unexpected(std::move(*refusal));
  if (auto text = design::problem(factors, model.terms, model.throughOrigin)) {
    return tl::unexpected(Refusal{Refusal::Kind::BadTerms, std::move(*text), {}, rows.size(), 0});
  }
  Result result{Basis(factors, model.terms, model.throughOrigin)};
  const std::size_t p = result.basis.size();
  if (rows.size() < p) {
    return tl::unexpected(Refusal{
        Refusal::Kind::TooFewRows, fmt::format("{} rows cannot determine {} coefficients", rows.size(), p), {}, rows.size(), p});
  }
  result.rows = rows.size();
  result.parameters = p;
  result.confidence = confidence;
  Matrix x = design::modelMatrix(result.basis, rows);
  std::vector<Wide> decimals;
  for (const double y : response) decimals.push_back(decimal(y));
  LeastSquares solved = design::leastSquares(x, decimals);
  if (solved.rank < p) return tl::unexpected(aliasRefusal(result.basis, solved, rows.size()));
  result.condition = conditionOf(solved.unitR, p);
  for (const std::vector<double>& column : nuisance) {
    if (x.columns == rows.size() || std::ranges::all_of(column, [](double cell) { return cell == 0; })) continue;
    Matrix wider = withColumn(x, column);
    LeastSquares more = design::leastSquares(wider, decimals);
    if (more.rank < wider.columns) continue;
    x = std::move(wider);
    solved = std::move(more);
  }
  result.residualDegrees = rows.size() - x.columns;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    result.residuals.push_back(static_cast<double>(solved.residuals[r]));
    result.fitted.push_back(static_cast<double>(decimals[r] - solved.residuals[r]));
  }
  computeLeverages(result, x, solved.rootInverse);
  computeSpread(result, decimals, solved.residualSumOfSquares);
  computeLeaveOneOut(result, response);
  solved.coefficients.resize(p);  // those of the model
  nameCoefficients(result, solved.coefficients);
  result.raw = rawCoefficients(result.basis, solved.coefficients);
  describeRegion(result, rows);
  addWarnings(result, model);
  return result;
}

}  // namespace tbem::regress
