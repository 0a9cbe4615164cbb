// Progress, on a clock that the test moves.
#include "runtime/report/Progress.h"

#include "runtime/report/Numbers.h"

#include <gtest/gtest.h>

#include <vector>

namespace tbem::report {
namespace {

struct Screen {
  double now = 100;
  std::vector<std::string> written;
  ProgressStyle style;
  Progress make() {
    return Progress([this](std::string_view text) { written.emplace_back(text); }, style, [this] { return now; });
  }
  Screen() = default;
};

TEST(Progress, WritesALineEveryTenSecondsWhereThereIsNoTerminal) {
  Screen screen;
  auto progress = screen.make();
  for (int second = 0; second < 35; ++second, screen.now += 1)
    progress.update(static_cast<std::size_t>(second), 100, "row 3", 65);
  EXPECT_EQ(screen.written, (std::vector<std::string>{"10 of 100 done, 10 s gone, 1 min 5 s left; row 3\n",
                                                      "20 of 100 done, 20 s gone, 1 min 5 s left; row 3\n",
                                                      "30 of 100 done, 30 s gone, 1 min 5 s left; row 3\n"}));
  progress.finish();
  ASSERT_EQ(screen.written.size(), 4u);
  EXPECT_EQ(screen.written.back(), "34 of 100 done, 35 s gone, 1 min 5 s left; row 3\n");
  progress.finish();
  EXPECT_EQ(screen.written.size(), 4u);
}

TEST(Progress, WhatIsInHandDoesNotSteerTheTerminal) {
  Screen screen;
  screen.style.terminal = true;
  {
    auto progress = screen.make();
    progress.update(1, 2, "a\x1b[2Jb\n", -1);
    progress.note("row \x1b]0;c\x07");
  }
  ASSERT_GE(screen.written.size(), 2u);
  EXPECT_NE(screen.written[0].find("a\\x1b[2Jb\\n"), std::string::npos) << screen.written[0];
  EXPECT_NE(screen.written[1].find("row \\x1b]0;c\\x07\n"), std::string::npos) << screen.written[1];
}

TEST(Progress, AShortRunWritesNothingWhereThereIsNoTerminal) {
  Screen screen;
  {
    auto progress = screen.make();
    progress.update(1, 2, "", -1);
    screen.now += 3;
    progress.update(2, 2, "", 0);
  }
  EXPECT_TRUE(screen.written.empty());
}

TEST(Progress, AShortSearchShowsNothingOnATerminal) {
  Screen screen;
  screen.style.terminal = true;
  screen.style.firstSeconds = 0.5;
  auto progress = screen.make();
  progress.update(1, 0, "levels", -1);
  screen.now += 0.4;
  progress.update(4, 4, "levels", -1);
  progress.hide();
  EXPECT_TRUE(screen.written.empty());
  screen.now += 0.2;
  progress.update(7, 0, "levels", -1);
  ASSERT_EQ(screen.written.size(), 1u);
  EXPECT_NE(screen.written[0].find(" 7  levels"), std::string::npos) << screen.written[0];
  progress.hide();
  EXPECT_EQ(screen.written.back(), "\r\x1b[K");
}

TEST(Progress, RedrawsOneLineOnATerminal) {
  Screen screen;
  screen.style.terminal = true;
  screen.style.width = 60;
  auto progress = screen.make();
  progress.update(1, 4, "row 7 batch=64 depth=16 width=64 cpu, which is long", 125);
  screen.now += 0.01;
  progress.update(2, 4, "too soon", 3);  // not drawn
  screen.now += 0.2;
  progress.update(3, 4, "row 8", -1);
  ASSERT_EQ(screen.written.size(), 2u);
  for (const std::string& text : screen.written) {
    EXPECT_TRUE(text.starts_with("\r"));
    EXPECT_TRUE(text.ends_with("\x1b[K"));
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_LT(displayWidth(text), 60u);
  }
  EXPECT_NE(screen.written[0].find("1/4, 2 min 5 s left"), std::string::npos);
  EXPECT_NE(screen.written[0].find("…"), std::string::npos);
  EXPECT_NE(screen.written[1].find("3/4  row 8"), std::string::npos);  // no time where none is known
  progress.finish();
  EXPECT_EQ(screen.written.back(), "\r\x1b[K");
}

TEST(Progress, FillsTheBarInProportion) {
  Screen screen;
  screen.style.terminal = true;
  screen.style.redrawSeconds = 0;
  screen.style.width = 80;  // twenty cells
  auto progress = screen.make();
  const auto cells = [&](std::size_t done, std::size_t total) {
    progress.update(done, total, "", -1);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = screen.written.back().find("█", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(cells(0, 8), 0u);
  EXPECT_EQ(cells(4, 8), 10u);
  EXPECT_EQ(cells(8, 8), 20u);
  EXPECT_EQ(cells(0, 0), 0u);
}

TEST(Progress, ANoteStandsAboveTheBar) {
  Screen screen;
  screen.style.terminal = true;
  auto progress = screen.make();
  progress.note("before the bar");
  progress.update(1, 2, "", -1);
  progress.note("row 1 failed");
  EXPECT_EQ(screen.written[0], "before the bar\n");
  EXPECT_TRUE(screen.written[2].starts_with("\r\x1b[Krow 1 failed\n"));
  EXPECT_NE(screen.written[2].find("1/2"), std::string::npos);
}

TEST(Progress, QuietIsQuiet) {
  Screen screen;
  screen.style.quiet = true;
  {
    auto progress = screen.make();
    screen.now += 60;
    progress.update(1, 2, "", 1);
    progress.note("x");
  }
  EXPECT_TRUE(screen.written.empty());
}

}  // namespace
}  // namespace tbem::report
