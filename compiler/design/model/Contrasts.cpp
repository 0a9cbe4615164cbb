#include "compiler/design/model/Contrasts.h"

#include <cmath>

namespace tbem::design {

Eigen::MatrixXd helmert(std::uint32_t levels) {
  const auto s = static_cast<Eigen::Index>(levels);
  Eigen::MatrixXd contrasts = Eigen::MatrixXd::Zero(s, s - 1);
  for (Eigen::Index j = 0; j + 1 < s; ++j) {  // level j + 1 against the mean of those before it
    const double before = static_cast<double>(j) + 1;
    const double scale = std::sqrt(static_cast<double>(s) / (before * (before + 1)));
    for (Eigen::Index i = 0; i <= j; ++i) contrasts(i, j) = -scale;
    contrasts(j + 1, j) = before * scale;
  }
  return contrasts;
}

Eigen::MatrixXd contrastsOf(const Array& array, std::uint32_t column) {
  const Eigen::MatrixXd contrasts = helmert(valuesOf(array, column));
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(array.runs), contrasts.cols());
  std::size_t present = 0;
  for (std::size_t r = 0; r < array.runs; ++r) {
    if (isAbsent(array, r, column)) continue;
    out.row(static_cast<Eigen::Index>(r)) = contrasts.row(array.at(r, column));
    ++present;
  }
  return present == 0 ? out : out * std::sqrt(static_cast<double>(array.runs) / static_cast<double>(present));
}

Eigen::MatrixXd mainEffectMatrix(const Array& array) {
  Eigen::Index p = 1;
  for (std::uint32_t c = 0; c < array.columns(); ++c) p += static_cast<Eigen::Index>(valuesOf(array, c)) - 1;
  Eigen::MatrixXd x(static_cast<Eigen::Index>(array.runs), p);
  x.col(0).setOnes();
  Eigen::Index at = 1;
  for (std::uint32_t c = 0; c < array.columns(); ++c) {
    const Eigen::MatrixXd contrasts = contrastsOf(array, c);
    x.middleCols(at, contrasts.cols()) = contrasts;
    at += contrasts.cols();
  }
  return x;
}

}  // namespace tbem::design
