#include "compiler/design/ArrayChoice.h"
#include "compiler/design/Verify.h"

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

// Least multiple of 4 above k for two levels; 92 is the one order below 100 that needs more.
TEST(ChooseArray, TwoLevelsUpTo98Factors) {
  for (std::uint32_t k = 3; k < 99; ++k) {
    const std::size_t least = (k / 4 + 1) * 4;
    EXPECT_EQ(built(Levels(k, 2), 2).runs, least == 92 ? 96 : least) << k;
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
  const Refusal mixed = refused({2, 2, 3, 3, 4, 4}, 2);
  EXPECT_EQ(mixed.smallestPossible, 144U);
  ASSERT_NE(offer(mixed, Offer::Kind::Full), nullptr);
  EXPECT_EQ(offer(mixed, Offer::Kind::Full)->runs, 576U);
  EXPECT_NE(offer(mixed, Offer::Kind::Levels), nullptr);
  const Refusal sixes = refused({6, 6, 6, 6}, 2);
  EXPECT_NE(sixes.reason.find("not a power of a prime"), std::string::npos);
  ASSERT_NE(offer(sixes, Offer::Kind::Levels), nullptr);
  EXPECT_EQ(offer(sixes, Offer::Kind::Levels)->levels, Levels(4, 5));
  EXPECT_EQ(offer(sixes, Offer::Kind::Levels)->runs, 25U);
  const Refusal three = refused(Levels(5, 3), 3);
  ASSERT_NE(offer(three, Offer::Kind::Strength), nullptr);
  EXPECT_EQ(offer(three, Offer::Kind::Strength)->runs, 27U);
  EXPECT_EQ(refused({3, 0}, 2).reason, "factor 2 has no levels");
}

TEST(ChooseArray, OffersAreTrue) {
  for (const Levels& levels : {Levels{2, 2, 3, 3, 4, 4}, Levels{6, 6, 6, 6}, Levels{10, 10, 10, 10, 10}, Levels{2, 2, 2, 2, 6},
                               Levels{3, 3, 3, 3, 14}}) {
    for (const Offer& each : refused(levels, 2).offers) {
      Options options;
      options.full = each.kind == Offer::Kind::Full;
      EXPECT_EQ(built(each.levels.empty() ? levels : each.levels, 2, options).runs, each.runs) << each.text;
    }
  }
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
  options.rows = 32;
  const Array twice = built({4, 4, 4}, 2, options);
  EXPECT_EQ(twice.runs, 32U);
  EXPECT_EQ(twice.replicates, 2U);
  EXPECT_EQ(twice.name, "L16(4^3), 2 times");
  EXPECT_FALSE(findImbalance(twice, 2).has_value());
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
  EXPECT_NE(refused({3, 3, 3}, 2, options).reason.find("not there yet"), std::string::npos);
  options.arrayName = "L18(2^1 3^7)";
  EXPECT_NE(refused({2, 3, 3}, 2, options).reason.find("not there yet"), std::string::npos);
  options.arrayName = "L18(3^7)";
  EXPECT_NE(refused({2, 3, 3}, 2, options).reason.find("no columns"), std::string::npos);
  options.arrayName = "Latin";
  EXPECT_NE(refused({3, 3, 3}, 2, options).reason.find("not a name"), std::string::npos);
  options.arrayName = "L8";
  EXPECT_NE(refused({4, 4, 4}, 2, options).reason.find("multiple of 16"), std::string::npos);
  options.arrayName = "L16";
  options.rows = 32;
  EXPECT_EQ(refused({4, 4, 4}, 2, options).reason, "`L16` has 16 rows, not 32");
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

// Sizes that the help of R's DoE.base (`oa_feasible`) declares infeasible by divisibility or Rao's bound, and bounds from its
// catalogue.
TEST(Bounds, KnownInfeasible) {
  struct Row {
    std::uint64_t runs;
    Levels levels;
    std::uint32_t strength;
  };
  for (const Row& row : {Row{51, Levels(7, 5), 2}, Row{25, Levels(7, 5), 2}, Row{24, {2, 4, 3, 4}, 2}}) {
    const Bounds bound = bounds(row.levels, row.strength);
    EXPECT_TRUE(row.runs % bound.divisor != 0 || row.runs < bound.rao) << row.runs;
  }
  EXPECT_EQ(bounds({2, 4, 3, 4}, 2).divisor, 48U);
  EXPECT_EQ(bounds(Levels(7, 3), 2).rao, 15U);
  EXPECT_EQ(bounds(Levels(9, 4), 2).rao, 28U);
  EXPECT_EQ(bounds(Levels(11, 5), 2).rao, 45U);
  EXPECT_EQ(bounds({2, 2, 3, 3, 4, 4}, 2).smallest, 144U);
  EXPECT_EQ(bounds({4, 4, 5, 5}, 2).divisor, 400U);
}
