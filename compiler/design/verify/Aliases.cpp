#include "compiler/design/verify/Aliases.h"

#include "compiler/design/model/Contrasts.h"

#include <fmt/format.h>
#include <Eigen/QR>

#include <algorithm>

namespace tbem::design {

namespace {

using Eigen::MatrixXd;

/// An orthonormal basis of the span of the centred columns; no columns where they do not vary.
MatrixXd spanOf(MatrixXd columns) {
  columns.rowwise() -= columns.colwise().mean();
  if (columns.cols() == 0 || columns.norm() == 0) return MatrixXd(columns.rows(), 0);
  Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  qr.setThreshold(1e-10);
  const Eigen::Index rank = qr.rank();
  return MatrixXd(qr.householderQ() * MatrixXd::Identity(columns.rows(), rank));
}

MatrixXd interaction(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd products(a.rows(), a.cols() * b.cols());
  for (Eigen::Index i = 0; i < a.cols(); ++i) {
    for (Eigen::Index j = 0; j < b.cols(); ++j) products.col(i * b.cols() + j) = a.col(i).cwiseProduct(b.col(j));
  }
  return products;
}

std::string howMuch(double share) {
  return share > 1 - 1e-9 ? "completely" : fmt::format("to {:.0f} %", std::max(1.0, 100 * share));
}

}  // namespace

std::vector<Alias> mainEffectAliases(const Array& array, const std::vector<std::string>& names, std::size_t maxFactors) {
  std::vector<Alias> aliases;
  const auto k = static_cast<std::uint32_t>(array.columns());
  if (k > maxFactors) return aliases;
  std::vector<MatrixXd> contrasts, spans;
  for (std::uint32_t c = 0; c < k; ++c) {
    contrasts.push_back(contrastsOf(array, c));
    spans.push_back(spanOf(contrasts.back()));
  }
  const auto compare = [&](std::uint32_t f, std::vector<std::uint32_t> with, const MatrixXd& span) {
    if (spans[f].cols() == 0 || span.cols() == 0) return;
    const double share = (spans[f].transpose() * span).squaredNorm() / static_cast<double>(spans[f].cols());
    if (share < 1e-9) return;
    std::string other = fmt::format("`{}`", names[with[0]]);
    if (with.size() == 2) other += fmt::format(" x `{}`", names[with[1]]);
    std::string text = fmt::format("the main effect of `{}` is aliased {} with {}{}", names[f], howMuch(share),
                                   with.size() == 1 ? "that of " : "", other);
    aliases.push_back({{f}, std::move(with), share, std::move(text)});
  };
  for (std::uint32_t f = 0; f < k; ++f) {
    for (std::uint32_t g = 0; g < k; ++g) {
      if (g != f) compare(f, {g}, spans[g]);
    }
  }
  // The interaction of a nested factor with its parent is its own effect.
  const auto isUnder = [&](std::uint32_t child, std::uint32_t ancestor) {
    for (const Nested* one = nestingOf(array.nested, child); one != nullptr; one = nestingOf(array.nested, one->parent)) {
      if (one->parent == ancestor) return true;
    }
    return false;
  };
  for (std::uint32_t g = 0; g < k; ++g) {
    for (std::uint32_t h = g + 1; h < k; ++h) {
      if (isUnder(g, h) || isUnder(h, g)) continue;
      const MatrixXd span = spanOf(interaction(contrasts[g], contrasts[h]));
      for (std::uint32_t f = 0; f < k; ++f) {
        if (f != g && f != h) compare(f, {g, h}, span);
      }
    }
  }
  std::stable_sort(aliases.begin(), aliases.end(), [](const Alias& a, const Alias& b) { return a.effect < b.effect; });
  return aliases;
}

}  // namespace tbem::design
