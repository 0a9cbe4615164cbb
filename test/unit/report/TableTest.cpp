// Tables, line by line.
#include "runtime/report/Table.h"

#include "runtime/report/Numbers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace tbem::report {
namespace {

Table sample() {
  Table table;
  table.columns = {{"row"}, {"network", Align::Left}, {"memory", Align::Decimal}, {"status", Align::Left}};
  table.add({"0", "cifar_resnet", "98.00 MiB", {"ok", Tone::Good}});
  table.add({"10", "日本語", "1.500 GiB", {"oom", Tone::Bad}});
  table.add({"2", "vgg", "512 B"});
  table.add({"3", "x", "-"});
  return table;
}

TEST(Table, AlignsPointsUnitsAndWideCharacters) {
  EXPECT_EQ(render(sample(), {100, false, true}),
            "row  network            memory  status\n"
            "--------------------------------------\n"
            "  0  cifar_resnet   98.00  MiB  ok\n"
            " 10  日本語          1.500 GiB  oom\n"
            "  2  vgg           512     B\n"
            "  3  x                       -\n");
}

TEST(Table, NegativeAndGroupedNumbersAlignToo) {
  Table table;
  table.columns = {{"a", Align::Decimal}};
  table.add({"-1.25"});
  table.add({grouped(12345)});
  table.add({"3"});
  EXPECT_EQ(render(table, {100, false, true}), "        a\n---------\n    -1.25\n12\u202F345\n     3\n");
}

TEST(Table, HasATitleAndRules) {
  Table table = sample();
  table.title = "table1 on cpu";
  table.rules = {2};
  const std::string text = render(table, {100, false, false});
  EXPECT_TRUE(text.starts_with("table1 on cpu\n"));
  std::istringstream lines(text);
  std::size_t rules = 0;
  for (std::string line; std::getline(lines, line);) {
    rules += line.starts_with("─") ? 1 : 0;
    EXPECT_FALSE(line.ends_with(' '));
  }
  EXPECT_EQ(rules, 2u);
}

TEST(Table, IsSplitWhereTheTerminalIsNarrow) {
  const std::string text = render(sample(), {30, false, true});
  std::istringstream lines(text);
  std::size_t heads = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(displayWidth(line), 30u) << line;
    heads += line.starts_with("row") ? 1 : 0;
  }
  EXPECT_EQ(heads, 2u);  // the first column leads each block
  for (const char* cell : {"cifar_resnet", "98.00  MiB", "1.500 GiB", "oom"})
    EXPECT_NE(text.find(cell), std::string::npos) << cell;
}

TEST(Table, CutsNothingEvenWhereNoColumnFits) {
  const std::string text = render(sample(), {4, false, true});
  for (const char* cell : {"cifar_resnet", "98.00  MiB", "oom"}) EXPECT_NE(text.find(cell), std::string::npos) << cell;
}

TEST(Table, ColoursDoNotMoveColumns) {
  std::string text = render(sample(), {100, true, true});
  EXPECT_NE(text.find("\x1b[32mok\x1b[0m"), std::string::npos);
  for (std::size_t at; (at = text.find("\x1b[")) != std::string::npos;) text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, render(sample(), {100, false, true}));
}

TEST(Table, OfNoRowsAndOfNoColumns) {
  Table table;
  EXPECT_EQ(render(table, {}), "");
  table.columns = {{"a"}, {"b"}};
  EXPECT_EQ(render(table, {100, false, true}), "a  b\n----\n");
}

TEST(Color, FollowsTheChoice) {
  EXPECT_TRUE(useColor("always", 0));
  EXPECT_FALSE(useColor("never", 0));
}

TEST(TerminalWidth, TakesColumnsWhereThereIsNoTerminal) {
  ::setenv("COLUMNS", "77", 1);
  EXPECT_EQ(terminalWidth(-1), 77u);
  ::setenv("COLUMNS", "many", 1);
  EXPECT_EQ(terminalWidth(-1), 100u);
  ::unsetenv("COLUMNS");
  EXPECT_EQ(terminalWidth(-1), 100u);
}

/// Columns of 3, 4, 4 and 4 letters with gaps of 2: 21 in all, 15 without the last.
Table ranked() {
  Table table;
  table.columns = {{"row"}, {"last", Align::Right, 0}, {"rank", Align::Right, 1}, {"most", Align::Right, 2}};
  table.add({"1", "a", "b", "c"});
  return table;
}

TEST(Table, DropsColumnsOfTheHighestRankFirst) {
  Table whole = ranked();
  EXPECT_TRUE(dropWide(whole, 21).empty());
  Table less = ranked();
  EXPECT_EQ(dropWide(less, 20), std::vector<std::string>{"most"});
  EXPECT_TRUE(fits(less, 15));
  EXPECT_FALSE(fits(less, 14));
  EXPECT_EQ(dropWide(less, 14), std::vector<std::string>{"rank"});
  EXPECT_TRUE(dropWide(less, 1).empty()) << "columns of rank 0 stay";
  EXPECT_EQ(less.columns.size(), 2u);
  EXPECT_EQ(less.rows[0].size(), 2u);
  Table twice = ranked();
  EXPECT_EQ(dropWide(twice, 10), (std::vector<std::string>{"rank", "most"})) << "told in the table's order";
}

TEST(Table, RecordsWrapAtTheWidth) {
  Table table = ranked();
  table.rows[0][1].text.clear();
  table.rows[0][3].text = "words that go on beyond it";
  EXPECT_EQ(renderRecords(table, {24, false, true}),
            "row 1, rank b, most\n"
            "    words that go on\n"
            "    beyond it\n");
}

}  // namespace
}  // namespace tbem::report
