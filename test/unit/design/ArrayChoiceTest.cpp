#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/verify/Bounds.h"
#include "compiler/design/verify/Verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace tbem::design;

namespace {

using Levels = std::vector<std::uint32_t>;

Array built(const Levels& levels, std::uint32_t strength, const Options& options = {}) {
  Choice choice = chooseArray(levels, strength, options);
  if (const auto* refusal = std::get_if<Refusal>(&choice)) {
    ADD_FAILURE() << refusal->reason;
    return {};
  }
  return std::get<Array>(choice);
}

Refusal refused(const Levels& levels, std::uint32_t strength, const Options& options = {}) {
  Choice choice = chooseArray(levels, strength, options);
  if (const auto* array = std::get_if<Array>(&choice)) {
    ADD_FAILURE() << "built " << array->name;
    return {};
  }
  return std::get<Refusal>(choice);
}

const Offer* offer(const Refusal& refusal, Offer::Kind kind) {
  for (const Offer& candidate : refusal.offers) {
    if (candidate.kind == kind) return &candidate;
  }
  return nullptr;
}

}  // namespace

TEST(ChooseArray, Table1) {
  const Array array = built({4, 4, 4}, 2);
  EXPECT_EQ(array.name, "L16(4^3)");
  EXPECT_EQ(array.runs, 16U);
  EXPECT_EQ(array.strength, 2U);
  EXPECT_FALSE(findImbalance(array, 2).has_value());
  EXPECT_TRUE(duplicateRows(array).empty());
}

// Smallest sizes known (Hedayat, Sloane, Stufken 1999; Kuhfeld's and DoE.base's catalogues): those that these constructions
// reach.
TEST(ChooseArray, KnownSizesOfStrengthTwo) {
  struct Row {
    std::uint32_t levels, factors;
    std::size_t runs;
  };
  for (const Row& row :
       {Row{2, 3, 4},  Row{2, 7, 8},   Row{2, 11, 12}, Row{2, 15, 16}, Row{2, 19, 20},  Row{2, 23, 24},  Row{2, 31, 32},
        Row{3, 4, 9},  Row{3, 13, 27}, Row{3, 40, 81}, Row{4, 5, 16},  Row{4, 21, 64},  Row{5, 6, 25},   Row{5, 31, 125},
        Row{6, 3, 36}, Row{7, 8, 49},  Row{8, 9, 64},  Row{9, 10, 81}, Row{10, 3, 100}, Row{11, 12, 121}}) {
    const Array array = built(Levels(row.factors, row.levels), 2);
    EXPECT_EQ(array.runs, row.runs) << row.levels << "^" << row.factors;
    EXPECT_GE(measuredStrength(array, 2), 2U);
  }
}

TEST(ChooseArray, KnownSizesOfStrengthThree) {
  struct Row {
    std::uint32_t levels, factors;
    std::size_t runs;
  };
  for (const Row& row : {Row{2, 4, 8}, Row{2, 8, 16}, Row{2, 12, 24}, Row{2, 16, 32}, Row{2, 24, 48}, Row{3, 4, 27},
                         Row{4, 6, 64}, Row{5, 6, 125}, Row{7, 8, 343}, Row{8, 10, 512}, Row{9, 10, 729}}) {
    const Array array = built(Levels(row.factors, row.levels), 3);
    EXPECT_EQ(array.runs, row.runs) << row.levels << "^" << row.factors;
    EXPECT_EQ(array.strength, 3U);
  }
}

// Least multiple of 4 above k for two levels.
TEST(ChooseArray, TwoLevelsUpTo98Factors) {
  for (std::uint32_t k = 3; k < 99; ++k) {
    EXPECT_EQ(built(Levels(k, 2), 2).runs, (k / 4 + 1) * 4) << k;
  }
}

// Of strength 3: a row for each pair of rows of an array of two levels and one of three; a column of six levels takes one column
// of each. Neither of the two can be smaller: k columns of two levels take 2 k runs (Rao), a multiple of 8; of three levels 27
// runs have four columns and 54 have five (Hedayat, Sloane and Stufken 1999, table 12.2), and seven are wanted.
TEST(ChooseArray, ProductsOverPrimes) {
  Levels apart(23, 2), joined(7, 6);
  apart.insert(apart.end(), 7, 3);
  joined.insert(joined.end(), 10, 2);  // with those of six, 17 columns of two levels
  for (const auto& [levels, runs] : {std::pair{apart, 48U * 81}, std::pair{joined, 40U * 81}}) {
    const Array array = built(levels, 3);
    EXPECT_EQ(array.runs, runs);
    EXPECT_EQ(array.levels, levels);
    EXPECT_GE(measuredStrength(array, 3), 3U);
  }
}

