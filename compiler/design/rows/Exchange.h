// Rows that make the most of a model: exchange of levels under constraints. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/array/Random.h"
#include "compiler/design/model/Basis.h"
#include "compiler/design/rows/ValidRows.h"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace tbem::design {

/// The columns of a model at rows of level indices.
class ModelRows {
public:
  explicit ModelRows(const Basis& basis);
  std::size_t size() const { return static_cast<std::size_t>(columns); }
  Eigen::VectorXd at(std::span<const std::uint32_t> row) const;
  /// runs x size().
  Eigen::MatrixXd matrix(const Array& array) const;

private:
  Eigen::Index columns = 0;
  std::vector<std::vector<Eigen::ArrayXd>> values;  ///< by factor and level: what it contributes to each column
};

struct Exchanged {
  Array array;
  double objective = 0;
};

/// Appends `count` rows to `array` such that the whole is good for the model, covers pairs and is balanced: coordinate exchange
/// (Meyer and Nachtsheim 1995) from random valid rows, only over valid ones, the best of some starts. The objective, larger is
/// better: log |X'X / n| / p + kCoverage (share of the pairs in `array` and beyond) - kImbalance (mean over factors of sum (count
/// - n/s)^2 / n). The array's own rows stay. Needs a valid row.
Exchanged appendRows(const Array& array, std::size_t count, const ModelRows& model, ValidRows& valid, int starts, Random& random);

}  // namespace tbem::design
