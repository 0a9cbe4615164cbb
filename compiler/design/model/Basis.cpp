#include "compiler/design/model/Basis.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::design {

Basis::Basis(std::vector<Factor> factors, std::vector<Term> terms, bool throughOrigin)
    : allFactors(std::move(factors)), allTerms(std::move(terms)), isThroughOrigin(throughOrigin) {
  for (const Factor& factor : allFactors)
    allAxes.push_back(factor.numeric() ? Axis{decimal(factor.low()), decimal(factor.high())} : Axis{});
  for (std::uint32_t t = 0; t < allTerms.size(); ++t) {
    const Term& term = allTerms[t];
    std::vector<Column> expanded{{t, std::vector<std::uint32_t>(term.parts.size(), 0)}};
    for (std::size_t p = 0; p < term.parts.size(); ++p) {
      const Factor& factor = allFactors[term.parts[p].factor];
      if (factor.numeric()) continue;
      std::vector<Column> next;
      for (const Column& column : expanded) {
        for (std::uint32_t level = 0; level + 1 < factor.levelCount(); ++level) {
          next.push_back(column);
          next.back().contrasts[p] = level;
        }
      }
      expanded = std::move(next);
    }
    cols.insert(cols.end(), expanded.begin(), expanded.end());
  }
}

std::string Basis::name(std::size_t column) const {
  const Column& col = cols[column];
  const Term& term = allTerms[col.term];
  if (isThroughOrigin) return termText(allFactors, term);
  std::string text;
  for (std::size_t p = 0; p < term.parts.size(); ++p) {
    const Factor& factor = allFactors[term.parts[p].factor];
    if (!text.empty()) text += "*";
    text += factor.numeric() ? fmt::format("P{}({})", term.parts[p].degree, factor.name)
                             : fmt::format("{}[{}]", factor.name, factor.labels[col.contrasts[p]]);
  }
  return text.empty() ? "1" : text;
}

}  // namespace tbem::design
