// Least squares by Householder QR with column pivoting: what the compiler proves about a model matrix and what a fit does are the
// same code.
#pragma once

#include "compiler/design/model/Basis.h"
#include "compiler/design/model/Wide.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tbem::design {

/// A dense matrix, row-major.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Wide> cells;
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns) : rows(rows), columns(columns), cells(rows * columns, 0) {}
  Wide& operator()(std::size_t r, std::size_t c) { return cells[r * columns + c]; }
  Wide operator()(std::size_t r, std::size_t c) const { return cells[r * columns + c]; }
};

/// Column `column` equals the sum of weights[i] * column i over `basis`, up to the tolerance. An empty basis: the column is zero.
struct Dependency {
  std::size_t column = 0;
  std::vector<std::size_t> basis;
  std::vector<Wide> weights;
};

struct LeastSquares {
  std::size_t rank = 0;
  std::vector<Wide> coefficients;  ///< by column; empty unless rank = columns
  std::vector<Wide> residuals;     ///< y - X b, by row
  Wide residualSumOfSquares = 0;
  Matrix rootInverse;                    ///< M with M M' = (X'X)^-1
  std::vector<double> unitR;             ///< p x p row-major: R of the unit-length columns, for singular values
  std::vector<Dependency> dependencies;  ///< where rank < columns: columns that earlier ones determine, in the order of columns
};

/// min |y - X b|. Columns are scaled to unit length first; the rank is the number of pivots of at least `tolerance`
/// (Golub and Van Loan, "Matrix Computations", 5.4.2). Needs x.rows >= 1; fewer rows than columns is rank-deficient.
LeastSquares leastSquares(const Matrix& x, const std::vector<Wide>& y, double tolerance = 1e-10);

/// The model matrix of a basis at some points.
Matrix modelMatrix(const Basis& basis, const std::vector<Point>& points);

/// "P2(batch) = 1 in these rows": a dependency in the basis' names.
std::string equationText(const Basis& basis, const Dependency& dependency);

}  // namespace tbem::design