TEST(ChooseArray, FewFactorsGiveTheFullFactorial) {
  EXPECT_EQ(built({4, 3}, 2).name, "full factorial 3^1 4^1");
  EXPECT_EQ(built({4, 3}, 2).runs, 12U);
  EXPECT_EQ(built({5}, 2).runs, 5U);
  EXPECT_EQ(built({}, 2).runs, 1U);
  EXPECT_EQ(built({}, 2).name, "one row");
  EXPECT_EQ(built({1, 1}, 2).runs, 1U);
  EXPECT_EQ(built({3, 2, 5}, 3).runs, 30U);
}

TEST(ChooseArray, FullFactorialIsSmallestWhereNothingSmallerCanExist) {
  EXPECT_EQ(built({2, 3, 4}, 2).runs, 24U);  // lcm(2 3, 2 4, 3 4) = 24
  EXPECT_EQ(built({2, 3, 4, 5}, 2).runs, 120U);
}

TEST(ChooseArray, ConstantFactorsTakeAConstantColumn) {
  const Array array = built({4, 1, 4, 4}, 2);
  EXPECT_EQ(array.runs, 16U);
  EXPECT_EQ(array.name, "L16(4^3)");
  for (std::size_t r = 0; r < array.runs; ++r) EXPECT_EQ(array.at(r, 1), 0U);
}

TEST(ChooseArray, RefusesPlainly) {
  Options few;
  few.maxRows = 100;
  const Refusal mixed = refused({2, 2, 3, 3, 4, 4}, 2, few);
  EXPECT_EQ(mixed.smallestPossible, 144U);
  EXPECT_EQ(offer(mixed, Offer::Kind::Full), nullptr);
  EXPECT_NE(offer(mixed, Offer::Kind::Levels), nullptr);
  few.maxRows = 60;
  const Refusal sixes = refused({6, 6, 6, 6}, 2, few);
  EXPECT_NE(sixes.reason.find("no construction"), std::string::npos);
  ASSERT_NE(offer(sixes, Offer::Kind::Levels), nullptr);
  EXPECT_EQ(offer(sixes, Offer::Kind::Levels)->levels, Levels(4, 5));
  EXPECT_EQ(offer(sixes, Offer::Kind::Levels)->runs, 25U);
  few.maxRows = 50;
  const Refusal three = refused(Levels(5, 3), 3, few);
  ASSERT_NE(offer(three, Offer::Kind::Strength), nullptr);
  EXPECT_EQ(offer(three, Offer::Kind::Strength)->runs, 18U);
  EXPECT_EQ(refused({3, 0}, 2).reason, "factor 2 has no levels");
}

TEST(ChooseArray, OffersAreTrue) {
  std::size_t offered = 0;
  for (const Levels& levels : {Levels{2, 2, 3, 3, 4, 4}, Levels{6, 6, 6, 6}, Levels{10, 10, 10, 10, 10}, Levels{2, 2, 2, 2, 6},
                               Levels{3, 3, 3, 3, 14}}) {
    Options few;
    few.maxRows = 20;
    for (const Offer& each : refused(levels, 2, few).offers) {
      if (each.kind == Offer::Kind::Dummy) continue;
      ++offered;
      Options options;
      options.full = each.kind == Offer::Kind::Full;
      EXPECT_EQ(built(each.levels.empty() ? levels : each.levels, 2, options).runs, each.runs) << each.text;
    }
  }
  EXPECT_GE(offered, 5U) << "as many as refusals";
}

TEST(ChooseArray, Full) {
  Options options;
  options.full = true;
  const Array array = built({2, 3, 2}, 2, options);
  EXPECT_EQ(array.runs, 12U);
  EXPECT_EQ(array.strength, 3U);
  std::set<std::vector<std::uint32_t>> rows;
  for (std::size_t r = 0; r < array.runs; ++r) rows.insert({array.row(r).begin(), array.row(r).end()});
  EXPECT_EQ(rows.size(), 12U);
  options.maxRows = 11;
  EXPECT_EQ(refused({2, 3, 2}, 2, options).reason, "the full factorial has more than 11 rows");
}

