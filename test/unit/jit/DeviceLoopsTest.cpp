// Loops as PTX: what the text says. That it computes what it should, a card or an interpreter of PTX shows (test/prop/cuda).
#include "test/unit/jit/RandomLoops.h"

#include "compiler/jit/nvptx/MachineCode.h"
#include "compiler/jit/nvptx/Ptx.h"

#include <array>
#include <set>

namespace tbem::testing {
namespace {

jit::Compiled compiledFor(estimate::Program program) {
  program.target = "nvptx64";
  auto compiled = jit::compile(program, {.cache = false, .keepIr = true});
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
  return compiled ? std::move(*compiled) : jit::Compiled{};
}

estimate::Program oneLoop(ElemOp op, std::int32_t dtype = TBEM_F32) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(dtype, {8, 16}, "plain");
  LoopBuilder l;
  l.output(p.add(shape), l.op(op, l.input(p.add(shape), {0, 1})));
  p.add(l);
  return p.program;
}

TEST(DeviceLoops, AreKernelsOfPtx) {
  const jit::Compiled compiled = compiledFor(oneLoop(ElemOp::Sqrt));
  EXPECT_NE(compiled.assembly.find(".visible .entry tbem_kernel_0("), std::string::npos) << compiled.assembly;
  EXPECT_NE(compiled.assembly.find("ld.global"), std::string::npos) << "an address whose kind is not known is slower";
  EXPECT_NE(compiled.assembly.find("sqrt.rn.f32"), std::string::npos);
  EXPECT_EQ(compiled.assembly.find("div.u64"), std::string::npos);
  EXPECT_EQ(compiled.executable.image, compiled.assembly);
  EXPECT_EQ(compiled.executable.kernels, 1U);
}

/// Beside PTX the object has a card's own code, which no driver is needed for.
TEST(DeviceLoops, AreACardsOwnCodeWhereItIsNamed) {
  estimate::Program program = oneLoop(ElemOp::Sqrt);
  program.target = "nvptx64";
  const auto compiledFor = [&](const std::string& architecture) {
    auto compiled = jit::compile(program, {.cache = false, .architecture = architecture});
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
    return compiled ? std::move(*compiled) : jit::Compiled{};
  };
  const jit::Compiled any = compiledFor("");
  EXPECT_TRUE(any.executable.machineCode.empty());
  if (const auto version = jit::assemblerVersion(); !version) GTEST_SKIP() << version.error();
  const jit::Compiled ofHopper = compiledFor("sm_90"), ofAmpere = compiledFor("sm_80");
  EXPECT_TRUE(ofHopper.executable.machineCode.starts_with("\177ELF"));
  EXPECT_NE(ofHopper.executable.machineCode.find("tbem_kernel_0"), std::string_view::npos);
  EXPECT_NE(ofHopper.executable.machineCode, ofAmpere.executable.machineCode);
  EXPECT_EQ(ofHopper.executable.image, any.executable.image);
  EXPECT_EQ(std::set({any.key, ofHopper.key, ofAmpere.key}).size(), 3U);
  for (const char* unknown : {"sm_1", "sm_99"})
    EXPECT_TRUE(compiledFor(unknown).executable.machineCode.empty()) << unknown << ": its driver gets PTX";
}

TEST(DeviceLoops, OfEqualShapeShareAKernel) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {8, 16}, "plain");
  for (int i = 0; i < 3; ++i) {
    LoopBuilder l;
    l.output(p.add(shape), l.op(ElemOp::Neg, l.input(p.add(shape), {0, 1})));
    p.add(l);
  }
  EXPECT_EQ(compiledFor(p.program).executable.kernels, 1U);
}

/// Updates of weights are one kernel, whatever their sizes; where only some can be read in vectors, two.
TEST(DeviceLoops, OfOneRowShareAKernelWhateverItsLength) {
  const auto kernels = [](const std::vector<std::vector<std::int64_t>>& shapes, const std::vector<int>& axes) {
    ProgramBuilder p;
    for (const std::vector<std::int64_t>& dims : shapes) {
      LoopBuilder l;
      std::vector<std::int64_t> read;
      read.reserve(axes.size());
      for (const int axis : axes) read.push_back(dims[static_cast<std::size_t>(axis)]);
      l.output(p.add(layoutOf(TBEM_F32, dims, "plain")),
               l.op(ElemOp::Neg, l.input(p.add(layoutOf(TBEM_F32, read, "plain")), axes)));
      p.add(l);
    }
    p.program.target = "nvptx64";
    const auto compiled = jit::compile(p.program, {.cache = false, .marks = true});  // a launch of its own for each
    EXPECT_TRUE(compiled) << compiled.error().message;
    return compiled ? compiled->executable.kernels : 0;
  };
  EXPECT_EQ(kernels({{8, 16}, {4, 4}, {64, 3}}, {0, 1}), 1U);
  EXPECT_EQ(kernels({{8, 16}, {3, 7}, {5, 5}}, {0, 1}), 2U);
  EXPECT_EQ(kernels({{8, 16}, {4, 4}}, {0}), 2U) << "which row a place is of is computed with its length";
}

