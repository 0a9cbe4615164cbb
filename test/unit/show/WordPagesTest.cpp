// The sections of a page of words, and those of docs/words.md.
#include "compiler/show/reference/WordPages.h"

#include <gtest/gtest.h>

namespace tbem::show {
namespace {

using Words = std::vector<std::string_view>;

TEST(WordSections, BeginWithHeadingsAndNotInPrograms) {
  const std::vector<WordSection> sections = wordSections(
      "# Title\nBefore `all`.\n\n## `skip`, `exit`\nGates.\n\n```\n## `no` heading\n```\n\n"
      "## Types: `i64`\n\nIntegers.\n### `Below`\n");
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].words, (Words{"skip", "exit"}));
  EXPECT_EQ(sections[0].text, "Gates.\n\n```\n## `no` heading\n```");
  EXPECT_EQ(firstParagraph(sections[0]), "Gates.");
  EXPECT_EQ(sections[1].words, (Words{"i64"}));
  EXPECT_EQ(sections[1].text, "Integers.\n### `Below`");
}

TEST(WordSections, OfPagesThatEndEarly) {
  EXPECT_TRUE(wordSections("").empty());
  EXPECT_TRUE(wordSections("No heading, but `a word`.").empty());
  const std::vector<WordSection> open = wordSections("## `a`, `b");
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].words, (Words{"a"}));
  EXPECT_EQ(open[0].text, "");
  EXPECT_EQ(wordSections("## `a`\nText")[0].text, "Text");
}

TEST(LanguageWords, AreFoundInEachOfTheirSections) {
  ASSERT_EQ(sectionsOf("skip").size(), 1U);
  EXPECT_EQ(sectionsOf("skip").front(), sectionsOf("leaving").front());
  const std::vector<const WordSection*> both = sectionsOf("drop");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(meaningOf("drop"), std::string(both[0]->text) + "\n\n" + std::string(both[1]->text));
  EXPECT_TRUE(sectionsOf("conv2d").empty());
  EXPECT_EQ(meaningOf("conv2d"), "");
  EXPECT_EQ(meaningOf(""), "");
}

}  // namespace
}  // namespace tbem::show
