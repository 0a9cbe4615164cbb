// Threads of a block that work together: collectives, barriers, atomic operations.
#include "test/unit/card/Kernels.h"

namespace tbem::card::testing {
namespace {

/// A kernel of one block: %r0 is the thread, %d what it answers in the first array.
std::string oneBlock(const std::string& body, const std::string& declared = "") {
  return declared + R"(
.visible .entry k(.param .u64 to, .param .u64 other)
{
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .f32 %f<8>;
  .reg .b64 %l<8>;
  .reg .b32 %d;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %l1, [other];
)" + body +
         R"(
  ld.param.u64 %l0, [to];
  mul.wide.u32 %l7, %r0, 4;
  add.u64 %l0, %l0, %l7;
  st.global.u32 [%l0], %d;
  ret;
})";
}

std::vector<std::uint32_t> answers(const std::string& text, std::uint32_t threads, std::vector<std::uint32_t> other = {0}) {
  Bench bench;
  bench.load(text);
  if (::testing::Test::HasFatalFailure()) return {};
  const std::uint64_t to = bench.put(std::vector<std::uint32_t>(threads)), from = bench.put(other);
  const LaunchEnd end = bench.run(1, threads, {to, from});
  EXPECT_FALSE(end.fault) << end.fault->what();
  return bench.get<std::uint32_t>(to, threads);
}

std::vector<std::uint32_t> each(std::uint32_t threads, std::uint32_t (*of)(std::uint32_t thread)) {
  std::vector<std::uint32_t> values(threads);
  for (std::uint32_t at = 0; at < threads; ++at) values[at] = of(at);
  return values;
}

TEST(Warp, ShufflesTakeValuesFromOtherLanes) {
  const auto run = [](const std::string& how) {
    return answers(
        oneBlock("mad.lo.u32 %r1, %r0, 10, 7;\nshfl.sync." + how + ", -1;\nselp.u32 %r3, 1000, 0, %p1;\nadd.u32 %d, %r2, %r3;"),
        64);
  };
  EXPECT_EQ(run("down.b32 %r2|%p1, %r1, 3, 31"),
            each(64, [](std::uint32_t i) { return i % 32 + 3 < 32 ? (i + 3) * 10 + 1007 : i * 10 + 7; }));
  EXPECT_EQ(run("up.b32 %r2|%p1, %r1, 2, 0"),
            each(64, [](std::uint32_t i) { return i % 32 >= 2 ? (i - 2) * 10 + 1007 : i * 10 + 7; }));
  EXPECT_EQ(run("bfly.b32 %r2|%p1, %r1, 5, 31"), each(64, [](std::uint32_t i) { return (i ^ 5) * 10 + 1007; }));
  EXPECT_EQ(run("idx.b32 %r2|%p1, %r1, 9, 31"), each(64, [](std::uint32_t i) { return (i / 32 * 32 + 9) * 10 + 1007; }));
  // In segments of 8 lanes: the mask is in bits 8 to 12 of the clamp.
  EXPECT_EQ(run("down.b32 %r2|%p1, %r1, 1, 0x181f"),
            each(64, [](std::uint32_t i) { return i % 8 < 7 ? (i + 1) * 10 + 1007 : i * 10 + 7; }));
  EXPECT_EQ(run("idx.b32 %r2|%p1, %r1, 2, 0x181f"), each(64, [](std::uint32_t i) { return (i / 8 * 8 + 2) * 10 + 1007; }));
}

TEST(Warp, Votes) {
  const auto run = [](const std::string& vote) {
    return answers(oneBlock("setp.lt.u32 %p1, %r0, 40;\nsetp.lt.u32 %p2, %r0, 3;\n" + vote), 64);
  };
  EXPECT_EQ(run("vote.sync.ballot.b32 %d, %p1, -1;"), each(64, [](std::uint32_t i) { return i < 32 ? ~0U : 0xffU; }));
  EXPECT_EQ(run("vote.sync.all.pred %p3, %p1, -1;\nselp.u32 %d, 1, 0, %p3;"),
            each(64, [](std::uint32_t i) { return i < 32 ? 1U : 0U; }));
  EXPECT_EQ(run("vote.sync.any.pred %p3, %p2, -1;\nselp.u32 %d, 1, 0, %p3;"),
            each(64, [](std::uint32_t i) { return i < 32 ? 1U : 0U; }));
  EXPECT_EQ(run("vote.sync.any.pred %p3, !%p1, -1;\nselp.u32 %d, 1, 0, %p3;"),
            each(64, [](std::uint32_t i) { return i < 32 ? 0U : 1U; }));
  EXPECT_EQ(run("vote.sync.uni.pred %p3, %p1, -1;\nselp.u32 %d, 1, 0, %p3;"),
            each(64, [](std::uint32_t i) { return i < 32 ? 1U : 0U; }));
}

