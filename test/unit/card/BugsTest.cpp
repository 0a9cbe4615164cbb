// Kernels with one mistake each, beside what is right: the card finds the mistake and says what it is, and finds nothing else.
#include "test/unit/card/Kernels.h"

namespace tbem::card::testing {
namespace {

/// Threads read `from` and write `to`; 64 floats each, 8 more behind them in another allocation.
std::string kernel(const std::string& body, const std::string& declared = "") {
  return declared + R"(
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .f32 %f<8>;
  .reg .b64 %l<8>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %l0, [from];
  ld.param.u64 %l1, [to];
  mul.wide.u32 %l2, %r0, 4;
  add.u64 %l3, %l0, %l2;
  add.u64 %l4, %l1, %l2;
)" + body +
         "\nret;\n}";
}

struct Found {
  std::string text;  ///< empty: nothing
  int kind = 0;
};

Found run(const std::string& text, const Settings& settings = {}, std::uint32_t threads = 64, std::uint32_t blocks = 1) {
  Bench bench;
  bench.settings = settings;
  bench.load(text);
  if (::testing::Test::HasFatalFailure()) return {};
  const std::uint64_t from = bench.put(std::vector<float>(64, 2.5F)), to = *bench.memory.allocate(256);
  const LaunchEnd end = bench.run(blocks, threads, {from, to});
  return end.fault ? Found{end.fault->what(), static_cast<int>(end.fault->kind)} : Found{};
}

void expectFound(const Found& found, FaultKind kind, const std::string& words) {
  EXPECT_EQ(found.kind, static_cast<int>(kind));
  EXPECT_NE(found.text.find(words), std::string::npos) << found.text << "\n expected: " << words;
}

const char* kCopy = "ld.global.f32 %f0, [%l3];\nst.global.f32 [%l4], %f0;";

TEST(Bugs, NoneInACopy) { EXPECT_EQ(run(kernel(kCopy)).text, ""); }

TEST(Bugs, OneThreadTooMany) {
  const Found found = run(kernel(kCopy), {}, 65);
  expectFound(found, FaultKind::IllegalAddress, "thread (64,0,0) of block (0,0,0): reads 4 bytes at 0xb");
  expectFound(found, FaultKind::IllegalAddress, "0 bytes behind the end of allocation 1 of 256 bytes");
  expectFound(found, FaultKind::IllegalAddress, "kernel k, line ");
  expectFound(found, FaultKind::IllegalAddress, "(`ld.global.f32 %f0, [%l3];`)");
}

TEST(Bugs, ReadBeforeAnAllocation) {
  expectFound(run(kernel("ld.global.f32 %f0, [%l3+-4];\nst.global.f32 [%l4], %f0;")), FaultKind::IllegalAddress,
              "4 bytes before allocation 1");
}

TEST(Bugs, AddressOfNothing) {
  expectFound(run(kernel("mov.u64 %l3, 0;\nld.global.f32 %f0, [%l3];\nst.global.f32 [%l4], %f0;")), FaultKind::IllegalAddress,
              "reads 4 bytes at 0x0");
}

TEST(Bugs, MisalignedVector) {
  expectFound(run(kernel("ld.global.v2.f32 {%f0, %f1}, [%l3];\nst.global.f32 [%l4], %f0;")), FaultKind::Misaligned,
              "thread (1,0,0) of block (0,0,0): reads 8 bytes at");
}

TEST(Bugs, VectorThatReachesBeyond) {
  const std::string last =
      "setp.ne.u32 %p0, %r0, 62;\n@%p0 bra END;\nld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%l3+8];\nst.global.f32 [%l4], "
      "%f0;\nEND:";
  expectFound(run(kernel(last)), FaultKind::IllegalAddress, "0 bytes behind the end of allocation 1");
}

TEST(Bugs, UseOfUnwrittenMemory) {
  const std::string text = kernel("ld.global.f32 %f0, [%l4];\nadd.f32 %f0, %f0, 0f3F800000;\nst.global.f32 [%l4], %f0;");
  expectFound(run(text), FaultKind::IllegalAddress, "byte 0 of allocation 2 of 256 bytes");
  expectFound(run(text), FaultKind::IllegalAddress, "of which not all was ever written");
  Settings lenient;
  lenient.written = false;
  EXPECT_EQ(run(text, lenient).text, "");
}

TEST(Bugs, AtomicOnUnwrittenMemory) {
  expectFound(run(kernel("red.global.add.f32 [%l1], 0f3F800000;")), FaultKind::IllegalAddress, "changes 4 bytes");
}

TEST(Bugs, WriteToAConstant) {
  const std::string text = kernel("mov.u64 %l5, table;\nld.const.f32 %f0, [%l5];\nst.global.f32 [%l5], %f0;",
                                  ".const .align 4 .f32 table[2] = {0f3F800000, 0f40000000};");
  expectFound(run(text), FaultKind::IllegalAddress, "byte 0 of `table` of 8 bytes");
}

/// Each thread writes its place of shared memory and reads its neighbour's.
std::string neighbours(const std::string& between, const std::string& bytes = "256") {
  return kernel(R"(
  mov.u32 %r1, cells;
  shl.b32 %r2, %r0, 2;
  add.u32 %r2, %r1, %r2;
  st.shared.u32 [%r2], %r0;
  )" + between + R"(
  xor.b32 %r3, %r0, 1;
  shl.b32 %r3, %r3, 2;
  add.u32 %r3, %r1, %r3;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%l4], %r4;)",
                ".shared .align 4 .b8 cells[" + bytes + "];");
}

