// The rules of PyTorch's caching allocator one by one, with numbers worked out by hand from them.
#include "compiler/pytorch/allocator/CachingAllocator.h"

#include <gtest/gtest.h>

namespace tbem::estimate {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

AllocatorOptions optionsOf(std::string_view text) {
  const auto options = parseAllocatorOptions(text);
  EXPECT_TRUE(options) << text;
  return options ? *options : AllocatorOptions{};
}

/// An allocator driven by few words.
struct Driver {
  explicit Driver(std::string_view text = "", std::uint64_t capacity = 1024 * kMiB)
      : allocator(optionsOf(text), {capacity, capacity, {}}) {
    allocator.logTo(&log);
  }
  bool take(std::uint32_t id, std::uint64_t bytes, std::uint64_t stream = 0, std::uint32_t pool = 0) {
    return allocator.apply({AllocatorEvent::Kind::Allocate, id, pool, bytes, stream});
  }
  void apply(AllocatorEvent::Kind kind, std::uint32_t id = 0, std::uint32_t pool = 0) { allocator.apply({kind, id, pool, 0, 0}); }
  void free(std::uint32_t id) { apply(AllocatorEvent::Kind::Free, id); }
  const AllocatorStatistics& counts() const { return allocator.statistics(); }
  std::uint64_t reserved() const { return counts().reserved.now; }
  std::uint64_t allocated() const { return counts().allocated.now; }
  /// Bytes of an allocation from the first one.
  std::uint64_t at(std::uint32_t id) const { return allocator.addressOf(id) - first(); }
  std::uint64_t first() const { return log.front().address; }
  std::vector<AllocatorAction> log;
  CachingAllocator allocator;
};

TEST(RoundedSize, IsAMultipleOf512) {
  const AllocatorOptions none;
  EXPECT_EQ(roundedSize(none, 1), 512U);
  EXPECT_EQ(roundedSize(none, 512), 512U);
  EXPECT_EQ(roundedSize(none, 513), 1024U);
  EXPECT_EQ(roundedSize(none, 3 * kMiB + 1), 3 * kMiB + 512);
}

TEST(RoundedSize, DividesPowersOfTwo) {
  const AllocatorOptions four = optionsOf("roundup_power2_divisions:4");
  EXPECT_EQ(roundedSize(four, 1200), 1536U);  // 512 * 4 and less: multiples of 512
  EXPECT_EQ(roundedSize(four, 2049), 2560U);  // 2048 + 512
  EXPECT_EQ(roundedSize(four, 5 * kMiB + 1), 6 * kMiB);
  EXPECT_EQ(roundedSize(four, 8 * kMiB), 8 * kMiB);
  const AllocatorOptions list = optionsOf("roundup_power2_divisions:[4:2,16:8,>:1]");
  EXPECT_EQ(roundedSize(list, 2 * kMiB + 1), 3 * kMiB);        // below the first interval: as in it
  EXPECT_EQ(roundedSize(list, 5 * kMiB), 6 * kMiB);            // 4 to 8 MiB: halves
  EXPECT_EQ(roundedSize(list, 9 * kMiB + 1), 9 * kMiB + 512);  // 8 to 16 MiB: not named
  EXPECT_EQ(roundedSize(list, 17 * kMiB), 18 * kMiB);          // 16 to 32 MiB: eighths
  EXPECT_EQ(roundedSize(list, 33 * kMiB + 1), 33 * kMiB + 512);
}

TEST(RoundedSize, OfVersions) {
  const auto of = [](std::string_view text, std::string_view version, std::uint64_t bytes) {
    return roundedSize(*parseAllocatorOptions(text, *allocatorVersion(version)), bytes);
  };
  EXPECT_EQ(of("roundup_power2_divisions:1", "2.3.1", 5 * kMiB + 1), 5 * kMiB + 1);
  EXPECT_EQ(of("roundup_power2_divisions:1", "2.4", 5 * kMiB + 1), 5 * kMiB + 512);
  EXPECT_EQ(of("roundup_power2_divisions:[4:2,>:4]", "2.9", 4 * kMiB + 1), 5 * kMiB);  // `>` takes the last interval too
  EXPECT_EQ(of("roundup_power2_divisions:[4:2,>:4]", "2.10", 4 * kMiB + 1), 6 * kMiB);
}

TEST(SegmentSize, Boundaries) {
  const AllocatorOptions none;
  EXPECT_EQ(segmentSize(none, kMiB), 2 * kMiB);
  EXPECT_EQ(segmentSize(none, kMiB + 512), 20 * kMiB);
  EXPECT_EQ(segmentSize(none, 10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(segmentSize(none, 10 * kMiB), 10 * kMiB);
  EXPECT_EQ(segmentSize(none, 10 * kMiB + 512), 12 * kMiB);
  EXPECT_EQ(segmentSize(optionsOf("large_segment_size_mb:32"), 3 * kMiB), 32 * kMiB);
}

TEST(CachingAllocator, SmallBlocksShareASegment) {
  Driver d;
  EXPECT_TRUE(d.take(0, 1000));
  EXPECT_TRUE(d.take(1, kMiB));
  EXPECT_EQ(d.reserved(), 2 * kMiB);
  EXPECT_EQ(d.at(1), 1024U);
  EXPECT_EQ(d.allocated(), kMiB + 1024);
  EXPECT_EQ(d.counts().requested.now, kMiB + 1000);
  EXPECT_TRUE(d.take(2, kMiB));  // 1 MiB - 1024 are left
  EXPECT_EQ(d.reserved(), 4 * kMiB);
  EXPECT_EQ(d.counts().segments.now, 2U);
}

TEST(CachingAllocator, RestOfALargeBlockUpToOneMiBIsHandedOutToo) {
  Driver d;
  d.take(0, 11 * kMiB);  // segment of 12 MiB: 1 MiB is not split off
  EXPECT_EQ(d.allocated(), 12 * kMiB);
  d.take(1, 11 * kMiB - 512);
  EXPECT_EQ(d.allocated(), 12 * kMiB + 11 * kMiB - 512);
  EXPECT_EQ(d.reserved(), 24 * kMiB);
}

TEST(CachingAllocator, TakesTheBestFitAtTheLowestAddress) {
  Driver d;
  for (std::uint32_t id = 0; id < 4; ++id) d.take(id, 4 * kMiB);  // of 20 MiB, 4 are left
  d.take(4, 3 * kMiB);                                            // 1 MiB stays with it
  d.free(0);
  d.free(2);
  d.take(5, 4 * kMiB);
  EXPECT_EQ(d.at(5), 0U);
  d.free(1);  // with what was 0's neighbour: 4 to 12 MiB
  d.take(6, 2 * kMiB);
  EXPECT_EQ(d.at(6), 4 * kMiB);
  EXPECT_EQ(d.reserved(), 20 * kMiB);
}

TEST(CachingAllocator, OfEqualBlocksThatOfTheEarlierSegment) {
  // Seen on PyTorch 2.15: the second segment lies lower. Older versions take the lower address.
  for (const bool earlierFirst : {true, false}) {
    AllocatorOptions options;
    options.earlierFirst = earlierFirst;
    std::uint64_t place = 100 * kMiB;
    CachingAllocator allocator(options, {1024 * kMiB, 1024 * kMiB, [&](std::uint64_t) { return place -= 40 * kMiB; }});
    for (const std::uint32_t id : {0U, 1U}) allocator.apply({AllocatorEvent::Kind::Allocate, id, 0, 30 * kMiB, 0});
    for (const std::uint32_t id : {0U, 1U}) allocator.apply({AllocatorEvent::Kind::Free, id, 0, 0, 0});
    allocator.apply({AllocatorEvent::Kind::Allocate, 2, 0, 30 * kMiB, 0});
    EXPECT_EQ(allocator.addressOf(2), earlierFirst ? 60 * kMiB : 20 * kMiB);
  }
}

TEST(CachingAllocator, StreamsAndPoolsDoNotShare) {
  Driver d;
  d.take(0, 4 * kMiB, 0);
  d.take(1, 4 * kMiB, 7);
  d.take(2, 4 * kMiB, 0, 1);
  EXPECT_EQ(d.counts().segments.now, 3U);
  d.free(0);
  d.take(3, 4 * kMiB, 7);
  EXPECT_EQ(d.counts().segments.now, 3U);
  EXPECT_NE(d.at(3), 0U);
}

TEST(CachingAllocator, NeighboursMerge) {
  Driver d;
  for (std::uint32_t id = 0; id < 5; ++id) d.take(id, 4 * kMiB);
  for (const std::uint32_t id : {1U, 3U, 2U}) d.free(id);
  d.take(5, 12 * kMiB);
  EXPECT_EQ(d.at(5), 4 * kMiB);
  EXPECT_EQ(d.counts().deviceAllocations, 1U);
}

TEST(CachingAllocator, WaitsForOtherStreams) {
  Driver d;
  d.take(0, 4 * kMiB);
  d.apply(AllocatorEvent::Kind::RequestFree, 0);
  EXPECT_EQ(d.allocated(), 0U);
  EXPECT_EQ(d.counts().active.now, 4 * kMiB);
  d.take(1, 4 * kMiB);
  EXPECT_EQ(d.at(1), 4 * kMiB);
  d.free(0);  // a second time: passed over
  d.apply(AllocatorEvent::Kind::FinishFree, 0);
  EXPECT_EQ(d.counts().active.now, 4 * kMiB);
  d.take(2, 4 * kMiB);
  EXPECT_EQ(d.at(2), 0U);
}

TEST(CachingAllocator, RetriesWithoutItsCacheAndThenFails) {
  Driver d("", 64 * kMiB);
  d.take(0, 30 * kMiB);
  d.take(1, 20 * kMiB);
  d.free(0);
  EXPECT_TRUE(d.take(2, 40 * kMiB));  // 50 + 40 > 64: the free 30 go back
  EXPECT_EQ(d.reserved(), 60 * kMiB);
  EXPECT_EQ(d.counts().retries, 1U);
  EXPECT_EQ(d.counts().reserved.peak, 60 * kMiB);
  EXPECT_FALSE(d.take(3, 6 * kMiB));  // its segment has 20 MiB
  EXPECT_EQ(d.counts().retries, 2U);
  EXPECT_EQ(d.counts().outOfMemory, 1U);
  EXPECT_EQ(d.log.back(), (AllocatorAction{AllocatorAction::Kind::OutOfMemory, 0, 4 * kMiB, 6 * kMiB, 0}));
  EXPECT_TRUE(d.take(3, 1000));
  EXPECT_EQ(d.reserved(), 62 * kMiB);
}

TEST(CachingAllocator, WaitsBeforeItFails) {
  Driver d("", 32 * kMiB);
  d.take(0, 30 * kMiB);
  d.apply(AllocatorEvent::Kind::RequestFree, 0);
  EXPECT_TRUE(d.take(1, 30 * kMiB));
  EXPECT_EQ(d.counts().retries, 1U);
  d.apply(AllocatorEvent::Kind::FinishFree, 0);  // it is over already
  EXPECT_EQ(d.counts().active.now, 30 * kMiB);
}

TEST(CachingAllocator, FractionIsALimit) {
  Driver d("per_process_memory_fraction:0.25", 128 * kMiB);
  EXPECT_TRUE(d.take(0, 20 * kMiB));
  EXPECT_FALSE(d.take(1, 14 * kMiB));
  EXPECT_TRUE(d.take(2, 12 * kMiB));
}

TEST(CachingAllocator, BlocksOverTheMaximumAreNotSplit) {
  Driver d("max_split_size_mb:40");
  d.take(0, 100 * kMiB);
  d.free(0);
  d.take(1, 30 * kMiB);  // not from the 100: it is over the maximum
  EXPECT_EQ(d.reserved(), 130 * kMiB);
  d.take(2, 80 * kMiB);  // 20 MiB too much is too much
  EXPECT_EQ(d.reserved(), 210 * kMiB);
  d.take(3, 81 * kMiB);
  EXPECT_EQ(d.reserved(), 210 * kMiB);
  EXPECT_EQ(d.allocated(), 210 * kMiB);
}

TEST(CachingAllocator, LargeBlocksGoBackOneByOne) {
  Driver d("max_split_size_mb:40", 300 * kMiB);
  d.take(0, 50 * kMiB);
  d.take(1, 60 * kMiB);
  d.take(2, 140 * kMiB);
  for (const std::uint32_t id : {0U, 1U, 2U}) d.free(id);
  EXPECT_TRUE(d.take(3, 55 * kMiB));  // the 60 fits
  EXPECT_EQ(d.reserved(), 250 * kMiB);
  EXPECT_TRUE(d.take(4, 90 * kMiB));  // 250 + 90 > 300: the 140 goes, no other
  EXPECT_EQ(d.reserved(), 200 * kMiB);
  EXPECT_EQ(d.counts().retries, 0U);
  EXPECT_EQ(d.counts().deviceFrees, 1U);
}

TEST(CachingAllocator, CollectsWhatWasFreeForLong) {
  Driver d("per_process_memory_fraction:0.5,garbage_collection_threshold:0.6", 400 * kMiB);  // allowed 200, threshold 120
  d.take(0, 60 * kMiB);
  d.take(1, 50 * kMiB);
  d.free(0);             // after 2 searches
  d.take(2, 20 * kMiB);  // from the 60
  d.free(2);             // 60 again, after 3
  d.free(1);             // 50, after 3
  d.take(3, 30 * kMiB);  // 4th search: from the 50
  d.take(4, 70 * kMiB);  // 5th: 110 reserved, no collection
  EXPECT_EQ(d.reserved(), 180 * kMiB);
  d.take(5, 65 * kMiB);  // 6th: 180 > 120; the 60 is the only whole one
  EXPECT_EQ(d.reserved(), 186 * kMiB);
  EXPECT_EQ(d.counts().deviceFrees, 1U);
}

TEST(CachingAllocator, EmptyCacheKeepsWhatIsInUse) {
  Driver d;
  d.take(0, 4 * kMiB);
  d.take(1, 4 * kMiB);
  d.take(2, 500);
  d.take(3, 30 * kMiB, 0, 1);
  for (const std::uint32_t id : {0U, 2U, 3U}) d.free(id);
  d.apply(AllocatorEvent::Kind::EmptyCache);
  EXPECT_EQ(d.reserved(), 50 * kMiB);  // 20 with block 1, and 30 of a pool whose graphs live
  d.apply(AllocatorEvent::Kind::ReleasePool, 0, 1);
  d.apply(AllocatorEvent::Kind::EmptyCache);
  EXPECT_EQ(d.reserved(), 20 * kMiB);
}

TEST(CachingAllocator, ExpandableSegmentsGrowByPages) {
  Driver d("expandable_segments:True");
  d.take(0, 3 * kMiB);  // large pages have 20 MiB
  EXPECT_EQ(d.reserved(), 20 * kMiB);
  EXPECT_EQ(d.counts().segments.now, 0U);
  d.take(1, 30 * kMiB);  // grows over the 17 that are free
  EXPECT_EQ(d.at(1), 3 * kMiB);
  EXPECT_EQ(d.reserved(), 40 * kMiB);
  d.take(2, 1000);  // small pages have 2 MiB
  EXPECT_EQ(d.reserved(), 42 * kMiB);
  d.free(1);
  d.apply(AllocatorEvent::Kind::EmptyCache);  // 3 to 40 MiB are free: the page from 20 on goes
  EXPECT_EQ(d.reserved(), 22 * kMiB);
  EXPECT_EQ(d.log.back().kind, AllocatorAction::Kind::SegmentUnmap);
  d.take(3, 18 * kMiB);
  EXPECT_EQ(d.at(3), 3 * kMiB);
  EXPECT_EQ(d.reserved(), 42 * kMiB);
}

TEST(CachingAllocator, NothingIsAllocatedOfNoBytes) {
  Driver d;
  EXPECT_TRUE(d.take(0, 0));
  EXPECT_EQ(d.allocator.addressOf(0), 0U);
  EXPECT_EQ(d.counts(), AllocatorStatistics{});
  EXPECT_FALSE(d.take(1, ~std::uint64_t{0}));
}

TEST(Replay, SaysWhenPeaksAreReached) {
  using Kind = AllocatorEvent::Kind;
  const std::vector<AllocatorEvent> events = {{Kind::Allocate, 0, 0, 30 * kMiB, 0},
                                              {Kind::Free, 0, 0, 0, 0},
                                              {Kind::Allocate, 1, 0, 12 * kMiB, 0},
                                              {Kind::Allocate, 2, 0, 20 * kMiB, 0},
                                              {Kind::Allocate, 3, 0, 500 * kMiB, 0}};
  const Replay made = replay(events, {}, {100 * kMiB, 100 * kMiB, {}});
  EXPECT_EQ(made.statistics.reserved.peak, 50 * kMiB);  // 18 of the 30 are free, too few for 20
  EXPECT_EQ(made.reservedPeakAt, 3U);
  EXPECT_EQ(made.allocatedAtPeak, 32 * kMiB);
  EXPECT_EQ(made.allocatedPeakAt, 3U);
  EXPECT_EQ(made.outOfMemory, std::vector<std::size_t>{4});
}

TEST(Replay, EndsWhereMemoryDoesIfAsked) {
  using Kind = AllocatorEvent::Kind;
  const std::vector<AllocatorEvent> events = {{Kind::Allocate, 0, 0, 30 * kMiB, 0},
                                              {Kind::Allocate, 1, 0, 80 * kMiB, 0},
                                              {Kind::Allocate, 2, 0, 90 * kMiB, 0},
                                              {Kind::Allocate, 3, 0, 40 * kMiB, 0}};
  const CardMemory card{100 * kMiB, 100 * kMiB, {}};
  EXPECT_EQ(replay(events, {}, card).outOfMemory, (std::vector<std::size_t>{1, 2}));
  const Replay ended = replay(events, {}, card, ReplayUntil::OutOfMemory);
  EXPECT_EQ(ended.outOfMemory, std::vector<std::size_t>{1});
  EXPECT_EQ(ended.statistics.reserved.peak, 30 * kMiB);
}

// A workspace as PyTorch takes it: the next engine where there is no room, and the one that worked from then on.
TEST(Replay, AsksForLessWhereThereIsNoRoom) {
  using Kind = AllocatorEvent::Kind;
  const std::vector<std::uint64_t> engines = {70 * kMiB, 50 * kMiB, 10 * kMiB}, others = {90 * kMiB};
  const std::vector<AllocatorEvent> events = {{Kind::Allocate, 0, 0, 40 * kMiB, 0},
                                              {Kind::Allocate, 1, 0, 80 * kMiB, 0},
                                              {Kind::Free, 1, 0, 0, 0},
                                              {Kind::Allocate, 2, 0, 80 * kMiB, 0},
                                              {Kind::Free, 2, 0, 0, 0},
                                              {Kind::Allocate, 3, 0, 95 * kMiB, 0},
                                              {Kind::Allocate, 4, 0, 60 * kMiB, 0}};
  const SmallerSizes sizes = [&](std::size_t event) -> std::span<const std::uint64_t> {
    if (event == 1 || event == 3) return engines;
    return event == 5 ? std::span<const std::uint64_t>(others) : std::span<const std::uint64_t>();
  };
  const Replay made = replay(events, {}, {100 * kMiB, 100 * kMiB, {}}, ReplayUntil::End, sizes);
  EXPECT_EQ(made.outOfMemory, std::vector<std::size_t>{5});
  ASSERT_EQ(made.smaller.size(), 2U);
  EXPECT_EQ(made.smaller[0].event, 1U);
  EXPECT_EQ(made.smaller[0].bytes, 50 * kMiB);
  EXPECT_EQ(made.smaller[1].event, 3U);
  EXPECT_EQ(made.smaller[1].bytes, 50 * kMiB);
  EXPECT_EQ(made.statistics.outOfMemory, 4U);  // 80 and 70 once, in the first of both; 95 and 90
  EXPECT_EQ(made.statistics.allocated.now, 100 * kMiB);
  EXPECT_TRUE(replay(events, {}, {200 * kMiB, 200 * kMiB, {}}, ReplayUntil::End, sizes).smaller.empty());
}

// Where there is room again, an allocation whose smaller one was had takes that at once, and fails over to the list from its
// start.
TEST(Replay, BeginsWithWhatWasHad) {
  using Kind = AllocatorEvent::Kind;
  const std::vector<std::uint64_t> engines = {50 * kMiB, 10 * kMiB};
  const std::vector<AllocatorEvent> events = {{Kind::Allocate, 0, 0, 40 * kMiB, 0},
                                              {Kind::Allocate, 1, 0, 80 * kMiB, 0},
                                              {Kind::Free, 1, 0, 0, 0},
                                              {Kind::Free, 0, 0, 0, 0},
                                              {Kind::Allocate, 2, 0, 80 * kMiB, 0},
                                              {Kind::Free, 2, 0, 0, 0},
                                              {Kind::Allocate, 3, 0, 70 * kMiB, 0},
                                              {Kind::Allocate, 4, 0, 80 * kMiB, 0}};
  const SmallerSizes sizes = [&](std::size_t event) {
    const bool workspace = event == 1 || event == 4 || event == 7;
    return workspace ? std::span<const std::uint64_t>(engines) : std::span<const std::uint64_t>();
  };
  const Replay made = replay(events, {}, {100 * kMiB, 100 * kMiB, {}}, ReplayUntil::End, sizes);
  ASSERT_EQ(made.smaller.size(), 3U);
  EXPECT_EQ(made.smaller[1].bytes, 50 * kMiB);  // 80 would have room
  EXPECT_EQ(made.smaller[2].bytes, 10 * kMiB);
  EXPECT_TRUE(made.outOfMemory.empty());
}

}  // namespace
}  // namespace tbem::estimate
