// Arrays with nested factors, against laws that are counted here without the compiler's own counting: each nested factor exists
// where it should and nowhere else, every pair of factors is balanced wherever both exist, and columns of a model with effects
// within parents' levels are orthogonal between factors.
#include "compiler/design/choose/NestedArray.h"
#include "compiler/design/verify/Aliases.h"
#include "compiler/design/verify/VerifyNested.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace tbem::design;

namespace {

struct Problem {
  std::vector<std::uint32_t> levels;  ///< with absences
  std::vector<Nested> nested;
  std::uint32_t values(std::uint32_t f) const { return levels[f] - (nestingOf(nested, f) != nullptr ? 1 : 0); }
};

Problem randomProblem(std::mt19937_64& random) {
  Problem problem;
  const std::size_t factors = 2 + random() % 5;
  for (std::uint32_t f = 0; f < factors; ++f) {
    problem.levels.push_back(static_cast<std::uint32_t>(2 + random() % 3));
    if (f == 0 || random() % 5 < 3) continue;
    const auto parent = static_cast<std::uint32_t>(random() % f);
    Nested one{f, parent, {}};
    for (std::uint32_t level = 0; level < problem.values(parent); ++level) {
      if (random() % 2 == 0) one.under.push_back(level);
    }
    // Neither nowhere nor everywhere.
    if (one.under.empty() || one.under.size() == problem.levels[parent]) one.under = {0};
    ++problem.levels.back();
    problem.nested.push_back(one);
  }
  return problem;
}

std::string describe(const Problem& problem, const Array& array) {
  std::string text = array.name + ": " + levelText(problem.levels);
  for (const Nested& one : problem.nested) text += "; " + std::to_string(one.column) + " under " + std::to_string(one.parent);
  return text;
}

bool present(const Problem& problem, const Array& array, std::size_t r, std::uint32_t f) {
  return array.at(r, f) < problem.values(f);
}

void expectNesting(const Problem& problem, const Array& array) {
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (const Nested& one : problem.nested) {
      const bool exists = std::find(one.under.begin(), one.under.end(), array.at(r, one.parent)) != one.under.end();
      ASSERT_EQ(present(problem, array, r, one.column), exists) << describe(problem, array) << " row " << r;
    }
  }
}

/// Factors above `f`, nearest first.
std::vector<std::uint32_t> above(const Problem& problem, std::uint32_t f) {
  std::vector<std::uint32_t> chain;
  for (const Nested* one = nestingOf(problem.nested, f); one != nullptr; one = nestingOf(problem.nested, one->parent))
    chain.push_back(one->parent);
  return chain;
}

/// Among the rows in which both exist and the factors above have the same levels, all pairs that exist stand equally often.
void expectBalancedPairs(const Problem& problem, const Array& array) {
  for (std::uint32_t f = 0; f < problem.levels.size(); ++f) {
    for (std::uint32_t g = 0; g < problem.levels.size(); ++g) {
      if (f == g) continue;
      std::set<std::uint32_t> others;
      for (const std::uint32_t one : above(problem, f)) others.insert(one);
      for (const std::uint32_t one : above(problem, g)) others.insert(one);
      others.erase(f);
      others.erase(g);
      std::map<std::vector<std::uint32_t>, std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>> groups;
      for (std::size_t r = 0; r < array.runs; ++r) {
        if (!present(problem, array, r, f) || !present(problem, array, r, g)) continue;
        std::vector<std::uint32_t> key;
        for (const std::uint32_t one : others) key.push_back(array.at(r, one));
        ++groups[key][{array.at(r, f), array.at(r, g)}];
      }
      const std::vector<std::uint32_t> aboveF = above(problem, f);
      const bool related = std::find(aboveF.begin(), aboveF.end(), g) != aboveF.end();
      const std::vector<std::uint32_t> aboveG = above(problem, g);
      if (std::find(aboveG.begin(), aboveG.end(), f) != aboveG.end()) continue;  // the other order says it
      for (const auto& [key, pairs] : groups) {
        std::set<std::uint32_t> of, with;
        for (const auto& [pair, count] : pairs) {
          of.insert(pair.first);
          with.insert(pair.second);
          EXPECT_EQ(count, pairs.begin()->second) << describe(problem, array);
        }
        EXPECT_EQ(of.size(), problem.values(f)) << describe(problem, array);
        if (!related) {
          EXPECT_EQ(with.size(), problem.values(g)) << describe(problem, array);
        }
        EXPECT_EQ(pairs.size(), of.size() * with.size()) << describe(problem, array);
      }
    }
  }
}