TEST(Bugs, MissingBarrier) {
  EXPECT_EQ(run(neighbours("bar.sync 0;")).text, "");
  expectFound(run(neighbours("")), FaultKind::Race, "race: reads byte 4 of shared memory, which thread 1 of block (0,0,0) wrote");
  Settings raced;
  raced.written = false;
  expectFound(run(neighbours(""), raced), FaultKind::Race, "race: ");
  raced.races = false;
  EXPECT_EQ(run(neighbours(""), raced).text, "");
}

TEST(Bugs, SharedMemoryThatNobodyWrote) {
  const std::string text =
      kernel("mov.u32 %r1, cells;\nld.shared.u32 %r4, [%r1];\nst.global.u32 [%l4], %r4;", ".shared .align 4 .b8 cells[4];");
  expectFound(run(text), FaultKind::IllegalAddress,
              "reads 4 bytes of shared memory at byte 0 of 4, of which the block never wrote all");
}

TEST(Bugs, MissingBarrierBetweenReadingAndWritingAgain) {
  const auto text = [](const std::string& barrier) {
    return kernel(R"(
  mov.u32 %r1, cell;
  setp.eq.u32 %p0, %r0, 0;
  mov.u32 %r5, 0;
NEXT:
  @%p0 st.shared.u32 [%r1], %r5;
  bar.sync 0;
  ld.shared.u32 %r4, [%r1];
  st.global.u32 [%l4], %r4;
  )" + barrier + R"(
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 3;
  @%p1 bra NEXT;)",
                  ".shared .align 4 .b8 cell[4];");
  };
  EXPECT_EQ(run(text("bar.sync 0;")).text, "");
  expectFound(run(text("")), FaultKind::Race, "race: writes byte 0 of shared memory, which thread 31 of block (0,0,0) read");
  Settings backward;
  backward.backward = true;
  expectFound(run(text(""), backward), FaultKind::Race,
              "race: writes byte 0 of shared memory, which thread 1 of block (0,0,0) read");
}

// Lanes of a warp are ordered by a collective of both, not by running side by side.
TEST(Bugs, WarpThatDoesNotWaitForItself) {
  EXPECT_EQ(run(neighbours("bar.warp.sync -1;"), {}, 32).text, "");
  EXPECT_EQ(run(neighbours("shfl.sync.idx.b32 %r9, %r0, 0, 31, -1;"), {}, 32).text, "");
  Settings raced;
  raced.written = false;
  expectFound(run(neighbours(""), raced, 32), FaultKind::Race, "race: ");
  // Of other lanes than those that exchange values.
  const std::string halves = "setp.lt.u32 %p1, %r0, 16;\nbar.warp.sync -1;";
  EXPECT_EQ(run(neighbours(halves), raced, 32).text, "");
  expectFound(run(neighbours("and.b32 %r9, %r0, 1;\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra EVEN;\nbar.warp.sync 0xaaaaaaaa;\nbra "
                             "ON;\nEVEN:\nbar.warp.sync 0x55555555;\nON:"),
                  raced, 32),
              FaultKind::Race, "race: ");
}

TEST(Bugs, SharedMemoryTooSmall) {
  expectFound(run(neighbours("bar.sync 0;", "252")), FaultKind::IllegalAddress,
              "thread (63,0,0) of block (0,0,0): writes 4 bytes of shared memory at byte 252 of 252");
}

TEST(Bugs, BarrierThatSomeNeverReach) {
  const std::string text = kernel("setp.ge.u32 %p0, %r0, 40;\n@%p0 bra END;\nbar.sync 0;\nEND:");
  expectFound(run(text), FaultKind::Deadlock, "waits for ever; thread 40 has ended");
  const std::string apart =
      kernel("and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra ODD;\nbar.sync 0;\nbra END;\nODD:\nbar.sync 0;\nEND:");
  expectFound(run(apart), FaultKind::Deadlock, "threads of one warp wait at different barriers");
}

