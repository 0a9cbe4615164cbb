// When an entry is whole, and what it is.
#include "compiler/repl/Entry.h"

#include <gtest/gtest.h>

#include <string>

namespace tbem::repl {
namespace {

TEST(IsWhole, EndsWhereNothingIsOpen) {
  for (const char* text : {"1 + 2\n", "let a = 3\n", ":list\n", "?conv2d\n", "// why\n", "\n", "relu([8, 16])\n",
                           "network f(x: tensor[n]) -> tensor[n] { return relu(x) }\n", "plot [1, 2]\n", "let a = 3; let b = 4\n",
                           "import std.vision: vgg\n", "\"a text with ( in it\"\n"})
    EXPECT_TRUE(isWhole(text)) << text;
}

TEST(IsWhole, GoesOnWhereSomethingIsOpen) {
  for (const char* text : {"1 +\n", "let a =\n", "[1, 2,\n", "relu([8,\n", "network f(x: tensor[n]) -> tensor[n] {\n",
                           "network f(x: tensor[n]) -> tensor[n] {\n\n", "/* a comment\n", "[8, 3] |>\n",
                           "process P(a: int) b: bool\npre a > 0\n", "[1, // one\n"})
    EXPECT_FALSE(isWhole(text)) << text;
}

TEST(IsWhole, HeaderWithoutABodyEndsByAnEmptyLine) {
  const std::string header = "operator twice(x: tensor[..s]) -> (y: tensor[..s])\n  elementwise y = 2 * x\n";
  EXPECT_FALSE(isWhole(header));
  EXPECT_TRUE(isWhole(header + "\n"));
}

TEST(IsWhole, ProcessEndsByItsWord) {
  const std::string process = "process P(a: int) b: bool\npre a > 0\npost b = (a > 1)\n";
  EXPECT_FALSE(isWhole(process));
  EXPECT_TRUE(isWhole(process + "end_process\n"));
}

TEST(IsWhole, MistakesEnd) {
  for (const char* text : {"1 ** ** 2\n", "let = 3\n", ")\n", "network {\n}\n"}) EXPECT_TRUE(isWhole(text)) << text;
}

TEST(IsWhole, EmptyLineEndsWhatWantsMore) { EXPECT_TRUE(isWhole("1 +\n\n")); }

TEST(BeginsAnother, CommandsAndQuestions) {
  EXPECT_TRUE(beginsAnother(":list"));
  EXPECT_TRUE(beginsAnother("?conv2d"));
  EXPECT_FALSE(beginsAnother("  let y = x"));
}

TEST(ReadEntry, Kinds) {
  EXPECT_EQ(readEntry("  \n").kind, EntryKind::Nothing);
  EXPECT_EQ(readEntry("// only a comment\n").kind, EntryKind::Nothing);
  EXPECT_EQ(readEntry("1 + 2\n").kind, EntryKind::Expression);
  EXPECT_EQ(readEntry("let a = 1\n").kind, EntryKind::Declarations);
  EXPECT_EQ(readEntry("let a = \n").kind, EntryKind::Mistake);
  EXPECT_EQ(readEntry("plot + 1\n").kind, EntryKind::Plot);
  const Entry command = readEntry("  :estimate net --on none \n");
  EXPECT_EQ(command.kind, EntryKind::Command);
  EXPECT_EQ(command.word, "estimate");
  EXPECT_EQ(command.rest, "net --on none");
  const Entry question = readEntry("? conv2d\n");
  EXPECT_EQ(question.kind, EntryKind::Question);
  EXPECT_EQ(question.rest, "conv2d");
  const Entry plotted = readEntry("plot y\n");
  EXPECT_EQ(plotted.kind, EntryKind::Plot);
  EXPECT_EQ(plotted.rest, "y");
  EXPECT_EQ(readEntry("plot\n").kind, EntryKind::Expression) << "a name like any other";
}

}  // namespace
}  // namespace tbem::repl