TEST(ChooseArray, Rows) {
  Options options;
  options.rows = 63;
  const Array sevenTimes = built({3, 3, 3, 3}, 2, options);
  EXPECT_EQ(sevenTimes.runs, 63U);
  EXPECT_EQ(sevenTimes.replicates, 7U);
  EXPECT_EQ(sevenTimes.name, "L9(3^4), 7 times");
  EXPECT_FALSE(findImbalance(sevenTimes, 2).has_value());
  options.rows = 32;
  EXPECT_EQ(built({4, 4, 4}, 2, options).name, "L32(4^3)");  // of a difference scheme, rather than twice L16
  options.rows = 64;
  EXPECT_EQ(built({4, 4, 4}, 2, options).strength, 3U);  // the full factorial rather than four copies
  options.rows = 24;
  EXPECT_EQ(built(Levels(7, 2), 2, options).replicates, 1U);  // Hadamard of order 24 rather than three times L8
  options.rows = 20;
  const Refusal wrong = refused({4, 4, 4}, 2, options);
  EXPECT_NE(wrong.reason.find("multiple of 16"), std::string::npos);
  std::set<std::uint64_t> sizes;
  for (const Offer& each : wrong.offers) {
    if (each.kind == Offer::Kind::Rows) sizes.insert(each.runs);
  }
  EXPECT_EQ(sizes, (std::set<std::uint64_t>{16, 32}));
  options.rows = 0;
  EXPECT_EQ(refused({4, 4, 4}, 2, options).reason, "`rows 0` asks for no rows");
}

TEST(ChooseArray, ByName) {
  Options options;
  options.arrayName = "L16";
  EXPECT_EQ(built({4, 4, 4}, 2, options).name, "L16(4^3)");
  options.arrayName = "L16(4^5)";
  EXPECT_EQ(built({4, 4, 4}, 2, options).runs, 16U);
  options.arrayName = "L36";
  EXPECT_EQ(built({3, 3, 3}, 2, options).runs, 36U);
  options.arrayName = "L18(2^1 3^7)";
  EXPECT_EQ(built({2, 3, 3}, 2, options).runs, 18U);
  options.arrayName = "L18(3^8)";
  EXPECT_EQ(refused({3, 3, 3}, 2, options).reason, "no construction that is here gives `L18(3^8)` with levels 3^8");
  options.arrayName = "L18(3^7)";
  EXPECT_NE(refused({4, 3, 3}, 2, options).reason.find("no columns"), std::string::npos);
  options.arrayName = "Latin";
  EXPECT_NE(refused({3, 3, 3}, 2, options).reason.find("not a name"), std::string::npos);
  options.arrayName = "L8";
  EXPECT_NE(refused({4, 4, 4}, 2, options).reason.find("multiple of 16"), std::string::npos);
  options.arrayName = "L16";
  options.rows = 32;
  EXPECT_EQ(refused({4, 4, 4}, 2, options).reason, "`L16` has 16 rows, not 32");
}

// 2^2 3^2 4^2 in 16 rows: a level that fills in for a missing one makes the counts 8, 4, 4, and in every pair of columns the
// counts are products of those (Addelman 1962: proportional frequencies).
TEST(ChooseArray, DummyLevelsWhenAsked) {
  const Levels levels{2, 2, 3, 3, 4, 4};
  Options options;
  options.rows = 16;
  const Refusal refusal = refused(levels, 2, options);
  ASSERT_NE(offer(refusal, Offer::Kind::Dummy), nullptr);
  EXPECT_EQ(offer(refusal, Offer::Kind::Dummy)->runs, 16U);
  options.arrayName = "L16(2^2 4^4)";
  const Array array = built(levels, 2, options);
  EXPECT_EQ(array.name, "L16(2^2 4^4), dummy levels");
  EXPECT_EQ(array.strength, 0U);
  const auto counts = levelCounts(array);
  EXPECT_EQ(counts[2], (std::vector<std::uint64_t>{8, 4, 4}));
  for (std::size_t a = 0; a < levels.size(); ++a) {
    for (std::size_t b = a + 1; b < levels.size(); ++b) {
      std::vector<std::uint64_t> pairs(std::size_t{levels[a]} * levels[b], 0);
      for (std::size_t r = 0; r < array.runs; ++r) ++pairs[array.at(r, a) * levels[b] + array.at(r, b)];
      for (std::size_t x = 0; x < pairs.size(); ++x)
        EXPECT_EQ(pairs[x] * 16, counts[a][x / levels[b]] * counts[b][x % levels[b]]);
    }
  }
}

