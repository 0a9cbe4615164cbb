// A session that keeps what an edit leaves as it was says what a check says that keeps nothing: after a thousand edits of one
// token, in programs with designs, proofs, processes, templates of templates and trainings.
#include "Fresh.h"
#include "compiler/session/CompileSession.h"
#include "compiler/support/Bug.h"
#include "test/SourceTree.h"
#include "test/prop/syntax/Mutants.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

namespace tbem::test {
namespace {

std::string readProgram(const std::string& name) {
  std::ifstream stream(inSources(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Edits : public testing::TestWithParam<const char*> {};

TEST_P(Edits, SayWhatAFreshCheckSays) {
  const std::string path = inSources(GetParam());
  const std::string program = readProgram(GetParam());
  ASSERT_FALSE(program.empty());
  Numbers numbers(seed(7));
  session::CompileSession session;
  std::string text = program;
  constexpr int kEdits = 100, kBack = 4;
  for (int i = 0; i < kEdits; ++i) {
    const std::string edited = i % 2 == 0 ? editOneToken(text, numbers).text : editAlike(text, numbers);
    const Session& now = session.check(path, edited);
    ASSERT_EQ(allOf(now), freshCheck(path, edited)) << "edit " << i << " of " << path << ":\n" << edited;
    // Edits that break nothing stay for a while, so that what is kept is of many programs.
    text = now.sink.hasErrors() || i % kBack == 0 ? program : edited;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Edits,
                         testing::Values("examples/table1/table1.tbem", "examples/own_operator/own_operator.tbem",
                                         "examples/algorithm1/algorithm1.tbem", "examples/figure2/figure2.tbem",
                                         "test/lit/inputs/nested.tbem", "test/lit/inputs/filtered.tbem",
                                         "test/lit/where_process.tbem", "test/lit/sofl.tbem", "test/lit/inputs/train.tbem",
                                         "test/lit/spec_networks.tbem"));

/// Parts that have something to say at every check. Some of these designs break the same condition in the same place, or another
/// one with other numbers: that is told once.
constexpr const char* kMistaken = R"(
network narrow(image: tensor[n, 3, h, w]) -> tensor[n, 4, oh, ow]
  pre h >= 16
{
  return conv2d(image, out: 4, kernel: 40)
}

design coarse of narrow {
  factor batch: 2, 4
  factor size: 32, 64
  input image: [batch, 3, size, size]
}

design coarser of narrow {
  factor batch: 2, 4
  factor size: 20, 32
  input image: [batch, 3, size, size]
}

design coarsest of narrow {
  input image: [2, 3, 8, 64]
}

network summed(x: tensor[n, c]) -> tensor[n, c] { return x + dense(x, 5) }

design less of summed {
  input x: [2, 8]
}

design more of summed {
  input x: [2, 9]
}
)";
constexpr const char* kUnproved = R"(
network halved(x: tensor[n, c]) -> tensor[n, 4]
  pre c mod 2 = 0
{
  return dense(x, 4)
}

design few of halved {
  factor a: 0, 1
  factor b: 0, 1
  factor c: 0, 1
  input x: [4, 8 + a * b * c]
  strength 2
}

network flat(x: tensor[n, c]) -> tensor[n, 4] { return conv2d(x, out: 4, kernel: 3) }

process Halves(size: nat) half: nat
pre  size > 0
post half * 2 = size and half > size
end_process

process Thirds(size, parts: nat) third: nat
pre  size >= 0
post third = size div parts
end_process
)";

class Beside : public testing::TestWithParam<const char*> {};

TEST_P(Beside, WhatIsToldEachTimeIsToldAtItsPlace) {
  const std::string path = inSources("examples/own_operator/beside.tbem");
  const std::string program = readProgram("examples/own_operator/own_operator.tbem");
  Numbers numbers(seed(13));
  session::CompileSession session;
  constexpr int kEdits = 60, kThirds = 3;
  std::size_t told = 0;
  for (int i = 0; i < kEdits; ++i) {
    std::string edited = i % kThirds == 0 ? editNumber(program, numbers) : editAlike(program, numbers);
    edited = std::string(numbers.below(4), '\n') + edited;
    // In front of what is edited or behind it, and now and then edited too.
    const std::string mistaken = i % 5 == 4 ? editNumber(GetParam(), numbers) : std::string(GetParam());
    const std::size_t first = edited.find("tbem 1\n");
    const std::string text = edited.insert(i % 2 == 0 && first != std::string::npos ? first + 7 : edited.size(), mistaken);
    const std::string said = allOf(session.check(path, text));
    ASSERT_EQ(said, freshCheck(path, text)) << "edit " << i << ":\n" << text;
    told += said.empty() ? 0 : 1;
  }
  EXPECT_GT(told, kEdits / 2);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, Beside, testing::Values(kMistaken, kUnproved));

class OnDisk : public TemporaryFolder {};

TEST_F(OnDisk, ModulesOfTheUserAreReadAgain) {
  const std::string path = folder + "/main.tbem";
  const auto module = [](const std::string& width) {
    return "import std.vision: small_vgg\nnetwork net(x: tensor[n, c]) -> tensor[n, 4] { return dense(x, " + width + ") }\n";
  };
  const std::string design = "design d of net {\n  input x: [2, 3]\n}\n";
  session::CompileSession session;
  for (const std::string width : {"4", "5", "wide", "4", "2 + 2"}) {
    std::ofstream(folder + "/parts.tbem") << module(width);
    for (const std::string imports : {"import parts: net\nimport std.text\n", "import std.text\nimport parts: net\n", ""}) {
      const std::string text = imports + design;
      EXPECT_EQ(allOf(session.check(path, text)), freshCheck(path, text)) << width << "\n" << text;
    }
  }
}

/// Ends a check as a stage ends, by a bug or by an exception of its own.
class Ending final : public Events {
public:
  struct Cancelled {};
  std::string at;
  bool bug = false;

  void stageEnds(std::string_view name, double /*seconds*/) override {
    if (name != at) return;
    TBEM_CHECK(!bug);
    throw Cancelled();
  }
};

constexpr const char* kMisspelt =
    "import std.vision: small_vgg\nnetwork net(x: tensor[n, c]) -> tensor[n, 4] { return dens(x, 4) }\n";

TEST(Kept, ACheckThatABugEndsLeavesNothing) {
  Ending events;
  events.bug = true;
  session::CompileSession session({}, events);
  const std::string told = allOf(session.check("net.tbem", kMisspelt));
  EXPECT_NE(told.find("dens"), std::string::npos);
  for (const std::string stage : {"load", "names"}) {
    events.at = stage;
    EXPECT_THROW(session.check("net.tbem", kMisspelt), Bug) << stage;
    events.at.clear();
    EXPECT_EQ(allOf(session.check("net.tbem", kMisspelt)), told) << stage;
  }
}

TEST(Kept, ACheckThatIsEndedLeavesTheProgram) {
  const std::string program = readProgram("test/lit/inputs/nested.tbem");
  const std::string path = inSources("test/lit/inputs/nested.tbem");
  const std::string told = freshCheck(path, program);
  for (const std::string stage : {"names", "design", "graph", "beyond"}) {
    Ending events;
    session::CompileSession session({}, events);
    events.at = stage;
    const driver::Workspace& read = session.read(path, program);
    EXPECT_THROW(session.check(), Ending::Cancelled) << stage;
    EXPECT_FALSE(read.all<ast::Design>().empty());
    events.at.clear();
    EXPECT_EQ(allOf(session.check(path, program)), told) << stage;
    EXPECT_EQ(allOf(session.check(path, kMisspelt)), freshCheck(path, kMisspelt)) << stage;
  }
}

TEST(Kept, ALongerFileMovesTheLibrary) {
  session::CompileSession session;
  const std::string text = "network net(x: tensor[n, c]) -> tensor[n, 4] { return dense(x, 4) }\n";
  const std::string wrong = "network net(x: tensor[n, c]) -> tensor[n, 4] { return dens(x, 4) }\n";
  constexpr std::size_t kLong = 70'000;  // bytes: more than are reserved for a file at first
  for (const std::string& one : {text, wrong, std::string(kLong, '\n') + wrong, wrong, text})
    EXPECT_EQ(allOf(session.check("net.tbem", one)), freshCheck("net.tbem", one));
}

/// How many graphs of rows were asked for.
struct CountingRows final : Events {
  int rows = 0;
  void progress(std::size_t /*done*/, std::size_t /*total*/, std::string_view what) override {
    if (what.ends_with("its graph")) ++rows;
  }
};

TEST(Kept, RowsAreNotLookedAtAgainForCommentsAndBlanks) {
  const std::string head = "network net(x: tensor[n, c]) -> tensor[n, 4] {\n";
  const auto design = [](const std::string& factor) {
    return "design sizes of net {\n  factor batch: " + factor + "\n  input x: [batch, 3]\n}\n";
  };
  const std::string plain = head + "  return dense(x, 4)\n}\n" + design("2, 4");
  CountingRows events;
  session::CompileSession session({}, events);
  session.check("net.tbem", plain);
  ASSERT_EQ(events.rows, 2);
  const std::vector<std::string> same = {
      "// what for\n" + plain,
      head + "\n  // as it was\n  return dense( x,\n    4 )  // four\n\n}\n" + design("2,4  /* few */"),
      head + "\treturn  dense(x,4)\n}\n" + design("2, 4 // sizes net dense"),
      "network net(x :tensor[n, c]) -> tensor[n, 4] {\n  return dense(x, 4)\n}\n" + design("2 , 4"),
  };
  for (const std::string& one : same) {
    events.rows = 0;
    EXPECT_EQ(allOf(session.check("net.tbem", one)), freshCheck("net.tbem", one));
    EXPECT_EQ(events.rows, 0) << one;
  }
  const std::vector<std::string> other = {
      head + "  return dense(x, 2 + 2)\n}\n" + design("2, 4"),
      head + "  return dense(x, 4)\n}\n" + design("24"),  // without a blank between its digits, too
      head + "  return dense(x, 4) // \n}\n" + design("2, 5"),
  };
  for (const std::string& one : other) {
    events.rows = 0;
    EXPECT_EQ(allOf(session.check("net.tbem", one)), freshCheck("net.tbem", one));
    EXPECT_GT(events.rows, 0) << one;
  }
}

TEST(Kept, WhatRowsSayStandsAtItsPlaceBehindAComment) {
  session::CompileSession session;
  const std::string head = "network net(x: tensor[n, 3, h, w]) -> tensor[n, 4, oh, ow] {\n  return conv2d(x,";
  const std::string tail =
      " out: 4, kernel: 40)\n}\ndesign sizes of net {\n  factor batch: 2, 4\n  input x: [batch, 3, 16, 16]\n}\n";
  for (const std::string between : {"", " /* wide */", "  ", "\n   ", ""})
    EXPECT_EQ(allOf(session.check("net.tbem", head + between + tail)), freshCheck("net.tbem", head + between + tail)) << between;
}

}  // namespace
}  // namespace tbem::test
