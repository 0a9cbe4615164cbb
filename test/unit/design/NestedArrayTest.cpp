#include "compiler/design/choose/NestedArray.h"
#include "compiler/design/verify/VerifyNested.h"

#include "compiler/design/cover/Covering.h"
#include "compiler/design/model/Terms.h"
#include "compiler/design/verify/Aliases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace tbem::design;

namespace {

Array arrayOf(const std::vector<std::uint32_t>& levels, const std::vector<Nested>& nested, const Options& options = {},
              std::uint32_t strength = 2) {
  const Choice choice = chooseNestedArray(levels, nested, strength, options);
  if (const auto* refusal = std::get_if<Refusal>(&choice)) {
    ADD_FAILURE() << refusal->reason;
    return {};
  }
  return std::get<Array>(choice);
}

TEST(NestedArray, ASharedColumnTakesFewRows) {
  // L8(2^4 4^1): the column of 4 levels is the parent with the factor in it; under the other level each row's pair is one.
  EXPECT_EQ(arrayOf({2, 3, 2, 2, 2, 2}, {{1, 0, {0}}}).runs, 8U);
  // A column of 6 levels beside 3^6 is in L18.
  EXPECT_EQ(arrayOf({2, 4, 3, 3, 3, 3, 3, 3}, {{1, 0, {1}}}).runs, 18U);
}

TEST(NestedArray, SlicesTakeFewerRowsWhereMuchIsNested) {
  // Four factors of two levels under one level: together a column of 32 levels, so 32 rows and more; two L8 need 16.
  EXPECT_EQ(arrayOf({2, 3, 3, 3, 3, 2, 2}, {{1, 0, {0}}, {2, 0, {0}}, {3, 0, {0}}, {4, 0, {0}}}).runs, 16U);
}

TEST(NestedArray, RowsAndNames) {
  Options options;
  options.rows = 16;
  EXPECT_EQ(arrayOf({2, 3, 2, 2, 2, 2}, {{1, 0, {0}}}, options).runs, 16U);
  options.rows.reset();
  options.arrayName = "L16(4^5)";
  EXPECT_EQ(arrayOf({2, 3, 4, 4}, {{1, 0, {0}}}, options).runs, 16U);
  options.arrayName = "L9";
  EXPECT_TRUE(std::holds_alternative<Refusal>(chooseNestedArray({2, 3, 4, 4}, {{1, 0, {0}}}, 2, options)));
}

TEST(NestedArray, StrengthThree) {
  const Array array = arrayOf({2, 3, 2, 2, 2}, {{1, 0, {1}}}, {}, 3);
  EXPECT_FALSE(findNestedImbalance(array, 3));
  EXPECT_LT(array.runs, 2U * 2 * 2 * 2 * 2 + 1);
}

/// Effects within the parent's level: rank, D-efficiency relative to all combinations with equal weights, absent columns 0.
TEST(NestedArray, ModelOfEffectsWithinLevels) {
  const Array array = arrayOf({2, 4, 3}, {{1, 0, {1}}});
  const std::vector<Factor> factors{{"model", {}, {"vgg", "resnet"}, {}},
                                    {"kernel", {3, 5, 7}, {"3", "5", "7"}, Nested{1, 0, {1}}},
                                    {"batch", {2, 4, 8}, {"2", "4", "8"}, {}}};
  const Model model = hierarchical({{{{1, 2}}}, {{{2, 1}}}}, factors);
  ASSERT_EQ(model.added.size(), 2U) << "kernel, and model, in which it is nested";
  EXPECT_EQ(termText(factors, model.added[0]), "model");
  EXPECT_EQ(termText(factors, model.added[1]), "kernel");
  const Basis basis(factors, model.terms);
  const ModelQuality quality = modelQuality(basis, pointsOf(factors, array));
  EXPECT_EQ(quality.rank, basis.size());
  EXPECT_NEAR(quality.dEfficiency, 1, 1e-9);
  std::vector<double> x(basis.size());
  basis.evaluate<double>(Point{0, std::nan(""), 4}, x.data());
  for (std::size_t c = 0; c < basis.size(); ++c) {
    if (basis.name(c).find("kernel") != std::string::npos) {
      EXPECT_EQ(x[c], 0);
    }
  }
}

TEST(NestedArray, CoveringCountsValuesOnly) {
  Constraints rules{{2, 4, 3}, nestingRules({2, 4, 3}, {{1, 0, {1}}}), {{1, 0, {1}}}};
  const Covering covering = std::get<Covering>(coveringArray(rules, 2));
  // Pairs: kernel and batch 9, kernel with its parent's level 3, model and batch 6; kernel with the other model cannot be: 3.
  EXPECT_EQ(covering.covered, 18U);
  EXPECT_EQ(covering.impossible, 3U);
  EXPECT_EQ(covering.array.runs, 12U) << "9 rows with a kernel, 3 batches without";
  EXPECT_TRUE(covering.optimal());
}

}  // namespace