TEST(ChooseArray, SeedGivesAnotherArrayOfTheSameKind) {
  Options options;
  options.seed = 7;
  const Array canonical = built(Levels(4, 3), 2), shuffled = built(Levels(4, 3), 2, options),
              again = built(Levels(4, 3), 2, options);
  EXPECT_NE(canonical.cells, shuffled.cells);
  EXPECT_EQ(shuffled.cells, again.cells);
  EXPECT_FALSE(findImbalance(shuffled, 2).has_value());
  EXPECT_EQ(*wordLengthPattern(canonical, 4), *wordLengthPattern(shuffled, 4));
}

TEST(ChooseArray, SizeLimits) {
  EXPECT_NE(refused(Levels(12, 10), 11).reason.find("more than"), std::string::npos);
  EXPECT_NE(refused(Levels(3, 2000), 2).reason.find("more than"), std::string::npos);
  EXPECT_EQ(built(Levels(1000, 2), 2).runs, 1008U);
}

// Sizes that the help of R's DoE.base (`oa_feasible`) declares infeasible, and two that it does not.
TEST(Bounds, KnownInfeasible) {
  struct Row {
    std::uint64_t runs;
    Levels levels;
    std::uint32_t strength;
  };
  const auto excluded = [](const Row& row) {
    const Bounds bound = bounds(row.levels, row.strength);
    return row.runs % bound.divisor != 0 || row.runs < bound.smallest;
  };
  for (const Row& row :
       {Row{51, Levels(7, 5), 2}, Row{1024, Levels(14, 2), 7}, Row{6561, Levels(11, 3), 8}, Row{25, Levels(7, 5), 2},
        Row{256, Levels(7, 4), 4}, Row{54, Levels(26, 3), 2}, Row{24, {2, 4, 3, 4}, 2}})
    EXPECT_TRUE(excluded(row)) << row.runs;
  for (const Row& row : {Row{243, Levels(11, 3), 4}, Row{48, {2, 2, 3, 4, 4}, 2}}) EXPECT_FALSE(excluded(row)) << row.runs;
}

TEST(Bounds, ByName) {
  EXPECT_EQ(bounds({2, 4, 3, 4}, 2).divisor, 48U);
  EXPECT_EQ(bounds(Levels(7, 3), 2).rao, 15U);
  EXPECT_EQ(bounds(Levels(9, 4), 2).rao, 28U);
  EXPECT_EQ(bounds(Levels(11, 5), 2).rao, 45U);
  EXPECT_EQ(bounds({2, 2, 3, 3, 4, 4}, 2).smallest, 144U);
  EXPECT_EQ(bounds({4, 4, 5, 5}, 2).divisor, 400U);
  EXPECT_STREQ(bounds(Levels(4, 10), 2).by, "divisibility");
  EXPECT_STREQ(bounds(Levels(7, 3), 2).by, "Rao's bound");
  EXPECT_EQ(bounds(Levels(5, 3), 3).smallest, 54U);  // 243 (1 - 10/12) > 27
  EXPECT_STREQ(bounds(Levels(5, 3), 3).by, "Bierbrauer's bound");
  EXPECT_EQ(bounds(Levels(7, 5), 3).smallest, 250U);  // 125 would do for Rao; six columns at most
  EXPECT_STREQ(bounds(Levels(7, 5), 3).by, "Bush's bound");
  EXPECT_EQ(bounds(Levels(26, 3), 2).smallest, 63U);  // 54 would do for Rao
  EXPECT_STREQ(bounds(Levels(26, 3), 2).by, "Bose and Bush's bound");
}

// Delsarte's bound where the optimum is known: the dual of the perfect ternary Golay code, Nordstrom and Robinson's code. It is
// never below Rao's, nor above an array that there is.
TEST(Bounds, LinearProgramming) {
  EXPECT_EQ(linearProgrammingBound(Levels(11, 3), 4), 243U);
  EXPECT_EQ(linearProgrammingBound(Levels(16, 2), 5), 256U);  // Nordstrom and Robinson's code is optimal
  EXPECT_EQ(linearProgrammingBound({2, 2, 2}, 2), 4U);
  EXPECT_EQ(linearProgrammingBound(Levels(3, 5), 2), 25U);
  for (const Levels& levels :
       {Levels(7, 3), Levels{2, 3, 3, 3, 3, 3, 3, 3}, Levels(9, 4), Levels{2, 2, 2, 2, 4}, Levels(5, 3), Levels(13, 3)}) {
    EXPECT_LE(linearProgrammingBound(levels, 2), built(levels, 2).runs);
    EXPECT_GE(linearProgrammingBound(levels, 2), bounds(levels, 2).rao);
  }
  EXPECT_EQ(sharpBounds(Levels(16, 2), 5).smallest, 256U);
}