std::size_t launches(const jit::Compiled& compiled) { return timesIn(compiled.ir, "call i32 @tbem_rt_launch"); }

/// Loops of so many elements, each of which reads what is named: a new buffer (-1), or what that loop wrote.
ProgramBuilder chainOf(const std::vector<std::int64_t>& elements, const std::vector<int>& reads) {
  ProgramBuilder p;
  std::vector<estimate::BufferId> written;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const tbem_operand shape = layoutOf(TBEM_F32, {elements[i]}, "plain");
    LoopBuilder l;
    const estimate::BufferId read = reads[i] < 0 ? p.add(shape) : written[static_cast<std::size_t>(reads[i])];
    written.push_back(p.add(shape));
    l.output(written.back(), l.op(ElemOp::Neg, l.input(read, {0})));
    p.add(l);
  }
  return p;
}

/// Updates of weights: neighbours that do not wait for each other are one launch.
TEST(DeviceLoops, ThatDoNotWaitForEachOtherAreOneLaunch) {
  const jit::Compiled together = compiledFor(chainOf({4000, 8, 1300, 8}, {-1, -1, -1, -1}).program);
  EXPECT_EQ(launches(together), 1U);
  EXPECT_EQ(together.executable.kernels, 1U);
  EXPECT_NE(together.assembly.find("tbem_kernel_0_loops"), std::string::npos) << "a table of where they lie";
  EXPECT_NE(together.assembly.find("ld.global.v4"), std::string::npos) << "as wide as one by one";
  EXPECT_EQ(together.assembly.find("call"), std::string::npos) << "what they do is inlined";
  const jit::Compiled large = compiledFor(chainOf({1 << 24, 8, 1 << 24}, {-1, -1, -1}).program);
  EXPECT_EQ(launches(large), 1U);
  EXPECT_LT(large.assembly.size(), together.assembly.size() + (std::size_t{1} << 18)) << "tables do not grow with the loops";
  const jit::Compiled mixed = compiledFor(chainOf({8, 7, 16, 5}, {-1, -1, -1, -1}).program);
  EXPECT_EQ(launches(mixed), 1U) << "with vectors or without";
  EXPECT_EQ(mixed.executable.kernels, 1U);
  EXPECT_NE(mixed.assembly.find("ld.global.v4"), std::string::npos);
  EXPECT_NE(mixed.assembly.find("ld.global.f32"), std::string::npos) << mixed.assembly;
}

TEST(DeviceLoops, ThatWaitForEachOtherAreNotOneLaunch) {
  EXPECT_EQ(launches(compiledFor(chainOf({8, 8}, {-1, 0}).program)), 2U);
  EXPECT_EQ(launches(compiledFor(chainOf({8, 8, 8}, {-1, 0, -1}).program)), 2U) << "the last two do not wait";
  // Large updates are many; other large loops stay alone.
  estimate::Program large = chainOf({1 << 20, 1 << 20}, {-1, -1}).program;
  for (estimate::Allocation& allocation : large.allocations) allocation.persistent = false;
  EXPECT_EQ(launches(compiledFor(large)), 2U) << "each keeps a card busy";
}

/// Two loops from one part of an arena to another, given as buffers, of which there are six.
std::size_t launchesOf(const std::array<std::array<std::size_t, 2>, 2>& fromTo) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {4}, "plain");
  std::vector<estimate::BufferId> buffers;
  buffers.reserve(6);
  for (int i = 0; i < 4; ++i) buffers.push_back(p.add(shape));
  for (const std::size_t shared : {0U, 1U})
    buffers.push_back(p.over(p.program[buffers[shared]].allocation, shape, "another value"));
  for (const auto& [from, to] : fromTo) {
    LoopBuilder l;
    l.output(buffers[to], l.op(ElemOp::Neg, l.input(buffers[from], {0})));
    p.add(l);
  }
  return launches(compiledFor(p.program));
}

