// An array that is written as CSV reads back as the same array, whatever its levels are called; and what counting says of a
// file's strength is what a count without any cleverness says.
#include "compiler/design/model/ArrayText.h"

#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/verify/Verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace tbem::design;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

std::string anyLabel(Random& random) {
  static const std::vector<std::string> kPieces{"a", "7", ",", "\"", "\n", "\r", " ", "\t", "\xEF\xBB\xBF", "sgd(lr: 0.1)",
                                                "0", ""};
  std::string label;
  for (std::size_t n = below(random, 4); n > 0; --n) label += kPieces[below(random, kPieces.size())];
  return label;
}

std::vector<Factor> anyFactors(Random& random, const std::vector<std::uint32_t>& levels) {
  std::vector<Factor> factors;
  for (std::size_t f = 0; f < levels.size(); ++f) {
    Factor factor{"factor" + std::to_string(f), {}, {}};
    std::set<std::string> used;
    while (factor.labels.size() < levels[f]) {
      const std::string label = anyLabel(random);
      if (used.insert(label).second) factor.labels.push_back(label);
    }
    if (below(random, 3) == 0) {
      factor.labels.clear();
      for (std::uint32_t l = 0; l < levels[f]; ++l) {
        factor.values.push_back(static_cast<double>((l * 11 + 3) % levels[f]) / 2);
        factor.labels.push_back(std::to_string((l * 11 + 3) % levels[f] / 2) + ((l * 11 + 3) % levels[f] % 2 == 0 ? "" : ".5"));
      }
    }
    factors.push_back(std::move(factor));
  }
  return factors;
}

/// Every combination of any `t` columns, counted in a map.
bool hasStrength(const Array& array, std::uint32_t t) {
  std::vector<std::uint32_t> chosen;
  const std::function<bool(std::uint32_t)> each = [&](std::uint32_t from) {
    if (chosen.size() == t) {
      std::map<std::vector<std::uint32_t>, std::size_t> counts;
      std::size_t combinations = 1;
      for (const std::uint32_t c : chosen) combinations *= array.levels[c];
      for (std::size_t r = 0; r < array.runs; ++r) {
        std::vector<std::uint32_t> key;
        for (const std::uint32_t c : chosen) key.push_back(array.at(r, c));
        ++counts[key];
      }
      for (const auto& [key, count] : counts) {
        if (count * combinations != array.runs) return false;
      }
      return counts.size() == combinations;
    }
    for (std::uint32_t c = from; c < array.columns(); ++c) {
      chosen.push_back(c);
      const bool good = each(c + 1);
      chosen.pop_back();
      if (!good) return false;
    }
    return true;
  };
  return each(0);
}

const std::vector<std::vector<std::uint32_t>> kLevels{{2, 2, 2},    {3, 3, 3, 3},    {4, 4, 4, 2},          {2, 3, 4},
                                                      {5, 5, 1, 5}, {2, 2, 2, 2, 3}, {3, 3, 3, 6, 2, 1, 2}, {7}};

TEST(ArrayText, ReadsBackWhatIsWritten) {
  Random random(20251);
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<std::uint32_t>& levels = kLevels[below(random, kLevels.size())];
    const Array array = std::get<Array>(chooseArray(levels, 2));
    const std::vector<Factor> factors = anyFactors(random, levels);
    std::vector<std::string> fields;
    for (const Factor& factor : factors) fields.push_back(factor.name);
    std::string text = tbem::csvLine(fields);
    for (std::size_t r = 0; r < array.runs; ++r) {
      for (std::size_t f = 0; f < factors.size(); ++f) fields[f] = factors[f].labels[array.at(r, f)];
      text += tbem::csvLine(fields);
    }
    const ArrayTextChoice back = readArray(text, factors);
    ASSERT_TRUE(std::holds_alternative<Array>(back)) << std::get<ArrayTextFault>(back).cause << "\n" << text;
    EXPECT_EQ(std::get<Array>(back).cells, array.cells) << text;
    EXPECT_EQ(std::get<Array>(back).levels, array.levels);
  }
}

TEST(ArrayText, OneChangedCellIsFound) {
  Random random(7);
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<std::uint32_t>& levels = kLevels[below(random, kLevels.size())];
    Array array = std::get<Array>(chooseArray(levels, 2));
    const std::size_t changes = below(random, 3);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t c = below(random, levels.size());
      array.at(below(random, array.runs), c) = static_cast<std::uint32_t>(below(random, levels[c]));
    }
    for (std::uint32_t t = 1; t <= 3 && t <= levels.size(); ++t) {
      bool sound = true;
      for (std::uint32_t u = 1; u <= t; ++u) sound = sound && hasStrength(array, u);
      const auto found = findImbalance(array, t);
      ASSERT_EQ(!found.has_value(), sound);
      if (!found || found->combination.empty()) continue;
      std::size_t count = 0, combinations = 1;
      for (const std::uint32_t c : found->columns) combinations *= levels[c];
      for (std::size_t r = 0; r < array.runs; ++r) {
        bool all = true;
        for (std::size_t i = 0; i < found->columns.size(); ++i)
          all = all && array.at(r, found->columns[i]) == found->combination[i];
        count += all ? 1 : 0;
      }
      EXPECT_EQ(found->count, count);
      EXPECT_EQ(found->expected.toDouble(), static_cast<double>(array.runs) / static_cast<double>(combinations));
      EXPECT_NE(found->count * combinations, array.runs);
    }
  }
}

}  // namespace
