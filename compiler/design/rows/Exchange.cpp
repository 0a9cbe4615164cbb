#include "compiler/design/rows/Exchange.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tbem::design {

namespace {

constexpr double kCoverage = 0.5, kImbalance = 0.1;
/// Added to the diagonal of X'X / n, so that rows that cannot estimate the model yet can be compared.
constexpr double kRidge = 1e-6;
constexpr int kSweeps = 8;

using Row = std::vector<std::uint32_t>;

/// One start: fixed rows, then free ones.
class Climb {
public:
  Climb(const Array& fixed, std::size_t free, const ModelRows& model, ValidRows& valid, Random& random)
      : array(fixed), fixedRuns(fixed.runs), model(model), valid(valid), random(random) {
    for (std::size_t i = 0; i < free; ++i) {
      const Row row = randomRow();
      array.cells.insert(array.cells.end(), row.begin(), row.end());
      ++array.runs;
    }
    for (const std::uint32_t s : array.levels) {
      offsets.push_back(literals);
      literals += s;
    }
    counts.assign(literals * literals, 0);
    for (std::size_t f = 0; f < array.levels.size(); ++f)
      pairs += static_cast<double>((literals - offsets[f] - array.levels[f]) * array.levels[f]);
    for (std::size_t r = 0; r < array.runs; ++r) count(array.row(r), 1);
  }

  Exchanged run() {
    bool better = true;
    for (int sweep = 0; sweep < kSweeps && better; ++sweep) {
      better = false;
      for (std::size_t r = fixedRuns; r < array.runs; ++r) better = improve(r) || better;
    }
    const Eigen::MatrixXd x = model.matrix(array);
    return {array, logDeterminant(x.transpose() * x) + shape()};
  }

private:
  Row randomRow() {
    Row row = *valid.anyRow();
    for (std::uint32_t f = 0; f < row.size(); ++f) {
      const Literal one{f, random.below(array.levels[f])};
      valid.place({&one, 1}, row);
    }
    return row;
  }

  void count(std::span<const std::uint32_t> row, std::int32_t by) {
    for (std::size_t f = 0; f < row.size(); ++f) {
      for (std::size_t g = f; g < row.size(); ++g) counts[(offsets[f] + row[f]) * literals + offsets[g] + row[g]] += by;
    }
  }

  /// Coverage less imbalance, of all rows.
  double shape() const {
    const auto n = static_cast<double>(array.runs);
    double covered = 0, imbalance = 0;
    for (std::size_t f = 0; f < array.levels.size(); ++f) {
      for (std::size_t a = offsets[f]; a < offsets[f] + array.levels[f]; ++a) {
        const double off = static_cast<double>(counts[a * literals + a]) - n / array.levels[f];
        imbalance += off * off;
        for (std::size_t b = offsets[f] + array.levels[f]; b < literals; ++b) covered += counts[a * literals + b] != 0 ? 1 : 0;
      }
    }
    return weighed(covered, imbalance);
  }
  /// What one row more adds to it.
  double shapeWith(std::span<const std::uint32_t> row) const {
    double covered = 0, imbalance = 0;
    for (std::size_t f = 0; f < row.size(); ++f) {
      const std::size_t a = offsets[f] + row[f];
      for (std::size_t g = f + 1; g < row.size(); ++g) covered += counts[a * literals + offsets[g] + row[g]] == 0 ? 1 : 0;
      // One row more at a level of c rows adds 2 (c - n/s) + 1 to the sum of squares.
      const auto mean = static_cast<double>(array.runs) / array.levels[f];
      imbalance += 2 * (static_cast<double>(counts[a * literals + a]) - mean) + 1;
    }
    return weighed(covered, imbalance);
  }
  double weighed(double covered, double imbalance) const {
    const auto cells = static_cast<double>(std::max<std::size_t>(1, array.cells.size()));
    return kCoverage * covered / std::max(1.0, pairs) - kImbalance * imbalance / cells;
  }

  double logDeterminant(const Eigen::MatrixXd& information) const {
    const auto p = information.rows();
    const Eigen::LLT<Eigen::MatrixXd> factor(information / static_cast<double>(array.runs) +
                                             kRidge * Eigen::MatrixXd::Identity(p, p));
    return 2 * factor.matrixLLT().diagonal().array().log().sum() / static_cast<double>(p);
  }

