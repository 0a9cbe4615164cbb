// A fit as rows of text.
#include "runtime/regress/Fit.h"

#include <fmt/format.h>

namespace tbem::regress {

namespace {
std::string number(double value) { return fmt::format("{:.6g}", value); }
std::string number(const std::optional<double>& value) { return value ? number(*value) : "-"; }
}  // namespace

Table coefficientTable(const Result& result) {
  Table table{{"term", "coefficient", "standard error", "low", "high"}, {}};
  for (const Coefficient& c : result.coefficients) {
    table.rows.push_back({c.term, number(c.value), number(c.standardError), c.interval ? number(c.interval->low) : "-",
                          c.interval ? number(c.interval->high) : "-"});
  }
  return table;
}

Table rawTable(const Result& result) {
  Table table{{"term", "coefficient"}, {}};
  for (const RawCoefficient& c : result.raw) table.rows.push_back({c.term, number(c.value)});
  return table;
}

Table rowTable(const Result& result, std::span<const double> response) {
  Table table{{"row", "response", "fitted", "residual", "left out", "leverage"}, {}};
  for (std::size_t r = 0; r < result.fitted.size() && r < response.size(); ++r) {
    table.rows.push_back({std::to_string(r + 1), number(response[r]), number(result.fitted[r]), number(result.residuals[r]),
                          number(result.looResiduals[r]), number(result.leverages[r])});
  }
  return table;
}

}  // namespace tbem::regress
