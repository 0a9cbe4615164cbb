// The loop over cases: order, what is run again, when it ends.
#include "runtime/measure/Campaign.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace tbem::measure {
namespace {

using runtime::Case;
using runtime::Measurement;
using runtime::Status;
using Key = std::pair<std::string, std::uint32_t>;

std::vector<Case> grid(std::uint32_t rows, std::uint32_t repeats) {
  std::vector<Case> cases;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t repeat = 0; repeat < repeats; ++repeat)
      cases.push_back({"id" + std::to_string(row), "design", row, "{}", "cpu", repeat, 1});
  return cases;
}

Measurement measured(Status status = Status::Ok) {
  Measurement value;
  value.status = status;
  return value;
}

/// A store in memory, and a backend that does what the test says.
struct World {
  std::map<Key, Known> stored;
  std::vector<Key> runs;
  std::map<std::string, Status> fate;
  std::vector<Standing> standings;
  std::size_t failCommitAt = 0;

  Hooks hooks() {
    Hooks h;
    h.known = [this](const Case& one) -> tl::expected<std::optional<Known>, std::string> {
      const auto at = stored.find({one.identity, one.repeat});
      return at == stored.end() ? std::optional<Known>() : std::optional(at->second);
    };
    h.run = [this](const Case& one, double, std::size_t) {
      runs.emplace_back(one.identity, one.repeat);
      return fate.contains(one.identity) ? measured(fate.at(one.identity)) : measured();
    };
    h.commit = [this](const Case& one, const Measurement& value) -> tl::expected<void, std::string> {
      if (failCommitAt != 0 && runs.size() == failCommitAt) return tl::unexpected(std::string("disk full"));
      stored[{one.identity, one.repeat}] = {value.status, value.timeLimit};
      return {};
    };
    h.progress = [this](const Standing& now) {
      standings.push_back(now);
      standings.back().current = nullptr;
      standings.back().last = nullptr;
    };
    return h;
  }
};

TEST(Ordered, IsAPermutationThatInterleavesRepeats) {
  const auto order = ordered(grid(30, 4), 7);
  ASSERT_EQ(order.size(), 120u);
  std::set<Key> seen;
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].repeat, i / 30);  // all rows once before any row again
    seen.emplace(order[i].identity, order[i].repeat);
  }
  EXPECT_EQ(seen.size(), 120u);
}

std::vector<std::uint32_t> rowsOf(const std::vector<Case>& cases) {
  std::vector<std::uint32_t> rows;
  rows.reserve(cases.size());
  for (const Case& one : cases) rows.push_back(one.row);
  return rows;
}

TEST(Ordered, DependsOnTheSeedAndOnTheRepeatAlone) {
  const auto one = rowsOf(ordered(grid(30, 2), 7));
  EXPECT_EQ(one, rowsOf(ordered(grid(30, 2), 7)));
  EXPECT_NE(one, rowsOf(ordered(grid(30, 2), 8)));
  EXPECT_NE(std::vector(one.begin(), one.begin() + 30), std::vector(one.begin() + 30, one.end()));
}

/// Chi-squared of where row 0 comes to stand among 6 places, 6000 seeds: 5 degrees of freedom, 99.99 % quantile 25.7.
TEST(Ordered, PutsARowAnywhereAlike) {
  std::map<std::size_t, int> places;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto rows = rowsOf(ordered(grid(6, 1), seed));
    ++places[static_cast<std::size_t>(std::find(rows.begin(), rows.end(), 0u) - rows.begin())];
  }
  double chi = 0;
  for (std::size_t place = 0; place < 6; ++place) chi += (places[place] - 1000.0) * (places[place] - 1000.0) / 1000.0;
  EXPECT_LT(chi, 25.7);
}

TEST(Ordered, TakesAnExperimentOnce) {
  auto cases = grid(3, 1);
  cases.push_back(cases[1]);
  cases.back().design = "another";
  EXPECT_EQ(ordered(cases, 1).size(), 3u);
}

