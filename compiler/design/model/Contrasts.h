// Orthonormal contrasts of a column's levels. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Array.h"

#include <Eigen/Core>

namespace tbem::design {

/// levels x (levels - 1): Helmert's contrasts, each of mean 0 and mean square 1 over the levels, orthogonal to each other.
Eigen::MatrixXd helmert(std::uint32_t levels);

/// runs x (levels - 1): the contrasts of one column at the array's rows. Of a nested one they are 0 where it has no value, and as
/// much larger elsewhere as keeps their mean square 1.
Eigen::MatrixXd contrastsOf(const Array& array, std::uint32_t column);

/// runs x (1 + sum(levels - 1)): the constant and the contrasts of all columns.
Eigen::MatrixXd mainEffectMatrix(const Array& array);

}  // namespace tbem::design