/// Whatever the buffers are called: 4 and 5 lie where 0 and 1 lie, as a plan lets what dies make room.
TEST(DeviceLoops, ThatShareMemoryAreNotOneLaunch) {
  EXPECT_EQ(launchesOf({{{0, 2}, {1, 3}}}), 1U);
  EXPECT_EQ(launchesOf({{{0, 2}, {0, 3}}}), 1U) << "both read";
  EXPECT_EQ(launchesOf({{{0, 2}, {1, 4}}}), 2U) << "the second writes what the first reads";
  EXPECT_EQ(launchesOf({{{2, 0}, {3, 4}}}), 2U) << "both write the same";
  EXPECT_EQ(launchesOf({{{2, 1}, {5, 3}}}), 2U) << "the second reads what the first writes";
  EXPECT_EQ(launchesOf({{{0, 4}, {1, 5}}}), 1U) << "both in place";
}

/// Two loops with a call between them, which reads and writes what is named: buffers of the loops, 0 to 3, or others.
ProgramBuilder loopsAround(std::size_t reads, std::size_t writes) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {4}, "plain");
  std::vector<estimate::BufferId> buffers(6);
  for (estimate::BufferId& buffer : buffers) buffer = p.add(shape);
  const auto loop = [&](std::size_t from, std::size_t to) {
    LoopBuilder l;
    l.output(buffers[to], l.op(ElemOp::Neg, l.input(buffers[from], {0})));
    p.add(l);
  };
  loop(0, 1);
  estimate::NativeCall call;
  call.primitive = TBEM_PRIMITIVE_matmul;
  call.operands = {buffers[reads], buffers[writes]};
  call.inputs = 1;
  p.program.calls.push_back(call);
  p.program.steps.push_back({estimate::Step::Kind::Call, 0, {}, {}, "call"});
  loop(2, 3);
  return p;
}
std::size_t launchesAround(std::size_t reads, std::size_t writes) {
  return launches(compiledFor(loopsAround(reads, writes).program));
}

TEST(DeviceLoops, PassWhatHasNothingToDoWithThem) {
  EXPECT_EQ(launchesAround(4, 5), 1U);
  EXPECT_EQ(launchesAround(1, 4), 1U) << "it waits for the first loop, which stays where it is";
  EXPECT_EQ(launchesAround(4, 2), 2U) << "the second loop reads what it writes";
  EXPECT_EQ(launchesAround(3, 4), 2U) << "it reads what the second loop overwrites";
  EXPECT_EQ(launchesAround(4, 3), 2U) << "both write the same";
}

TEST(DeviceLoops, PassNoBranchAndNoMicroBatch) {
  ProgramBuilder gate = loopsAround(4, 5);
  gate.program.branches.resize(2);
  gate.program.branches[1].rows = gate.add(layoutOf(TBEM_I64, {1}, "plain"));
  EXPECT_EQ(launches(compiledFor(gate.program)), 1U);
  gate.program.steps[1].branch = 1;
  EXPECT_EQ(launches(compiledFor(gate.program)), 2U) << "for some samples";
  for (const std::uint32_t steps : {1U, 2U, 3U}) {
    ProgramBuilder accumulated = loopsAround(4, 5);
    accumulated.program.micro = {.parts = 2, .steps = steps};
    accumulated.program.micro.number = accumulated.add(layoutOf(TBEM_I64, {1}, "plain"));
    EXPECT_EQ(launches(compiledFor(accumulated.program)), steps == 3 ? 1U : 2U) << "the last loop runs once";
  }
}

TEST(DeviceLoops, ThatAreTimedHaveLaunchesOfTheirOwn) {
  estimate::Program program = chainOf({8, 8}, {-1, -1}).program;
  program.target = "nvptx64";
  const auto compiled = jit::compile(program, {.cache = false, .marks = true, .keepIr = true});
  ASSERT_TRUE(compiled);
  EXPECT_EQ(launches(*compiled), 2U);
}

/// Functions that the C library has on the host come from the toolkit's file; where that is missing, the error names it.
TEST(DeviceLoops, TakeFunctionsFromTheToolkit) {
  estimate::Program program = oneLoop(ElemOp::Sin);
  program.target = "nvptx64";
  const auto without = jit::compile(program, {.cache = false, .libdevice = "/nowhere/libdevice.10.bc"});
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message.find("/nowhere/libdevice.10.bc"), std::string::npos) << without.error().message;
  if (jit::findLibdevice().empty()) GTEST_SKIP() << "no CUDA toolkit is here";
  const jit::Compiled compiled = compiledFor(program);
  EXPECT_EQ(compiled.assembly.find("call"), std::string::npos) << "sin is inlined";
}

/// PTX of y = x + row, element by element: x and y of a type and so many rows and columns; `axes`: of what is added.
std::string sumOf(std::int32_t dtype, const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& rowDims,
                  std::vector<int> axes, std::int32_t rowType) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(dtype, dims, "plain"), row = layoutOf(rowType, rowDims, "plain");
  LoopBuilder l;
  const std::uint32_t x = l.input(p.add(shape), {0, 1}), added = l.input(p.add(row), std::move(axes));
  l.output(p.add(shape), l.op(ElemOp::Add, x, added));
  p.add(l);
  return compiledFor(p.program).assembly;
}