TEST(Campaign, RunsAllAndThenNothing) {
  World world;
  auto first = runCampaign(grid(5, 3), world.hooks(), {});
  EXPECT_EQ(first.end, End::Complete);
  EXPECT_EQ(first.ok, 15u);
  EXPECT_EQ(first.ran.size(), 15u);
  EXPECT_EQ(first.left, 0u);
  auto second = runCampaign(grid(5, 3), world.hooks(), {});
  EXPECT_EQ(second.reused, 15u);
  EXPECT_TRUE(second.ran.empty());
  EXPECT_EQ(world.runs.size(), 15u);
}

TEST(Campaign, MoreRepeatsRunOnlyTheNewOnes) {
  World world;
  runCampaign(grid(5, 2), world.hooks(), {});
  world.runs.clear();
  const auto result = runCampaign(grid(5, 3), world.hooks(), {});
  EXPECT_EQ(result.reused, 10u);
  ASSERT_EQ(world.runs.size(), 5u);
  for (const Key& key : world.runs) EXPECT_EQ(key.second, 2u);
}

TEST(Campaign, FreshRunsAllAnew) {
  World world;
  runCampaign(grid(4, 1), world.hooks(), {});
  CampaignSettings settings;
  settings.fresh = true;
  EXPECT_EQ(runCampaign(grid(4, 1), world.hooks(), settings).ok, 4u);
}

TEST(Campaign, FailedAndSkippedRowsAreTriedAgainOutOfMemoryIsAResult) {
  World world;
  world.fate = {{"id0", Status::Failed}, {"id1", Status::Skipped}, {"id2", Status::OutOfMemory}, {"id3", Status::Timeout}};
  CampaignSettings settings;
  settings.rowSeconds = 10;
  const auto first = runCampaign(grid(5, 1), world.hooks(), settings);
  EXPECT_EQ(first.end, End::Complete);  // a row that fails does not end the campaign
  EXPECT_EQ(first.ok, 1u);
  EXPECT_EQ(first.failed, 1u);
  EXPECT_EQ(first.skipped, 1u);
  EXPECT_EQ(first.oom, 1u);
  EXPECT_EQ(first.timeout, 1u);
  world.runs.clear();
  runCampaign(grid(5, 1), world.hooks(), settings);
  std::sort(world.runs.begin(), world.runs.end());
  EXPECT_EQ(world.runs, (std::vector<Key>{{"id0", 0}, {"id1", 0}}));
  world.runs.clear();
  settings.rowSeconds = 20;  // more time for the one that timed out
  runCampaign(grid(5, 1), world.hooks(), settings);
  std::sort(world.runs.begin(), world.runs.end());
  EXPECT_EQ(world.runs, (std::vector<Key>{{"id0", 0}, {"id1", 0}, {"id3", 0}}));
}

TEST(Campaign, MaxRowsTakesUpSoManyUnfinishedRows) {
  World world;
  CampaignSettings settings;
  settings.maxRows = 2;
  auto result = runCampaign(grid(5, 3), world.hooks(), settings);
  EXPECT_EQ(result.end, End::RowsSpent);
  EXPECT_EQ(result.ok, 6u);  // two rows with all their repeats
  EXPECT_EQ(result.left, 9u);
  result = runCampaign(grid(5, 3), world.hooks(), settings);
  EXPECT_EQ(result.reused, 6u);
  EXPECT_EQ(result.ok, 6u);
  result = runCampaign(grid(5, 3), world.hooks(), settings);
  EXPECT_EQ(result.ok, 3u);
  EXPECT_EQ(result.end, End::Complete);
}

TEST(Campaign, MaxTimeStartsNoCaseLater) {
  World world;
  Hooks hooks = world.hooks();
  hooks.run = [&](const Case& one, double, std::size_t) {
    world.runs.emplace_back(one.identity, one.repeat);
    ::usleep(30000);
    return measured();
  };
  CampaignSettings settings;
  settings.maxSeconds = 0.1;
  const auto result = runCampaign(grid(50, 1), hooks, settings);
  EXPECT_EQ(result.end, End::TimeSpent);
  EXPECT_GE(result.ok, 1u);
  EXPECT_LE(result.ok, 4u);
  EXPECT_EQ(result.ok + result.left, 50u);
  EXPECT_EQ(world.stored.size(), result.ok);
}