TEST(Warp, MatchingValues) {
  EXPECT_EQ(answers(oneBlock("rem.u32 %r1, %r0, 4;\nmatch.any.sync.b32 %d, %r1, -1;"), 32),
            each(32, [](std::uint32_t i) { return 0x1111'1111U << i % 4; }));
  EXPECT_EQ(answers(oneBlock("rem.u32 %r1, %r0, 4;\nmatch.all.sync.b32 %r2|%p1, %r1, -1;\nselp.u32 %d, 1, %r2, %p1;"), 32),
            each(32, [](std::uint32_t) { return 0U; }));
  EXPECT_EQ(answers(oneBlock("mov.u32 %r1, 5;\nmatch.all.sync.b32 %r2|%p1, %r1, -1;\nselp.u32 %d, %r2, 0, %p1;"), 32),
            each(32, [](std::uint32_t) { return ~0U; }));
}

// Two halves of a warp on different ways, each with a collective of its own.
TEST(Warp, HalvesApart) {
  const char* body = R"(
  setp.lt.u32 %p1, %r0, 16;
  @%p1 bra LOW;
  shfl.sync.idx.b32 %d, %r0, 20, 31, 0xffff0000;
  bra BOTH;
LOW:
  shfl.sync.idx.b32 %d, %r0, 3, 31, 0x0000ffff;
BOTH:
  bar.warp.sync -1;)";
  EXPECT_EQ(answers(oneBlock(body), 32), each(32, [](std::uint32_t i) { return i < 16 ? 3U : 20U; }));
}

TEST(Block, SumsThroughSharedMemory) {
  const char* body = R"(
  mov.u32 %r1, sums;
  shl.b32 %r2, %r0, 2;
  add.u32 %r1, %r1, %r2;
  mul.lo.u32 %r3, %r0, %r0;
  st.shared.u32 [%r1], %r3;
  mov.u32 %r4, 64;
NEXT:
  bar.sync 0;
  setp.ge.u32 %p1, %r0, %r4;
  @%p1 bra WAIT;
  shl.b32 %r5, %r4, 2;
  add.u32 %r5, %r1, %r5;
  ld.shared.u32 %r6, [%r5];
  ld.shared.u32 %r7, [%r1];
  add.u32 %r7, %r7, %r6;
  st.shared.u32 [%r1], %r7;
WAIT:
  shr.u32 %r4, %r4, 1;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra NEXT;
  bar.sync 0;
  ld.shared.u32 %d, [sums];)";
  EXPECT_EQ(answers(oneBlock(body, ".shared .align 4 .b8 sums[512];"), 128),
            each(128, [](std::uint32_t) { return 127U * 128 * 255 / 6; }));
}

TEST(Block, BarriersThatReduce) {
  const auto run = [](const std::string& reduce) { return answers(oneBlock("setp.lt.u32 %p1, %r0, 70;\n" + reduce), 96); };
  EXPECT_EQ(run("bar.red.popc.u32 %d, 0, %p1;"), each(96, [](std::uint32_t) { return 70U; }));
  EXPECT_EQ(run("bar.red.popc.u32 %d, 0, !%p1;"), each(96, [](std::uint32_t) { return 26U; }));
  EXPECT_EQ(run("bar.red.and.pred %p2, 0, %p1;\nselp.u32 %d, 1, 0, %p2;"), each(96, [](std::uint32_t) { return 0U; }));
  EXPECT_EQ(run("bar.red.or.pred %p2, 0, %p1;\nselp.u32 %d, 1, 0, %p2;"), each(96, [](std::uint32_t) { return 1U; }));
}

// The first warp and the others meet at barriers of their own.
TEST(Block, NamedBarriersOfSomeWarps) {
  const char* body = R"(
  mov.u32 %r1, cell;
  mov.u32 %d, 1;
  setp.ge.u32 %p1, %r0, 64;
  @%p1 bra OTHERS;
  setp.eq.u32 %p2, %r0, 0;
  @%p2 st.shared.u32 [%r1], 5;
  barrier.sync 1, 64;
  ld.shared.u32 %d, [%r1];
OTHERS:
  barrier.sync 2;)";
  EXPECT_EQ(answers(oneBlock(body, ".shared .align 4 .b8 cell[4];"), 128),
            each(128, [](std::uint32_t i) { return i < 64 ? 5U : 1U; }));
}

