// Tables of other people's names for weights.
#include "compiler/run/weights/WeightNames.h"

#include <gtest/gtest.h>

using namespace tbem::driver;

namespace {

std::vector<NameRule> rulesOf(std::string_view text) {
  auto rules = parseNameTable(text);
  EXPECT_TRUE(rules) << rules.error();
  return rules.value_or(std::vector<NameRule>{});
}

using Indices = std::vector<std::size_t>;

Indices matched(std::string_view table, const std::vector<NamedRank>& theirs, const std::vector<std::string>& ours) {
  const auto result = matchNames(rulesOf(table), theirs, ours);
  EXPECT_TRUE(result) << result.error();
  return result.value_or(Indices{});
}

}  // namespace

TEST(WeightNames, NumbersPairByTheirOrder) {
  // By number, not by text (2 before 10), and by all numbers in turn; the numbers themselves need not agree.
  const std::vector<NamedRank> theirs = {{"f.10.w", 4}, {"f.2.w", 4}, {"f.0.w", 4}};
  EXPECT_EQ(matched("f.{}.w s[{}].c[{}].w", theirs, {"s[0].c[0].w", "s[0].c[1].w", "s[1].c[0].w"}), (Indices{2, 1, 0}));
}

TEST(WeightNames, WordsPairByTheirPlaces) {
  const std::vector<NamedRank> theirs = {{"l1.c.weight", 1}, {"l1.c.bias", 1}, {"l1.c_2.bias", 1}, {"l1.c_2.weight", 1}};
  EXPECT_EQ(matched("l{}.{c,c_2}.{weight,bias} s[{}].{x,y}.{w,b}", theirs, {"s[0].x.w", "s[0].x.b", "s[0].y.w", "s[0].y.b"}),
            (Indices{0, 1, 3, 2}));
}

TEST(WeightNames, StarsPairByDefinition) {
  // A convolution and the norm behind it: 0 and 1, then 3 and 4; the paths are listed weights first.
  const std::vector<NamedRank> theirs = {{"f.0.weight", 4}, {"f.0.bias", 1}, {"f.1.weight", 1}, {"f.1.bias", 1},
                                         {"f.3.weight", 4}, {"f.3.bias", 1}, {"f.4.weight", 1}, {"f.4.bias", 1}};
  const std::vector<std::string> ours = {"s[0].conv.weight", "s[0].a_norm.weight", "s[0].conv.bias", "s[0].a_norm.bias",
                                         "s[1].conv.weight", "s[1].a_norm.weight", "s[1].conv.bias", "s[1].a_norm.bias"};
  EXPECT_EQ(matched("f.{}.{weight,bias} s[{}].*.{weight,bias}", theirs, ours), (Indices{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(matched("f.{}.{weight,bias} *.{weight,bias}", {{"f.0.weight", 1}}, {"a.b.weight", "c.weight"}), (Indices{1}));
}

TEST(WeightNames, AnEarlierLineTakesItsNames) {
  const std::vector<NamedRank> theirs = {{"a.0", 1}, {"a.1", 1}, {"a.2", 1}};
  EXPECT_EQ(matched("a.1 x\na.{} y[{}]", theirs, {"y[0]", "y[1]", "x"}), (Indices{0, 2, 1}));
}

TEST(WeightNames, RanksUnusedAndUnmatched) {
  const std::vector<NamedRank> theirs = {{"f.0.weight", 4}, {"f.1.weight", 1}, {"f.1.count", 0}, {"g", 1}};
  EXPECT_EQ(matched("f.{}.weight/4 conv[{}].weight  # not the norm's\nf.{}.weight norm.weight\nf.{}.count -", theirs,
                    {"norm.weight", "conv[0].weight"}),
            (Indices{1, 0, kUnused, kUnmatched}));
}

TEST(WeightNames, PatternsMatchWholeNames) {
  const std::vector<NamedRank> theirs = {{"fc.weight_x", 1}, {"xfc.weight", 1}, {"fc.", 1}, {"fc.weigh", 1}};
  EXPECT_EQ(matched("fc.weight w\nfc.{} w", theirs, {}), (Indices{kUnmatched, kUnmatched, kUnmatched, kUnmatched}));
}

TEST(WeightNames, CountsMustAgree) {
  const std::vector<NamedRank> theirs = {{"a.0", 1}, {"a.1", 1}};
  const std::vector<std::string> ours = {"b[0]"};
  EXPECT_EQ(matchNames(rulesOf("# first\na.{} b[{}]"), theirs, ours).error(),
            "line 2 of the table of names: `a.{}` matches 2 arrays of the file, `b[{}]` matches 1 of the network; "
            "without a partner: `a.1`");
}

TEST(WeightNames, SaysWhatIsWrongWithATable) {
  EXPECT_EQ(parseNameTable("a b\nc\n").error(), "line 2: two patterns were expected, theirs and ours (or `-`)");
  EXPECT_EQ(parseNameTable("a b c").error(), "line 1: two patterns were expected, theirs and ours (or `-`)");
  EXPECT_TRUE(parseNameTable("")->empty());
  EXPECT_NE(loadNameTable("nobody", "resnet").error().find("no table gives the names of `nobody` for the network `resnet`"),
            std::string::npos);
  EXPECT_NE(loadNameTable("./missing.names", "resnet").error().find("(errno 2)"), std::string::npos);
}