/// Level k against the last one, and nothing where the factor does not exist.
int coded(const Problem& problem, const Array& array, std::size_t r, std::uint32_t f, std::uint32_t k) {
  if (!present(problem, array, r, f)) return 0;
  return array.at(r, f) == k ? 1 : array.at(r, f) + 1 == problem.values(f) ? -1 : 0;
}

void expectOrthogonalEffects(const Problem& problem, const Array& array) {
  for (std::uint32_t f = 0; f < problem.levels.size(); ++f) {
    for (std::uint32_t k = 0; k + 1 < problem.values(f); ++k) {
      int sum = 0;
      for (std::size_t r = 0; r < array.runs; ++r) sum += coded(problem, array, r, f, k);
      EXPECT_EQ(sum, 0) << describe(problem, array);
      for (std::uint32_t g = f + 1; g < problem.levels.size(); ++g) {
        for (std::uint32_t l = 0; l + 1 < problem.values(g); ++l) {
          int product = 0;
          for (std::size_t r = 0; r < array.runs; ++r) product += coded(problem, array, r, f, k) * coded(problem, array, r, g, l);
          EXPECT_EQ(product, 0) << describe(problem, array) << ": " << f << " and " << g;
        }
      }
    }
  }
}

TEST(NestedArrays, BalancedWhereTheyExist) {
  std::mt19937_64 random(31);
  std::size_t nests = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const Problem problem = randomProblem(random);
    if (problem.nested.empty()) continue;
    ++nests;
    const Choice choice = chooseNestedArray(problem.levels, problem.nested, 2);
    ASSERT_TRUE(std::holds_alternative<Array>(choice)) << std::get<Refusal>(choice).reason;
    const Array& array = std::get<Array>(choice);
    expectNesting(problem, array);
    expectBalancedPairs(problem, array);
    expectOrthogonalEffects(problem, array);
    std::size_t parameters = 1;
    for (std::uint32_t f = 0; f < problem.levels.size(); ++f) parameters += problem.values(f) - 1;
    const MainEffects effects = mainEffects(array);
    EXPECT_EQ(effects.parameters, parameters);
    EXPECT_EQ(effects.rank, parameters) << describe(problem, array);
    EXPECT_NEAR(effects.condition, 1, 1e-6) << describe(problem, array);
  }
  EXPECT_GT(nests, 100U);
}

TEST(NestedArrays, FullHasEachCombinationThatExistsOnce) {
  std::mt19937_64 random(32);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem = randomProblem(random);
    if (problem.nested.empty()) continue;
    Options options;
    options.full = true;
    const Array array = std::get<Array>(chooseNestedArray(problem.levels, problem.nested, 2, options));
    expectNesting(problem, array);
    std::set<std::vector<std::uint32_t>> rows;
    for (std::size_t r = 0; r < array.runs; ++r) rows.insert({array.row(r).begin(), array.row(r).end()});
    EXPECT_EQ(rows.size(), array.runs);
    // All combinations of indices, those that nesting allows.
    std::size_t expected = 0;
    std::vector<std::uint32_t> row(problem.levels.size(), 0);
    for (;;) {
      const bool good = std::all_of(problem.nested.begin(), problem.nested.end(), [&](const Nested& one) {
        const bool exists = std::find(one.under.begin(), one.under.end(), row[one.parent]) != one.under.end();
        return exists == (row[one.column] < problem.values(one.column));
      });
      expected += good ? 1 : 0;
      std::size_t f = 0;
      while (f < row.size() && ++row[f] == problem.levels[f]) row[f++] = 0;
      if (f == row.size()) break;
    }
    EXPECT_EQ(array.runs, expected) << describe(problem, array);
  }
}

TEST(NestedArrays, AChangedCellIsAnImbalance) {
  std::mt19937_64 random(33);
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem = randomProblem(random);
    if (problem.nested.empty()) continue;
    Array array = std::get<Array>(chooseNestedArray(problem.levels, problem.nested, 2));
    ASSERT_FALSE(findNestedImbalance(array, 2));
    const auto f = static_cast<std::uint32_t>(random() % problem.levels.size());
    std::uint32_t& cell = array.at(random() % array.runs, f);
    cell = static_cast<std::uint32_t>((cell + 1) % problem.levels[f]);
    EXPECT_TRUE(findNestedImbalance(array, 2)) << describe(problem, array);
  }
}

}  // namespace