  /// Changes cells of one free row while that helps: |M + y y'| = |M| (1 + y' M^-1 y), where M is of all other rows.
  bool improve(std::size_t index) {
    Row row(array.row(index).begin(), array.row(index).end());
    count(row, -1);
    const auto n = static_cast<double>(array.runs);
    const auto p = static_cast<Eigen::Index>(model.size());
    Eigen::MatrixXd x = model.matrix(array);
    x.row(static_cast<Eigen::Index>(index)).setZero();
    const Eigen::LLT<Eigen::MatrixXd> others(x.transpose() * x + n * kRidge * Eigen::MatrixXd::Identity(p, p));
    const auto value = [&](const Row& candidate) {
      const Eigen::VectorXd half = others.matrixL().solve(model.at(candidate));
      return std::log1p(half.squaredNorm()) / static_cast<double>(p) + shapeWith(candidate);
    };
    double best = value(row);
    const Row before = row;
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t f = 0; f < row.size(); ++f) {
        for (std::uint32_t level = 0; level < array.levels[f]; ++level) {
          const Literal to{f, level};
          Row candidate = row;
          if (level == row[f] || !valid.place({&to, 1}, candidate)) continue;
          const double found = value(candidate);
          if (found <= best + 1e-12) continue;
          best = found;
          row = std::move(candidate);
          again = true;
        }
      }
    }
    count(row, 1);
    std::copy(row.begin(), row.end(), array.cells.begin() + static_cast<std::ptrdiff_t>(index * array.columns()));
    return row != before;
  }

  Array array;
  std::size_t fixedRuns;
  const ModelRows& model;
  ValidRows& valid;
  Random& random;
  std::vector<std::size_t> offsets;  ///< of a factor's first literal
  std::size_t literals = 0;
  double pairs = 0;                  ///< of levels of two factors
  std::vector<std::int32_t> counts;  ///< literals x literals: rows that hold both; on the diagonal, rows of a level
};

}  // namespace

ModelRows::ModelRows(const Basis& basis) : columns(static_cast<Eigen::Index>(basis.size())) {
  for (std::uint32_t f = 0; f < basis.factors().size(); ++f) {
    const Factor& factor = basis.factors()[f];
    values.emplace_back();
    for (std::size_t level = 0; level < factor.levelCount() + (factor.nested ? 1 : 0); ++level) {
      Eigen::ArrayXd contributes = Eigen::ArrayXd::Ones(columns);
      for (Eigen::Index c = 0; c < columns; ++c) {
        const auto& column = basis.columns()[static_cast<std::size_t>(c)];
        const auto& parts = basis.terms()[column.term].parts;
        for (std::size_t part = 0; part < parts.size(); ++part) {
          const double coordinate = coordinateOf(factor, static_cast<std::uint32_t>(level));
          if (parts[part].factor == f) contributes(c) = basis.partValue<double>(column, part, coordinate);
        }
      }
      values.back().push_back(std::move(contributes));
    }
  }
}

Eigen::VectorXd ModelRows::at(std::span<const std::uint32_t> row) const {
  Eigen::ArrayXd product = Eigen::ArrayXd::Ones(columns);
  for (std::size_t f = 0; f < row.size(); ++f) product *= values[f][row[f]];
  return product.matrix();
}

Eigen::MatrixXd ModelRows::matrix(const Array& array) const {
  Eigen::MatrixXd x(static_cast<Eigen::Index>(array.runs), columns);
  for (std::size_t r = 0; r < array.runs; ++r) x.row(static_cast<Eigen::Index>(r)) = at(array.row(r)).transpose();
  return x;
}

Exchanged appendRows(const Array& array, std::size_t count, const ModelRows& model, ValidRows& valid, int starts,
                     Random& random) {
  Exchanged best{{}, -std::numeric_limits<double>::infinity()};
  for (int start = 0; start < std::max(1, count == 0 ? 1 : starts); ++start) {
    Exchanged one = Climb(array, count, model, valid, random).run();
    if (one.objective > best.objective) best = std::move(one);
  }
  return best;
}

}  // namespace tbem::design