TEST(Campaign, AStopKeepsTheRowInHand) {
  World world;
  Hooks hooks = world.hooks();
  hooks.run = [&](const Case& one, double, std::size_t) {
    world.runs.emplace_back(one.identity, one.repeat);
    return measured();
  };
  CampaignSettings settings;
  settings.stop = [&] { return world.runs.size() == 3; };
  const auto result = runCampaign(grid(10, 1), hooks, settings);
  EXPECT_EQ(result.end, End::Interrupted);
  EXPECT_EQ(result.ok, 3u);
  EXPECT_EQ(result.left, 7u);
  EXPECT_EQ(world.stored.size(), 3u);
}

TEST(Campaign, AStoreThatFailsEndsIt) {
  World world;
  world.failCommitAt = 4;
  const auto result = runCampaign(grid(10, 1), world.hooks(), {});
  EXPECT_EQ(result.end, End::Error);
  EXPECT_EQ(result.error, "disk full");
  EXPECT_EQ(world.runs.size(), 4u);
  EXPECT_EQ(world.stored.size(), 3u);
  EXPECT_EQ(result.left, 7u);
}

/// Cases with an even row number run beside one another, others alone.
TEST(Campaign, LanesRunCasesSideBySideAndOthersAlone) {
  World world;
  Hooks hooks = world.hooks();
  std::mutex mutex;
  std::map<std::size_t, std::thread::id> threads;
  std::set<std::size_t> busy;
  std::size_t together = 0;
  bool isAlone = false, wasDisturbed = false, wasShared = false;
  hooks.beside = [](const Case& one) { return one.row % 2 == 0; };
  hooks.run = [&](const Case& one, double, std::size_t lane) {
    {
      const std::lock_guard lock(mutex);
      world.runs.emplace_back(one.identity, one.repeat);
      wasShared = wasShared || !busy.insert(lane).second ||
                  threads.emplace(lane, std::this_thread::get_id()).first->second != std::this_thread::get_id();
      wasDisturbed = wasDisturbed || isAlone || (one.row % 2 != 0 && (busy.size() > 1 || lane != 0));
      isAlone = one.row % 2 != 0;
      together = std::max(together, busy.size());
    }
    ::usleep(3000);
    const std::lock_guard lock(mutex);
    busy.erase(lane);
    isAlone = false;
    return measured();
  };
  CampaignSettings settings;
  settings.lanes = 3;
  const auto result = runCampaign(grid(40, 1), hooks, settings);
  EXPECT_EQ(result.end, End::Complete);
  EXPECT_EQ(result.ok, 40u);
  EXPECT_EQ(result.left, 0u);
  EXPECT_EQ(world.stored.size(), 40u);
  EXPECT_EQ(std::set(world.runs.begin(), world.runs.end()).size(), 40u);
  EXPECT_FALSE(wasDisturbed) << "a case that runs alone did not";
  EXPECT_FALSE(wasShared) << "a lane ran two cases at once, or on two threads";
  EXPECT_GE(together, 2u);
  EXPECT_LE(together, 3u);
  EXPECT_EQ(threads[0], std::this_thread::get_id());
}

/// One lane's interruption, or a full disk, ends all of them; what was in hand elsewhere is kept where it can be.
TEST(Campaign, WhatEndsALaneEndsAll) {
  for (const bool isFull : {false, true}) {
    World world;
    Hooks hooks = world.hooks();
    std::mutex mutex;
    hooks.beside = [](const Case&) { return true; };
    hooks.run = [&](const Case& one, double, std::size_t) -> std::optional<Measurement> {
      const std::lock_guard lock(mutex);
      world.runs.emplace_back(one.identity, one.repeat);
      if (!isFull && world.runs.size() == 7) return std::nullopt;
      return measured();
    };
    hooks.commit = [&, keep = hooks.commit](const Case& one, const Measurement& value) -> tl::expected<void, std::string> {
      if (isFull && world.stored.size() == 6) return tl::unexpected(std::string("disk full"));
      return keep(one, value);
    };
    CampaignSettings settings;
    settings.lanes = 4;
    const auto result = runCampaign(grid(40, 1), hooks, settings);
    EXPECT_EQ(result.end, isFull ? End::Error : End::Interrupted);
    EXPECT_EQ(result.error, isFull ? "disk full" : "");
    EXPECT_LE(world.runs.size(), 7u + 3u);
    EXPECT_EQ(result.ok, world.stored.size());
    EXPECT_EQ(result.left, 40 - result.ok);
  }
}

