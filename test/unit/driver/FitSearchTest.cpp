// The search for the largest level below the first that does not fit.
#include "compiler/explore/FitSearch.h"

#include <gtest/gtest.h>

namespace tbem::driver {
namespace {

/// Live tensors take 10 a level and 50; the levels `bad` do not fit, and none that live tensors leave no room for.
struct Card {
  std::uint64_t limit = 0;
  std::function<bool(std::uint64_t)> bad;
  std::size_t events = 10'000;  ///< of a level
  std::size_t asked = 0;

  static std::uint64_t live(std::uint64_t level) { return 50 + 10 * level; }
  Fit search(LevelSearch& searcher) {
    return searcher.searchWithin(limit, [this](std::uint64_t level) -> std::optional<std::uint64_t> {
      ++asked;
      return live(level);
    });
  }
  LevelSearch searcher() {
    return LevelSearch([this](std::uint64_t level) {
      LevelTrial trial;
      trial.exists = true;
      trial.live = live(level);
      trial.events = events;
      trial.fits = trial.live <= limit && !bad(level);
      return trial;
    });
  }
};

TEST(FitSearch, LiveTensorsAloneAreMetByALine) {
  std::size_t asked = 0;
  const auto largest = [&](std::uint64_t limit) {
    return largestLive(limit, [&](std::uint64_t level) -> std::optional<std::uint64_t> {
      ++asked;
      return Card::live(level);
    });
  };
  EXPECT_EQ(largest(59), 0U);
  EXPECT_EQ(largest(60), 1U);
  EXPECT_EQ(largest(1'234'567), 123'451U);
  EXPECT_LE(asked, 10U);
  EXPECT_EQ(largest(std::uint64_t{1} << 60U), LevelSearch::kMostLevel);
}

TEST(FitSearch, LevelsThatDoNotExistArePassedOver) {
  const auto live = [](std::uint64_t level) { return level % 3 != 0 ? std::nullopt : std::optional(Card::live(level)); };
  // 99 is the last that fits; 100 and 101 do not exist.
  const std::uint64_t largest = largestLive(1050, live);
  EXPECT_GE(largest, 99U);
  EXPECT_LE(largest, 101U);
}

TEST(FitSearch, TheLargestBelowTheFirstThatDoesNotFit) {
  Card card{10'050, [](std::uint64_t level) { return (level >= 820 && level < 860) || level >= 950; }};
  LevelSearch searcher = card.searcher();
  const Fit fit = card.search(searcher);
  EXPECT_EQ(fit.failing, 820U);
  EXPECT_EQ(fit.largest, 819U);
  EXPECT_LT(searcher.count(), 150U);
  LevelSearch all = card.searcher();
  EXPECT_EQ(all.searchAll().largest, 819U);
}

TEST(FitSearch, OfASmallNetworkEachLevelDownIsTried) {
  // Three tenths of the memory are lost at 701; 607 lies between rungs, 94 levels lower.
  Card card{10'050, [](std::uint64_t level) { return level == 607 || level > 700; }};
  LevelSearch large = card.searcher();
  EXPECT_EQ(card.search(large).largest, 700U);
  EXPECT_LT(large.count(), 100U);
  card.events = 10;
  LevelSearch small = card.searcher();
  const Fit fit = card.search(small);
  EXPECT_EQ(fit.failing, 607U);
  EXPECT_EQ(fit.largest, 606U);
}

TEST(FitSearch, NoneAndAll) {
  Card none{10'050, [](std::uint64_t) { return true; }};
  LevelSearch nothing = none.searcher();
  EXPECT_EQ(none.search(nothing).largest, std::nullopt);
  Card little{20, [](std::uint64_t) { return false; }};
  LevelSearch small = little.searcher();
  const Fit fit = little.search(small);
  EXPECT_EQ(fit.failing, 1U);
  EXPECT_EQ(fit.largest, std::nullopt);
  Card every{10'050, [](std::uint64_t) { return false; }};
  LevelSearch searcher = every.searcher();
  EXPECT_EQ(every.search(searcher).largest, 1000U);
}

/// Levels of these exist; each takes its square.
LevelSearch squares(std::function<bool(std::uint64_t)> exists, std::uint64_t limit, std::size_t work = LevelSearch::kMostWork) {
  return LevelSearch(
      [exists = std::move(exists), limit](std::uint64_t level) {
        LevelTrial trial;
        trial.exists = exists(level);
        if (!trial.exists) return trial;
        trial.bytes = trial.live = level * level;
        trial.events = 1000;
        trial.fits = trial.bytes <= limit;
        return trial;
      },
      work);
}

TEST(FitSearch, LevelsThatCannotBeBuiltBoundFromAboveOnly) {
  const std::uint64_t ample = std::uint64_t{1} << 50U;
  LevelSearch dense = squares([](std::uint64_t level) { return level <= 1000; }, ample);
  const Fit bounded = dense.search(LevelSearch::Below::Tried, ample);
  EXPECT_EQ(bounded.largest, 1000U);
  EXPECT_EQ(bounded.bound, 1001U);
  EXPECT_EQ(bounded.failing, std::nullopt);
  const auto pattern = [](std::uint64_t level) { return level % 14 == 0 && level >= 350 && level <= 1000; };
  LevelSearch sparse = squares(pattern, ample);
  const Fit both = sparse.search(LevelSearch::Below::Tried, ample);
  EXPECT_EQ(both.largest, 994U);
  EXPECT_EQ(both.bound, 1008U);
  LevelSearch tight = squares(pattern, 700 * 700);
  const Fit memory = tight.search();
  EXPECT_EQ(memory.largest, 700U);
  EXPECT_EQ(memory.failing, 714U);
  EXPECT_EQ(memory.bound, std::nullopt);
}

TEST(FitSearch, LiveTensorsOfLevelsThatEndAreBounded) {
  const auto live = [](std::uint64_t level) { return level <= 1000 ? std::optional(level * level) : std::nullopt; };
  const std::uint64_t ample = std::uint64_t{1} << 50U;
  LevelSearch searcher = squares([](std::uint64_t level) { return level <= 1000; }, ample);
  const Fit fit = searcher.searchWithin(ample, live);
  EXPECT_EQ(fit.largest, 1000U);
  EXPECT_EQ(fit.bound, 1001U);
  EXPECT_EQ(largestLive(90'000, live), 300U);
}

TEST(FitSearch, TheLimitOfWorkEndsTheSearchWithWhatIsKnown) {
  LevelSearch searcher = squares([](std::uint64_t) { return true; }, 1'000'000, 5000);
  const Fit fit = searcher.search();
  EXPECT_TRUE(fit.workEnded);
  ASSERT_TRUE(fit.largest);
  EXPECT_LE(*fit.largest, 1000U);
  EXPECT_LE(searcher.count(), 5U);
}

/// 10 bytes a level, and `more` at each seventh.
LevelSearch uneven(std::uint64_t limit, std::uint64_t more) {
  return LevelSearch([=](std::uint64_t level) {
    LevelTrial trial;
    trial.exists = true;
    trial.bytes = 10 * level + (level % 7 == 0 ? more : 0);
    trial.fits = trial.bytes <= limit;
    return trial;
  });
}

TEST(FitSearch, LevelsBelowAreTriedAsFarAsTheMemoryIsUneven) {
  // Even: a hundredth and a half of 2000 levels is 30 of them.
  LevelSearch even = uneven(20'000, 0);
  EXPECT_EQ(even.search(LevelSearch::Below::Tried, 20'000).largest, 2000U);
  EXPECT_LE(even.count(), 70U);
  // 50 levels' worth more at each seventh: 1953 is the first that does not fit.
  LevelSearch rough = uneven(20'000, 500);
  const Fit fit = rough.search(LevelSearch::Below::Tried, 20'000);
  EXPECT_EQ(fit.failing, 1953U);
  EXPECT_EQ(fit.largest, 1952U);
  EXPECT_LE(rough.count(), 160U);
  EXPECT_EQ(uneven(20'000, 500).searchAll().failing, 1953U);
}

}  // namespace
}  // namespace tbem::driver
