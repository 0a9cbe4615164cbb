// What a recorded history says that the program did, worked out by hand.
#include "compiler/pytorch/allocator/AllocatorTrace.h"

#include <gtest/gtest.h>

namespace tbem::estimate {
namespace {

using Kind = AllocatorAction::Kind;
using Event = AllocatorEvent::Kind;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 40U;

AllocatorTrace traceOf(std::vector<AllocatorAction> entries) {
  AllocatorTrace trace;
  trace.entries = std::move(entries);
  for (std::size_t i = 0; i < trace.entries.size(); ++i) trace.recordedAt.push_back(i);
  return trace;
}

std::vector<Event> kindsOf(const AllocatorHistory& history) {
  std::vector<Event> kinds;
  for (const AllocatorEvent& event : history.events) kinds.push_back(event.kind);
  return kinds;
}

TraceCheck check(const AllocatorTrace& trace, std::uint64_t capacity = kUnlimited) {
  CardMemory card;
  card.capacity = card.total = capacity;
  return checkTrace(trace, historyOf(trace, {}, capacity, capacity), {}, card);
}

/// 30 MiB taken and freed, then 40 MiB in a segment that replaces the first.
AllocatorTrace replaced() {
  return traceOf({{Kind::SegmentAllocate, 0, 0, 30 * kMiB, 0},
                  {Kind::Allocate, 0, 0, 30 * kMiB, 0},
                  {Kind::RequestFree, 0, 0, 30 * kMiB, 0},
                  {Kind::FinishFree, 0, 0, 30 * kMiB, 0},
                  {Kind::SegmentFree, 0, 0, 30 * kMiB, 0},
                  {Kind::SegmentAllocate, 0, 64 * kMiB, 40 * kMiB, 0},
                  {Kind::Allocate, 0, 64 * kMiB, 40 * kMiB, 0}});
}

TEST(AllocatorHistory, FreedSegmentsWithRoomMeanAnEmptiedCache) {
  const AllocatorHistory history = historyOf(replaced(), {}, std::nullopt, kUnlimited);
  EXPECT_EQ(kindsOf(history), (std::vector<Event>{Event::Allocate, Event::Free, Event::EmptyCache, Event::Allocate}));
  EXPECT_EQ(history.emptied, 1U);
  EXPECT_EQ(history.entry, (std::vector<std::size_t>{1, 2, 4, 6}));
  EXPECT_EQ(check(replaced()).verdict, TraceCheck::Verdict::Equal);
}

TEST(AllocatorHistory, FreedSegmentsWithoutRoomAreTheAllocatorsOwn) {
  const AllocatorHistory history = historyOf(replaced(), {}, 60 * kMiB, 60 * kMiB);
  EXPECT_EQ(kindsOf(history), (std::vector<Event>{Event::Allocate, Event::Free, Event::Allocate}));
  EXPECT_EQ(history.emptied, 0U);
  EXPECT_EQ(check(replaced(), 60 * kMiB).verdict, TraceCheck::Verdict::Equal);
}

TEST(AllocatorHistory, AFailureTellsTheCapacity) {
  const AllocatorTrace trace = traceOf({{Kind::SegmentAllocate, 0, 0, 30 * kMiB, 0},
                                        {Kind::Allocate, 0, 0, 30 * kMiB, 0},
                                        {Kind::OutOfMemory, 0, 10 * kMiB, 20 * kMiB, 0}});
  const AllocatorHistory history = historyOf(trace, {}, std::nullopt, kUnlimited);
  EXPECT_EQ(history.capacity, 40 * kMiB);
  EXPECT_EQ(kindsOf(history), (std::vector<Event>{Event::Allocate, Event::Allocate, Event::Free}));
  EXPECT_EQ(check(trace, 40 * kMiB).verdict, TraceCheck::Verdict::Equal);
  EXPECT_EQ(check(trace, 60 * kMiB).verdict, TraceCheck::Verdict::Differs);
}

TEST(AllocatorHistory, WaitsAsLongAsTheRecording) {
  const AllocatorTrace trace = traceOf({{Kind::SegmentAllocate, 0, 0, 20 * kMiB, 0},
                                        {Kind::Allocate, 0, 0, 4 * kMiB, 0},
                                        {Kind::RequestFree, 0, 0, 4 * kMiB, 0},
                                        {Kind::Allocate, 0, 4 * kMiB, 4 * kMiB, 0},
                                        {Kind::FinishFree, 0, 0, 4 * kMiB, 0},
                                        {Kind::Allocate, 0, 0, 4 * kMiB, 0}});
  EXPECT_EQ(kindsOf(historyOf(trace, {}, std::nullopt, kUnlimited)),
            (std::vector<Event>{Event::Allocate, Event::RequestFree, Event::Allocate, Event::FinishFree, Event::Allocate}));
  EXPECT_EQ(check(trace).verdict, TraceCheck::Verdict::Equal);
}

TEST(AllocatorHistory, BlocksFromBeforeComeFirst) {
  AllocatorTrace trace = traceOf({{Kind::RequestFree, 0, 8 * kMiB, 3 * kMiB, 0}, {Kind::FinishFree, 0, 8 * kMiB, 3 * kMiB, 0}});
  trace.left = {{4 * kMiB, 2 * kMiB, 0, 0}};
  const AllocatorHistory history = historyOf(trace, {}, std::nullopt, kUnlimited);
  EXPECT_EQ(kindsOf(history), (std::vector<Event>{Event::Allocate, Event::Allocate, Event::Free}));
  EXPECT_EQ(history.before, 2U);
  EXPECT_EQ(history.beforeBytes, 5 * kMiB);
  EXPECT_EQ(history.events[0].bytes, 2 * kMiB);
  EXPECT_EQ(history.events[1].id, history.events[2].id);
  EXPECT_EQ(check(trace).verdict, TraceCheck::Verdict::Unknown);
}

TEST(TraceCheck, NamesTheFirstDifference) {
  AllocatorTrace trace = replaced();
  trace.entries[5].bytes = 42 * kMiB;  // 40 MiB are asked for: the segment has 40
  const TraceCheck found = check(trace);
  ASSERT_EQ(found.verdict, TraceCheck::Verdict::Differs);
  EXPECT_EQ(found.equal, 5U);
  EXPECT_EQ(found.difference->entry, 5U);
  EXPECT_EQ(found.difference->replayed->bytes, 40 * kMiB);
}

TEST(TraceCheck, KnowsARecordingWithoutItsBeginning) {
  const AllocatorTrace trace =
      traceOf({{Kind::SegmentAllocate, 0, 64 * kMiB, 20 * kMiB, 0}, {Kind::Allocate, 0, 0, 4 * kMiB, 0}});
  EXPECT_EQ(check(trace).reason, "the recording does not begin with an empty allocator");
}

}  // namespace
}  // namespace tbem::estimate
