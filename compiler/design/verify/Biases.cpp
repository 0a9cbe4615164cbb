// The alias matrix: what a model's coefficients take from terms that it leaves out.
#include "compiler/design/model/Qr.h"
#include "compiler/design/verify/Aliases.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::design {

std::vector<Bias> biases(const Basis& model, const std::vector<Term>& omitted, const std::vector<Point>& points, double least) {
  std::vector<Bias> found;
  const Basis others(model.factors(), omitted, model.throughOrigin());
  const Matrix x = modelMatrix(model, points), z = modelMatrix(others, points);
  for (std::size_t c = 0; c < z.columns; ++c) {
    std::vector<Wide> column(z.rows);
    Wide size = 0;
    for (std::size_t r = 0; r < z.rows; ++r) {
      column[r] = z(r, c);
      size += column[r] * column[r];
    }
    const LeastSquares solved = leastSquares(x, column);
    if (solved.rank < x.columns) return {};
    const bool hidden = solved.residualSumOfSquares <= size * Wide(1e-20);
    for (std::size_t j = 0; j < x.columns; ++j) {
      const double weight = static_cast<double>(solved.coefficients[j]);
      if (std::fabs(weight) < least) continue;
      Bias bias{others.name(c), model.name(j), weight, hidden, ""};
      bias.text = fmt::format("if {} matters, {} takes {:.2g} times its coefficient{}", bias.omitted, bias.biased, weight,
                              hidden ? ", and no residual shows it" : "");
      found.push_back(std::move(bias));
    }
  }
  return found;
}

}  // namespace tbem::design
