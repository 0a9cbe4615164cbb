// Reader of the constrained models in test/unit/design/data, and what the tests count by themselves.
#pragma once

#include "compiler/design/rows/Constraints.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace tbem::design::test {

/// `levels 2^3 4^1`: runs of factors with equal levels, in order; `forbid 0=1 2=3`: factor 0 at level 1 beside factor 2 at
/// level 3.
inline Constraints readModel(const std::string& name) {
  const std::string path = tbem::test::inSources("test/unit/design/data/" + name + ".model");
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  Constraints model;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::uint32_t a = 0, b = 0;
    char between = 0;
    if (word == "levels") {
      while (words >> a >> between >> b) model.levels.insert(model.levels.end(), b, a);
    } else if (word == "forbid") {
      Combination one;
      while (words >> a >> between >> b) one.push_back({a, b});
      model.forbidden.push_back(std::move(one));
    } else {
      EXPECT_TRUE(word.empty() || word[0] == '#') << path << ": " << line;
    }
  }
  return model;
}

/// Whether the row holds one of the combinations, each literal looked up by itself.
inline bool breaks(const Constraints& model, const std::uint32_t* row) {
  for (const Combination& one : model.forbidden) {
    std::size_t met = 0;
    for (const Literal& literal : one) met += row[literal.factor] == literal.level ? 1 : 0;
    if (met == one.size()) return true;
  }
  return false;
}

/// Every row of the levels, the last factor fastest; for small models.
inline std::vector<std::vector<std::uint32_t>> everyRow(const std::vector<std::uint32_t>& levels) {
  std::vector<std::vector<std::uint32_t>> rows{{}};
  for (const std::uint32_t s : levels) {
    std::vector<std::vector<std::uint32_t>> longer;
    for (const auto& row : rows) {
      for (std::uint32_t level = 0; level < s; ++level) {
        longer.push_back(row);
        longer.back().push_back(level);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

}  // namespace tbem::design::test