std::vector<std::uint32_t> after(const std::string& operation, std::uint32_t start, std::uint32_t threads = 64) {
  Bench bench;
  bench.load(oneBlock("mov.b32 %d, 0;\nadd.u32 %r1, %r0, 1;\ncvt.rn.f32.u32 %f1, %r1;\n" + operation));
  if (::testing::Test::HasFatalFailure()) return {};
  const std::uint64_t to = bench.put(std::vector<std::uint32_t>(threads)), cell = bench.put(std::vector<std::uint32_t>{start});
  const LaunchEnd end = bench.run(1, threads, {to, cell});
  EXPECT_FALSE(end.fault) << end.fault->what();
  return bench.get<std::uint32_t>(cell, 1);
}

TEST(Atomic, OperationsOnOneWord) {
  EXPECT_EQ(after("atom.global.add.u32 %d, [%l1], %r1;", 100)[0], 100U + 64 * 65 / 2);
  EXPECT_EQ(after("red.global.add.u32 [%l1], %r1;", 0)[0], 64U * 65 / 2);
  EXPECT_EQ(after("atom.global.min.u32 %d, [%l1], %r1;", 100)[0], 1U);
  EXPECT_EQ(after("atom.global.max.s32 %d, [%l1], %r1;", 0xffff'fff0)[0], 64U);
  EXPECT_EQ(after("atom.global.or.b32 %d, [%l1], %r1;", 0)[0], 127U);
  EXPECT_EQ(after("atom.global.and.b32 %d, [%l1], 12;", 0xff)[0], 12U);
  EXPECT_EQ(after("atom.global.xor.b32 %d, [%l1], 3;", 1)[0], 1U);
  EXPECT_EQ(after("atom.global.inc.u32 %d, [%l1], 9;", 0)[0], 64U % 10);
  EXPECT_EQ(after("atom.global.dec.u32 %d, [%l1], 9;", 5)[0], (5 + 10 * 64 - 64) % 10U);
  EXPECT_EQ(after("atom.global.exch.b32 %d, [%l1], 77;", 5)[0], 77U);
  float sum = 0;
  const auto bits = after("red.global.add.f32 [%l1], %f1;", 0);
  std::memcpy(&sum, bits.data(), 4);
  EXPECT_EQ(sum, 64 * 65 / 2);
}

// A sum by compare and swap: a loop that each thread leaves when no other came between.
TEST(Atomic, CompareAndSwap) {
  const char* loop = R"(
  ld.relaxed.gpu.global.u32 %r2, [%l1];
AGAIN:
  mov.u32 %r3, %r2;
  add.u32 %r4, %r3, %r1;
  atom.global.cas.b32 %r2, [%l1], %r3, %r4;
  setp.ne.u32 %p1, %r2, %r3;
  @%p1 bra AGAIN;)";
  EXPECT_EQ(after(loop, 10)[0], 10U + 64 * 65 / 2);
}

// A lane waits in a loop for what one that is ahead of it writes.
TEST(Warp, LanesAheadGetTheirTurn) {
  const char* body = R"(
  mov.u32 %d, 1;
  setp.eq.u32 %p1, %r0, 5;
  @%p1 bra WRITE;
WAIT:
  ld.relaxed.gpu.global.u32 %r2, [%l1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  bra ON;
WRITE:
  atom.global.exch.b32 %r3, [%l1], 1;
ON:
)";
  EXPECT_EQ(answers(oneBlock(body), 32), each(32, [](std::uint32_t) { return 1U; }));
}

TEST(Atomic, AnswerWhatWasThere) {
  const auto old = answers(oneBlock("atom.global.add.u32 %d, [%l1], 1;"), 64);
  std::vector<bool> seen(64);
  for (const std::uint32_t value : old) seen.at(value) = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 64);
}

TEST(Atomic, InSharedMemory) {
  const char* body = R"(
  mov.u32 %r1, cell;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 st.shared.u32 [%r1], 0;
  bar.sync 0;
  atom.shared.add.u32 %r2, [%r1], %r0;
  bar.sync 0;
  ld.shared.u32 %d, [%r1];)";
  EXPECT_EQ(answers(oneBlock(body, ".shared .align 4 .b8 cell[4];"), 64), each(64, [](std::uint32_t) { return 63U * 64 / 2; }));
}

}  // namespace
}  // namespace tbem::card::testing
