#include "compiler/design/rows/Implied.h"

#include <algorithm>

namespace tbem::design {

namespace {

/// Levels that stand in a valid row, by factor.
std::vector<std::vector<std::uint32_t>> aliveLevels(const ValidRows& valid, const std::vector<Literal>& dead) {
  std::vector<std::vector<std::uint32_t>> alive(valid.factors());
  for (std::uint32_t f = 0; f < valid.factors(); ++f) {
    for (std::uint32_t level = 0; level < valid.constraints().levels[f]; ++level) {
      if (!std::binary_search(dead.begin(), dead.end(), Literal{f, level})) alive[f].push_back(level);
    }
  }
  return alive;
}

struct Search {
  ValidRows& valid;
  const std::vector<std::vector<std::uint32_t>>& alive;
  Implied& result;

  bool known(std::uint32_t f, std::uint32_t a, std::uint32_t g, std::uint32_t b) const {
    return std::binary_search(result.pairs.begin(), result.pairs.end(), Combination{{f, a}, {g, b}});
  }
  void pairsOf(std::uint32_t f, std::uint32_t g) {
    for (const std::uint32_t a : alive[f]) {
      for (const std::uint32_t b : alive[g]) {
        Combination pair{{f, a}, {g, b}};
        if (!valid.possible(pair)) result.pairs.push_back(std::move(pair));
      }
    }
  }
  void triplesOf(std::uint32_t f, std::uint32_t g, std::uint32_t h) {
    for (const std::uint32_t a : alive[f]) {
      for (const std::uint32_t b : alive[g]) {
        for (const std::uint32_t c : alive[h]) {
          if (known(f, a, g, b) || known(f, a, h, c) || known(g, b, h, c)) continue;
          Combination triple{{f, a}, {g, b}, {h, c}};
          if (!valid.possible(triple)) result.triples.push_back(std::move(triple));
        }
      }
    }
  }
};

}  // namespace

std::vector<Literal> deadLevels(ValidRows& valid) {
  std::vector<Literal> dead;
  for (std::uint32_t f = 0; f < valid.factors(); ++f) {
    for (std::uint32_t level = 0; level < valid.constraints().levels[f] && valid.constrained(f); ++level) {
      const Literal one{f, level};
      if (!valid.possible({&one, 1})) dead.push_back(one);
    }
  }
  return dead;
}

Implied impliedBy(ValidRows& valid, std::uint64_t mostTriples) {
  Implied result;
  result.dead = deadLevels(valid);
  const auto alive = aliveLevels(valid, result.dead);
  Search search{valid, alive, result};
  const auto factors = static_cast<std::uint32_t>(valid.factors());
  for (std::uint32_t f = 0; f < factors; ++f) {
    for (std::uint32_t g = f + 1; g < factors; ++g) {
      if (valid.connected(f, g)) search.pairsOf(f, g);
    }
  }
  std::sort(result.pairs.begin(), result.pairs.end());
  std::uint64_t candidates = 0;
  const auto eachTriple = [&](const auto& visit) {
    for (std::uint32_t f = 0; f < factors; ++f) {
      for (std::uint32_t g = f + 1; g < factors; ++g) {
        if (!valid.connected(f, g)) continue;
        for (std::uint32_t h = g + 1; h < factors; ++h) {
          if (valid.connected(g, h)) visit(f, g, h);
        }
      }
    }
  };
  eachTriple([&](std::uint32_t f, std::uint32_t g, std::uint32_t h) {
    candidates += alive[f].size() * alive[g].size() * alive[h].size();
  });
  result.triplesCounted = candidates <= mostTriples;
  if (result.triplesCounted) eachTriple([&](std::uint32_t f, std::uint32_t g, std::uint32_t h) { search.triplesOf(f, g, h); });
  return result;
}

std::vector<std::size_t> culprits(const std::vector<Constraints>& parts, const Combination& literals) {
  std::vector<std::size_t> kept(parts.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i;
  for (std::size_t i = kept.size(); i-- > 0;) {
    std::vector<std::size_t> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    Constraints together{parts.front().levels, {}};
    for (const std::size_t part : fewer)
      together.forbidden.insert(together.forbidden.end(), parts[part].forbidden.begin(), parts[part].forbidden.end());
    ValidRows valid(std::move(together));
    if (!valid.possible(literals)) kept = std::move(fewer);
  }
  return kept;
}

}  // namespace tbem::design
