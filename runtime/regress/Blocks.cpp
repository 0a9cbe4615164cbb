#include "runtime/regress/Blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tbem::regress {

tl::expected<std::vector<double>, Refusal> blockEffects(const std::vector<Factor>& factors, const std::vector<Point>& rows,
                                                        std::span<const double> response, const Model& model,
                                                        const std::vector<std::uint32_t>& blocks, std::size_t count) {
  Factor block{"block", {}, {}, {}};
  while (std::ranges::any_of(factors, [&](const Factor& factor) { return factor.name == block.name; })) block.name += "'";
  for (std::size_t i = 0; i < count; ++i) block.labels.push_back(std::to_string(i));
  const auto position = static_cast<std::uint32_t>(factors.size());
  const std::string name = block.name;
  std::vector<Factor> all = factors;
  all.push_back(std::move(block));
  std::vector<Point> points = rows;
  for (std::size_t i = 0; i < points.size(); ++i) points[i].push_back(blocks[i]);
  std::vector<design::Term> terms = model.terms;
  terms.push_back({{{position, 1}}});
  const auto fitted = fit(all, points, response, design::hierarchical(terms, all, model.throughOrigin));
  if (!fitted) return tl::unexpected(fitted.error());
  std::vector<double> effects(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string term = fmt::format("{}[{}]", name, i);
    for (const RawCoefficient& coefficient : fitted->raw) {
      if (coefficient.term == term) effects[i] = coefficient.value;
    }
  }
  return effects;
}

Nuisance blockShares(std::span<const InBlock> observations, std::size_t rows, std::size_t count) {
  const std::size_t last = count - 1;
  Nuisance shares(last, std::vector<double>(rows, 0));
  std::vector<double> all(rows, 0);
  for (const InBlock& one : observations) ++all[one.row];
  for (const InBlock& one : observations) {
    for (std::size_t block = 0; block < last; ++block) {
      if (one.block == block || one.block == last) shares[block][one.row] += (one.block == last ? -1 : 1) / all[one.row];
    }
  }
  return shares;
}

}  // namespace tbem::regress