/// A thread reads and writes 16 bytes at once where rows lie so, which is the most that PTX has an instruction for.
TEST(DeviceLoops, MoveSixteenBytesAtOnce) {
  const auto has = [](const std::string& text, const char* what) { return text.find(what) != std::string::npos; };
  const std::string whole = sumOf(TBEM_F32, {6, 10}, {6, 10}, {0, 1}, TBEM_F32);
  EXPECT_TRUE(has(whole, "ld.global.nc.v4.f32") && has(whole, "st.global.v4.f32")) << "rows of ten are one row of sixty\n"
                                                                                   << whole;
  EXPECT_FALSE(has(whole, "global.f32") || has(whole, "nc.f32")) << whole;
  const std::string byRow = sumOf(TBEM_F32, {6, 12}, {6}, {0}, TBEM_F32);
  EXPECT_TRUE(has(byRow, "ld.global.nc.v4.f32") && has(byRow, "ld.global.nc.f32")) << "a number for each row\n" << byRow;
  const std::string byColumn = sumOf(TBEM_F32, {6, 12}, {12}, {1}, TBEM_F32);
  EXPECT_TRUE(has(byColumn, "st.global.v4.f32") && !has(byColumn, "nc.f32")) << byColumn;
  const std::string wide = sumOf(TBEM_F64, {6, 10}, {6, 10}, {0, 1}, TBEM_F64);
  EXPECT_TRUE(has(wide, "ld.global.nc.v2.f64") && has(wide, "st.global.v2.f64")) << wide;
  const std::string half = sumOf(TBEM_BF16, {8, 16}, {8, 16}, {0, 1}, TBEM_BF16);
  EXPECT_TRUE(has(half, "ld.global.nc.v4.u32") || has(half, "ld.global.nc.v4.b32")) << "eight of two bytes\n" << half;
  const std::string mixed = sumOf(TBEM_F32, {8, 16}, {8, 16}, {0, 1}, TBEM_BF16);
  EXPECT_TRUE(has(mixed, "ld.global.nc.v4.f32") && has(mixed, "ld.global.nc.v4.u16")) << "four of each\n" << mixed;
}

/// Where rows begin between multiples of 16 bytes they are read in smaller pieces, and one by one where they do not lie so.
TEST(DeviceLoops, MoveNoMoreThanIsAligned) {
  const auto has = [](const std::string& text, const char* what) { return text.find(what) != std::string::npos; };
  const std::string two = sumOf(TBEM_F32, {6, 10}, {6}, {0}, TBEM_F32);
  EXPECT_TRUE(has(two, "ld.global.nc.v2.f32") && !has(two, ".v4.")) << "rows of ten are even\n" << two;
  for (const std::string& text : {sumOf(TBEM_F32, {6, 7}, {6}, {0}, TBEM_F32), sumOf(TBEM_F32, {3, 7}, {3, 7}, {0, 1}, TBEM_F32),
                                  sumOf(TBEM_F32, {16, 16}, {16, 16}, {1, 0}, TBEM_F32)})
    EXPECT_FALSE(has(text, ".v2.") || has(text, ".v4.")) << text;
}

/// A place of four bytes is one of two that a thread takes together, as long as there are two; one of eight is enough.
TEST(DeviceLoops, TakeSmallPlacesTogether) {
  ProgramBuilder p;
  LoopBuilder l;
  const std::uint32_t number = l.input(p.add(layoutOf(TBEM_F32, {6}, "plain")), {0});
  l.output(p.add(layoutOf(TBEM_F32, {6, 7}, "plain")), l.op(ElemOp::Neg, number));
  p.add(l);
  EXPECT_EQ(timesIn(compiledFor(p.program).assembly, "st.global.f32"), 3U);
  EXPECT_EQ(timesIn(sumOf(TBEM_F32, {6, 7}, {6}, {0}, TBEM_F32), "st.global.f32"), 1U);
}

TEST(DeviceLoops, AreMadeOfAllTypesAndLayouts) {
  int vectors = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const jit::Compiled compiled = compiledFor(LoopGenerator(seed).run().program);
    if (HasFailure()) return;
    EXPECT_EQ(compiled.assembly.find(".local"), std::string::npos) << compiled.assembly;
    if (compiled.assembly.find(".v2.") != std::string::npos || compiled.assembly.find(".v4.") != std::string::npos) ++vectors;
  }
  EXPECT_GE(vectors, 5) << "so many of the loops that test/prop/cuda runs are of vectors";
}

}  // namespace
}  // namespace tbem::testing
