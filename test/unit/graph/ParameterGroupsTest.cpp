#include "compiler/graph/pass/ParameterGroups.h"

#include "compiler/support/NameCover.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbem::graph {
namespace {

bool names(const char* place, const char* path) { return WeightPlace{place, false, {}}.names(path); }
bool fits(const char* pattern, const char* path) { return WeightPlace{pattern, true, {}}.names(path); }

TEST(ParameterGroups, APlaceIsAWeightOrWhatHoldsIt) {
  EXPECT_TRUE(names("head", "head.weight"));
  EXPECT_TRUE(names("head.weight", "head.weight"));
  EXPECT_TRUE(names("stage[2]", "stage[2].unit[0].conv2d.weight"));
  EXPECT_TRUE(names("stage", "stage[2].unit[0].conv2d.weight"));
  EXPECT_TRUE(names("stage.conv2d", "stage[2].unit[0].conv2d.weight"));  // turns of loops are left out
  EXPECT_FALSE(names("stage[2]", "stage[20].conv2d.weight"));
  EXPECT_TRUE(names("blocks[0][1]", "blocks[0][1].weight"));  // a list of lists
  EXPECT_TRUE(names("blocks[0]", "blocks[0][1].weight"));
  EXPECT_TRUE(names("blocks.weight", "blocks[0][1].weight"));
  EXPECT_FALSE(names("blocks[0][1]", "blocks[0][0].weight"));
  EXPECT_FALSE(names("blocks[0][1]", "blocks[1][1].weight"));
  EXPECT_FALSE(names("head", "heads.weight"));
  EXPECT_FALSE(names("weight", "head.weight"));
  EXPECT_FALSE(names("head.weight.more", "head.weight"));
}

TEST(ParameterGroups, APatternFitsWholePaths) {
  EXPECT_TRUE(fits("*.bias", "stage[0].norm.bias"));
  EXPECT_TRUE(fits("*", "x"));
  EXPECT_TRUE(fits("stage[*].norm.*", "stage[3].norm.weight"));
  EXPECT_TRUE(fits("a*b*c", "abc"));
  EXPECT_TRUE(fits("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(fits("head.bias", "head.bias"));
  EXPECT_FALSE(fits("head.bias", "head.bias2"));
  EXPECT_FALSE(fits("*.bias", "bias"));
  EXPECT_FALSE(fits("a*a", "a"));  // the two are two letters
  EXPECT_FALSE(fits("a*b*c", "acb"));
  EXPECT_FALSE(fits("", "x"));
  EXPECT_TRUE(fits("for[1].stage", "for[1].stage.conv2d.weight"));  // without a star it is a place, which a keyword may begin
}

using Names = std::vector<std::string>;

TEST(NameCover, ModulesThatHoldNothingElse) {
  const NameCover cover = coverOf({"stem.0.w", "stem.0.b", "stem.1.w", "head.w"}, {"head.b", "body.w"});
  EXPECT_EQ(cover.modules, Names{"stem."});
  EXPECT_EQ(cover.alone, Names{"head.w"});
  const NameCover deep = coverOf({"a.0.w", "a.2.w", "a.2.b"}, {"a.1.w", "a.20.w"});
  EXPECT_EQ(deep.modules, (Names{"a.0.", "a.2."}));
  EXPECT_TRUE(deep.alone.empty());
  EXPECT_EQ(coverOf({"w"}, {}).alone, Names{"w"});
  EXPECT_TRUE(coverOf({}, {"w"}).modules.empty());
}

}  // namespace
}  // namespace tbem::graph