TEST(Bugs, CollectiveThatSomeNeverReach) {
  const std::string text = kernel(
      "setp.lt.u32 %p0, %r0, 8;\n@%p0 bra OTHER;\nshfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nbra END;\nOTHER:\nbar.sync 0;\nEND:");
  expectFound(run(text, {}, 32), FaultKind::Deadlock, "waits for ever");
}

TEST(Bugs, WrongMask) {
  expectFound(run(kernel("shfl.sync.idx.b32 %r1, %r0, 0, 31, 0x0000ffff;"), {}, 32), FaultKind::Collective,
              "takes part in a collective whose mask leaves it out");
  const std::string gone = kernel("setp.ge.u32 %p0, %r0, 20;\n@%p0 bra END;\nshfl.sync.idx.b32 %r1, %r0, 25, 31, -1;\nEND:");
  expectFound(run(gone, {}, 32), FaultKind::Collective, "takes its value from lane 25, which does not take part or has ended");
}

TEST(Bugs, TwoThreadsWriteOneAddress) {
  expectFound(run(kernel("st.global.u32 [%l1], %r0;")), FaultKind::Race, "race: writes 0xb");
  // Of the same value nobody sees whose it is.
  EXPECT_EQ(run(kernel("st.global.u32 [%l1], 7;")).text, "");
}

TEST(Bugs, BlocksThatReadEachOther) {
  const auto text = [](const std::string& store) {
    return kernel("mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %l5, %r1, 4;\nadd.u64 %l5, %l0, %l5;\n" + store +
                  "\nld.global.f32 %f1, [%l0];\nst.global.f32 [%l4], %f1;");
  };
  EXPECT_EQ(run(text(""), {}, 32, 2).text, "");
  const Found found =
      run(text("setp.eq.u32 %p0, %r0, 0;\nmov.f32 %f0, 0f40A00000;\n@%p0 st.global.f32 [%l5], %f0;\nbar.sync 0;"), {}, 32, 2);
  expectFound(found, FaultKind::Race, "race: reads 0xb");
  expectFound(found, FaultKind::Race, "which thread 0 of block (0,0,0) wrote, and nothing orders the two");
}

// The last block adds what the others left: ordered by a fence before a counter, and after it.
TEST(Bugs, LastBlockWithAndWithoutAFence) {
  const auto text = [](const std::string& fence) {
    return kernel(R"(
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %l5, %r1, 4;
  add.u64 %l5, %l1, %l5;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra END;
  st.global.u32 [%l5], %r1;
  )" + fence + R"(
  mov.u64 %l6, counter;
  atom.global.add.u32 %r2, [%l6], 1;
  setp.ne.u32 %p1, %r2, 3;
  @%p1 bra END;
  ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%l1];
  add.u32 %r3, %r3, %r4;
  st.global.u32 [%l1+128], %r3;
END:)",
                  ".global .align 4 .u32 counter;");
  };
  EXPECT_EQ(run(text("membar.gl;"), {}, 32, 4).text, "");
  EXPECT_EQ(run(text("fence.acq_rel.gpu;"), {}, 32, 4).text, "");
  Settings backward;
  backward.backward = true;
  EXPECT_EQ(run(text("membar.gl;"), backward, 32, 4).text, "");
  expectFound(run(text(""), {}, 32, 4), FaultKind::Race, "race: reads 0xb");
}

TEST(Bugs, LocalMemoryTooSmall) {
  const std::string text =
      kernel(".local .align 4 .b8 own[16];\nmov.u64 %l5, own;\nadd.u64 %l5, %l5, %l2;\nst.local.u32 [%l5], %r0;");
  expectFound(run(text), FaultKind::IllegalAddress, "thread (4,0,0) of block (0,0,0): writes 4 bytes at");
  EXPECT_EQ(run(text, {}, 4).text, "");
}

TEST(Bugs, KernelThatStopsItself) {
  expectFound(run(kernel("setp.eq.u32 %p0, %r0, 5;\n@%p0 trap;")), FaultKind::Trap,
              "thread (5,0,0) of block (0,0,0): the kernel stops itself");
}

TEST(Bugs, TableWithoutAnEntry) {
  const std::string text = kernel("T: .branchtargets A, B;\nbrx.idx %r0, T;\nA:\nret;\nB:\nret;");
  EXPECT_EQ(run(text, {}, 2).text, "");
  expectFound(run(text, {}, 3), FaultKind::Trap, "branches by index 2 of 2");
}

}  // namespace
}  // namespace tbem::card::testing