/// A disk that is full is told, though the campaign was to end anyway: the second lane's case ends after the stop.
TEST(Campaign, AnErrorIsToldAfterAStop) {
  World world;
  Hooks hooks = world.hooks();
  std::atomic<std::size_t> other = 0;  // the row of the second lane, from 1
  std::atomic<bool> isStopped = false;
  hooks.beside = [](const Case&) { return true; };
  hooks.run = [&](const Case& one, double, std::size_t lane) {
    if (lane == 1) other = one.row + 1;
    while (lane == 0 ? other == 0 : !isStopped) ::usleep(1000);
    return measured();
  };
  hooks.commit = [&, keep = hooks.commit](const Case& one, const Measurement& value) -> tl::expected<void, std::string> {
    if (one.row + 1 == other) return tl::unexpected(std::string("disk full"));
    return keep(one, value);
  };
  CampaignSettings settings;
  settings.lanes = 2;
  settings.stop = [&] {
    if (world.stored.empty()) return false;
    isStopped = true;
    return true;
  };
  const auto result = runCampaign(grid(40, 1), hooks, settings);
  EXPECT_EQ(result.end, End::Error);
  EXPECT_EQ(result.error, "disk full");
}

/// Lanes that wait for a case which only the first one takes do not wait for ever where that one stops.
TEST(Campaign, AStopBeforeACaseThatRunsAloneEndsAllLanes) {
  World world;
  Hooks hooks = world.hooks();
  hooks.beside = [](const Case&) { return false; };
  CampaignSettings settings;
  settings.lanes = 4;
  settings.stop = [&, caller = std::this_thread::get_id()] {
    return world.stored.size() == 3 && std::this_thread::get_id() == caller;
  };
  const auto result = runCampaign(grid(10, 1), hooks, settings);
  EXPECT_EQ(result.end, End::Interrupted);
  EXPECT_EQ(result.ok, 3u);
  EXPECT_EQ(result.left, 7u);
}

/// What a hook throws ends the campaign with its text, in whichever lane.
TEST(Campaign, WhatIsThrownIsAnError) {
  for (const std::size_t thrower : {0U, 1U}) {
    World world;
    Hooks hooks = world.hooks();
    std::atomic<bool> isThrown = false;
    hooks.beside = [](const Case&) { return true; };
    hooks.run = [&](const Case&, double, std::size_t lane) -> std::optional<Measurement> {
      if (lane == thrower) {
        isThrown = true;
        throw std::runtime_error("no memory");
      }
      while (!isThrown) ::usleep(1000);
      return measured();
    };
    CampaignSettings settings;
    settings.lanes = 2;
    const auto result = runCampaign(grid(40, 1), hooks, settings);
    EXPECT_EQ(result.end, End::Error);
    EXPECT_EQ(result.error, "no memory");
    EXPECT_EQ(result.ok, world.stored.size());
  }
}

TEST(Campaign, TellsWhereItStands) {
  World world;
  auto cases = grid(4, 1);
  const std::uint32_t dear = rowsOf(ordered(cases, 0)).back();
  for (Case& one : cases) one.cost = one.row == dear ? 100 : 1;
  Hooks hooks = world.hooks();
  hooks.run = [&](const Case& one, double, std::size_t) {
    ::usleep(one.row == dear ? 200000 : 2000);
    return measured();
  };
  runCampaign(cases, hooks, {});
  ASSERT_EQ(world.standings.size(), 8u);  // before and after each
  EXPECT_LT(world.standings.front().left, 0);
  EXPECT_EQ(world.standings.front().total, 4u);
  EXPECT_EQ(world.standings.back().done, 4u);
  EXPECT_NEAR(world.standings.back().left, 0, 1e-9);
  EXPECT_GE(world.standings[1].left, 0.2);  // 2 ms a unit of cost, and 102 units to come
}

}  // namespace
}  // namespace tbem::measure
