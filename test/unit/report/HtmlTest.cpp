// The page of `tbemc report`, and what raises memory over a step.
#include "runtime/report/Html.h"
#include "runtime/report/Rises.h"

#include <gtest/gtest.h>

namespace tbem::report {
namespace {

TEST(Page, NamesAreEscaped) {
  Page page("a <&\"> b", "x < y");
  page.section("<script>");
  page.text("1 < 2 && \"3\"\n");
  Table table;
  table.title = "<b>";
  table.columns = {{"a & b", Align::Left}, {"n", Align::Right}};
  table.add({"<i>", "7"});
  page.table(table);
  const std::string html = page.html();
  EXPECT_NE(html.find("<title>a &lt;&amp;&quot;&gt; b</title>"), std::string::npos);
  EXPECT_NE(html.find("<h2>&lt;script&gt;</h2>"), std::string::npos);
  EXPECT_NE(html.find("<p>1 &lt; 2 &amp;&amp; &quot;3&quot;</p>"), std::string::npos);
  EXPECT_NE(html.find("<caption>&lt;b&gt;</caption>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"col\">a &amp; b</th><th scope=\"col\" class=\"n\">n</th>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">&lt;i&gt;</th><td class=\"n\">7</td>"), std::string::npos);
}

TEST(Page, SectionsWithoutAnythingAreLeftOut) {
  Page page("t", "");
  page.section("first");
  page.section("second");
  page.text("\n\none\ntwo");
  page.text(" more\n");
  const std::string html = page.html();
  EXPECT_EQ(html.find("first"), std::string::npos);
  EXPECT_NE(html.find("<section id=\"s1\">\n<h2>second</h2>"), std::string::npos);
  EXPECT_NE(html.find("<p>one</p><p>two more</p>"), std::string::npos);
}

Timeline stepOf(const std::vector<std::vector<double>>& bytes) {
  Timeline timeline;
  timeline.kinds = {"weights", "activations"};
  for (std::size_t m = 0; m < bytes.size(); ++m) timeline.moments.push_back({"op" + std::to_string(m), bytes[m], {}});
  timeline.phases = {{"forward", 0}, {"backward", 3}};
  return timeline;
}

TEST(Rises, EachNamesItsMomentAndKind) {
  // 1000, 1600, 1400, 1405, 1500: rises of 1000, 600, 5 and 95; of the peak's half a percent, 8, the third is less.
  Timeline timeline = stepOf({{1000, 0}, {1100, 500}, {1100, 300}, {1100, 305}, {1100, 400}});
  const Rises rises = risesOf(timeline, "r");
  EXPECT_EQ(rises.table.title, "what raises it: 3 of 4 rises");
  ASSERT_EQ(rises.table.rows.size(), 3U);
  const auto text = [&](std::size_t row, std::size_t column) { return rises.table.rows[row][column].text; };
  EXPECT_EQ(text(0, 3), "weights");
  EXPECT_EQ(text(1, 2), "op1");
  EXPECT_EQ(text(1, 3), "activations");
  EXPECT_EQ(text(1, 4), "600 B");
  EXPECT_EQ(text(1, 6), "100 %");
  EXPECT_EQ(text(2, 1), "backward");
  EXPECT_EQ(text(2, 4), "95 B");
  EXPECT_EQ(rises.anchors, (std::vector<std::string>{"r1", "r2", "r5"}));
  EXPECT_EQ(timeline.moments[4].link, "#r5");
  EXPECT_EQ(timeline.moments[3].link, "");
  EXPECT_NE(timelineSvg(timeline).find("<a href=\"#r5\"><rect"), std::string::npos);
}

TEST(Rises, TheLargestStayInOrderOfTime) {
  Timeline timeline = stepOf({{10, 0}, {40, 0}, {60, 0}, {100, 0}});
  const Rises rises = risesOf(timeline, "r", 2);
  EXPECT_EQ(rises.anchors, (std::vector<std::string>{"r2", "r4"}));
}

}  // namespace
}  // namespace tbem::report
