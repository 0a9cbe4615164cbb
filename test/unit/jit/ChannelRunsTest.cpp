// Steps that one launch takes channel by channel: which stand together, and what keeps them apart. That the kernel computes what
// the steps do, a card or an interpreter of PTX shows (test/prop/cuda).
#include "test/unit/jit/Build.h"

#include "compiler/jit/glue/ChannelRuns.h"
#include "compiler/jit/glue/LoopGroups.h"

#include <algorithm>

namespace tbem::testing {
namespace {

using estimate::NativeCall;
using estimate::Step;
using Steps = std::vector<std::uint32_t>;

const std::vector<std::int64_t> kDims = {4, 64, 6, 6};

/// Statistics of images, what is made of them, and what stands between.
struct Scene : ProgramBuilder {
  explicit Scene(std::vector<std::int64_t> imageDims = kDims, const std::string& layout = "plain")
      : dims(std::move(imageDims)), images(layoutOf(TBEM_F32, dims, layout)) {
    program.target = "nvptx64";
    program.branches.emplace_back();
    program.scalars = {0, 1e-5};
  }
  BufferId image() { return value(images); }
  BufferId vector() { return vectorOf(dims[1]); }
  BufferId vectorOf(std::int64_t length) { return value(layoutOf(TBEM_F32, {length}, "plain")); }
  /// What dies within the step.
  BufferId value(const tbem_operand& operand) {
    const BufferId made = add(operand);
    program.allocations.back().persistent = false;
    return made;
  }

  void call(tbem_primitive primitive, std::vector<BufferId> operands, std::uint32_t inputs) {
    NativeCall call;
    call.primitive = primitive;
    call.operands = std::move(operands);
    call.inputs = inputs;
    if (primitive == TBEM_PRIMITIVE_channel_gradient_sums) call.scalars = {1};
    program.calls.push_back(call);
    program.steps.push_back({Step::Kind::Call, static_cast<std::uint32_t>(program.calls.size() - 1), {}, {}, "call"});
  }
  void moments(BufferId x, BufferId mean, BufferId variance) { call(TBEM_PRIMITIVE_channel_moments, {x, mean, variance}, 1); }
  /// Something else that reads one buffer and writes another.
  void other(BufferId from, BufferId to) { call(TBEM_PRIMITIVE_matmul, {from, to}, 1); }
  /// to = x - mean, element by element, or of a number for each channel.
  void centre(BufferId x, BufferId mean, BufferId to, std::int32_t axis = 1) {
    const auto rank = static_cast<std::size_t>(program[to].operand.rank);
    std::vector<std::int32_t> axes(rank);
    for (std::size_t k = 0; k < rank; ++k) axes[k] = static_cast<std::int32_t>(k);
    LoopBuilder l;
    const std::uint32_t of = l.input(x, axes),
                        centre = l.input(mean, rank == 1 ? std::vector<std::int32_t>{0} : std::vector{axis});
    l.output(to, l.op(ElemOp::Sub, of, centre));
    add(l);
  }
  using ProgramBuilder::add;

  std::vector<jit::LoopNest> nests() const {
    std::vector<jit::LoopNest> planned;
    for (const estimate::FusedLoop& loop : program.loops) planned.push_back(jit::planLoop(program, loop).value());
    return planned;
  }
  std::vector<jit::ChannelRun> runs() const { return jit::channelRuns(program, nests()); }
  std::vector<Steps> steps() const {
    std::vector<Steps> all;
    for (const jit::ChannelRun& run : runs()) all.push_back(run.steps);
    return all;
  }

  std::vector<std::int64_t> dims;
  tbem_operand images;
};

TEST(ChannelRuns, TakeANormalisationWhole) {
  Scene s;
  const BufferId x = s.image(), y = s.image(), mean = s.vector(), variance = s.vector(), other = s.vector();
  s.moments(x, mean, variance);
  s.centre(variance, mean, other);  // of vectors
  s.centre(x, other, y);
  const std::vector<jit::ChannelRun> runs = s.runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].steps, (Steps{0, 1, 2}));
  EXPECT_EQ(runs[0].work.images, (jit::ChannelImages{4, 64, 36}));
  using Kind = jit::ChannelPart::Kind;
  EXPECT_EQ(runs[0].work.parts[0].kind, Kind::Moments);
  EXPECT_EQ(runs[0].work.parts[1].kind, Kind::Vector);
  EXPECT_EQ(runs[0].work.parts[1].nest.width, 1) << "a block takes one channel";
  EXPECT_EQ(runs[0].work.parts[2].kind, Kind::Image);
  EXPECT_EQ(runs[0].work.parts[2].nest.width, 4);
  EXPECT_EQ(jit::channelThreads(runs[0].work.images), 128);
}

TEST(ChannelRuns, TakeTheGradientOfANormalisation) {
  Scene s;
  const BufferId x = s.image(), dy = s.image(), masked = s.image(), dx = s.image();
  const BufferId mean = s.vector(), variance = s.vector(), dweight = s.vector(), dbias = s.vector();
  s.centre(dy, mean, masked);
  s.call(TBEM_PRIMITIVE_channel_gradient_sums, {masked, x, mean, variance, dweight, dbias}, 4);
  s.centre(masked, dbias, dx);
  const std::vector<jit::ChannelRun> runs = s.runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].steps, (Steps{0, 1, 2}));
  EXPECT_EQ(runs[0].work.parts[1].eps, 1U) << "the slot of the scalar";
  EXPECT_EQ(runs[0].work.parts[1].pointers.size(), 6U);
}

TEST(ChannelRuns, GoBehindWhatHasNothingToDoWithThem) {
  Scene s;
  const BufferId x = s.image(), y = s.image(), mean = s.vector(), variance = s.vector(), from = s.image(), to = s.image();
  s.moments(x, mean, variance);
  s.other(from, to);
  s.centre(x, mean, y);
  EXPECT_EQ(s.steps(), (std::vector<Steps>{{0, 2}}));
}

TEST(ChannelRuns, EndWhereOthersMindTheirPlace) {
  const auto stepsWith = [](auto between) {
    Scene s;
    const BufferId x = s.image(), y = s.image(), mean = s.vector(), variance = s.vector(), to = s.image();
    s.moments(x, mean, variance);
    between(s, x, mean, to);
    s.centre(x, mean, y);
    return s.steps();
  };
  EXPECT_TRUE(stepsWith([](Scene& s, BufferId, BufferId mean, BufferId to) { s.other(mean, to); }).empty())
      << "it reads the mean";
  EXPECT_TRUE(stepsWith([](Scene& s, BufferId x, BufferId, BufferId to) { s.other(to, x); }).empty()) << "it overwrites x";
  EXPECT_EQ(stepsWith([](Scene& s, BufferId x, BufferId, BufferId to) { s.other(x, to); }).size(), 1U) << "both read x";
  EXPECT_TRUE(stepsWith([](Scene& s, BufferId, BufferId, BufferId) { s.program.steps[0].branch = 1; }).empty())
      << "for some samples";
}

/// A block would read what another one writes, or has written.
TEST(ChannelRuns, ShareNothingBetweenChannels) {
  Scene columns({4, 64, 64});
  const BufferId x = columns.image(), y = columns.image(), mean = columns.vector(), variance = columns.vector();
  columns.moments(x, mean, variance);
  columns.centre(x, mean, y, 2);  // the number of each column, of all channels
  EXPECT_TRUE(columns.steps().empty());

  // y lies where the variance lies, which other blocks have yet to write.
  Scene s;
  const BufferId image = s.image(), of = s.vector(), deviation = s.vector();
  s.moments(image, of, deviation);
  s.program.allocations[s.program[deviation].allocation].bytes = s.images.layout.bytes;
  s.centre(image, of, s.over(s.program[deviation].allocation, s.images, "there"));
  EXPECT_TRUE(s.steps().empty());
  EXPECT_EQ(s.program.steps.size(), 2U);
}

TEST(ChannelRuns, AreOfOneElementWidthAndAsManyChannels) {
  // Halves in the place of x, which other blocks still read.
  Scene narrow;
  const BufferId x = narrow.image(), z = narrow.image(), mean = narrow.vector(), variance = narrow.vector();
  narrow.moments(x, mean, variance);
  narrow.centre(z, mean, narrow.over(narrow.program[x].allocation, layoutOf(TBEM_BF16, kDims, "plain"), "y"));
  EXPECT_TRUE(narrow.steps().empty());
  narrow.program.loops[0].outputs[0].buffer = narrow.over(narrow.program[x].allocation, narrow.images, "y");
  EXPECT_EQ(narrow.steps().size(), 1U) << "as wide as x";

  Scene other;
  const BufferId image = other.image(), of = other.vector(), deviation = other.vector();
  const BufferId from = other.vectorOf(32), to = other.vectorOf(32);
  other.moments(image, of, deviation);
  other.centre(from, from, to, 0);
  other.centre(image, of, other.image());
  EXPECT_EQ(other.steps(), (std::vector<Steps>{{0, 2}})) << "a vector of other channels goes first";
}

/// Micro-batches run the steps before theirs again and again, and those behind once.
TEST(ChannelRuns, EndWithTheMicroBatch) {
  for (const std::uint32_t steps : {1U, 2U}) {
    Scene s;
    const BufferId x = s.image(), mean = s.vector(), variance = s.vector();
    s.moments(x, mean, variance);
    s.centre(x, mean, s.image());
    s.program.micro = {.parts = 2, .steps = steps};
    EXPECT_EQ(s.steps().size(), steps - 1);
  }
  Scene window;
  const BufferId x = window.image(), mean = window.vector(), variance = window.vector();
  window.program.buffers[static_cast<std::size_t>(x)].window = true;
  window.moments(x, mean, variance);
  window.centre(mean, variance, window.vector());
  EXPECT_TRUE(window.steps().empty()) << "x moves from micro-batch to micro-batch";
}

/// Updates are launched together; here they would keep what follows from its statistics.
TEST(ChannelRuns, LeaveUpdatesAlone) {
  Scene s;
  const BufferId x = s.image(), weight = s.image(), mean = s.vector(), variance = s.vector();
  s.program.allocations[s.program[weight].allocation].persistent = true;
  s.moments(x, mean, variance);
  s.centre(weight, mean, weight);
  s.centre(x, mean, s.image());
  EXPECT_EQ(s.steps(), (std::vector<Steps>{})) << "it reads the mean";
  s.program.loops[0].inputs[1].buffer = s.vector();
  EXPECT_EQ(s.steps(), (std::vector<Steps>{{0, 2}}));
}

/// However many normalisations follow each other, a kernel has as many pointers as it may have.
TEST(ChannelRuns, OfManyStepsAreSeveral) {
  Scene s;
  BufferId x = s.image();
  for (int i = 0; i < 40; ++i) {
    const BufferId y = s.image(), mean = s.vector(), variance = s.vector();
    s.moments(x, mean, variance);
    s.centre(x, mean, y);
    x = y;
  }
  const std::vector<jit::ChannelRun> runs = s.runs();
  ASSERT_EQ(runs.size(), 5U);
  for (const jit::ChannelRun& run : runs) EXPECT_EQ(run.steps.size(), 16U);
}

/// The kernel keeps sums where the threads of a block share them: workspaces that lie in one place keep nothing apart.
TEST(ChannelRuns, NeedNoWorkspace) {
  Scene s;
  const BufferId x = s.image(), z = s.image(), y = s.image(), to = s.image(), shared = s.vectorOf(4096);
  const BufferId mean = s.vector(), variance = s.vector(), other = s.vector(), deviation = s.vector();
  s.moments(x, mean, variance);
  s.other(z, to);
  s.moments(to, other, deviation);
  s.centre(x, mean, y);
  for (NativeCall& call : s.program.calls) call.workspace = shared;
  EXPECT_EQ(s.steps(), (std::vector<Steps>{{0, 2, 3}}));
}

/// A run is at its last step's place, where what a loop behind an earlier one reads may not be there yet.
TEST(ChannelRuns, AreNotPassedByGroupsOfLoops) {
  Scene s;
  const BufferId x = s.image(), mean = s.vector(), variance = s.vector();
  s.moments(x, mean, variance);
  s.centre(s.vector(), s.vector(), s.vector());
  s.centre(x, mean, s.image());
  s.centre(mean, s.vector(), s.vector());
  ASSERT_EQ(s.steps(), (std::vector<Steps>{{0, 2, 3}}));
  EXPECT_TRUE(jit::groupLoops(s.program, s.nests(), {true, false, true, false}).empty());
}

/// Means divide by a channel's number of elements, which the kernel knows; an exponent or a sum of it stays what it is.
TEST(ChannelRuns, AreGivenDivisorsAlone) {
  const auto given = [](auto expression) {
    Scene s;
    const BufferId x = s.image(), mean = s.vector(), variance = s.vector();
    s.moments(x, mean, variance);
    LoopBuilder l;
    const std::uint32_t value = l.input(x, {0, 1, 2, 3}), count = l.constant(4 * 36);
    l.output(s.image(), expression(l, value, count));
    s.add(l);
    return s.runs().at(0).work.parts.at(1).nest.given.size();
  };
  using Node = std::uint32_t;
  EXPECT_EQ(given([](LoopBuilder& l, Node x, Node count) { return l.op(ElemOp::Div, x, count); }), 1U);
  EXPECT_EQ(given([](LoopBuilder& l, Node x, Node count) { return l.op(ElemOp::Div, count, x); }), 0U);
  EXPECT_EQ(given([](LoopBuilder& l, Node x, Node count) { return l.op(ElemOp::Pow, x, count); }), 0U);
  EXPECT_EQ(given([](LoopBuilder& l, Node x, Node count) { return l.op(ElemOp::Add, l.op(ElemOp::Div, x, count), count); }), 0U);
  EXPECT_EQ(given([](LoopBuilder& l, Node x, Node) { return l.op(ElemOp::Div, x, l.constant(4 * 36 + 1)); }), 0U);
}

TEST(ChannelRuns, WorkInPlace) {
  Scene s;
  const BufferId x = s.image(), mean = s.vector(), variance = s.vector();
  s.moments(x, mean, variance);
  s.centre(x, mean, s.over(s.program[x].allocation, s.images, "y"));
  EXPECT_EQ(s.steps(), (std::vector<Steps>{{0, 1}}));
}

TEST(ChannelRuns, AreOfRowMajorImagesWithEnoughChannels) {
  const auto steps = [](const std::vector<std::int64_t>& dims, const std::string& layout) {
    Scene s(dims, layout);
    const BufferId x = s.image(), y = s.image(), mean = s.vector(), variance = s.vector();
    s.moments(x, mean, variance);
    s.centre(x, mean, y);
    return s.steps().size();
  };
  EXPECT_EQ(steps({4, 64, 6, 6}, "plain"), 1U);
  EXPECT_EQ(steps({4, 64, 6, 6}, "nhwc"), 0U) << "a channel's numbers lie apart";
  EXPECT_EQ(steps({16, 64, 32, 32}, "plain"), 1U);
  EXPECT_EQ(steps({16, 32, 32, 32}, "plain"), 0U) << "too few blocks for what there is to read";
  EXPECT_EQ(steps({2, 3, 32, 32}, "plain"), 1U) << "so little that a launch takes longer";
  EXPECT_EQ(steps({64, 96}, "plain"), 1U) << "of single numbers";
}

std::size_t launches(const jit::Compiled& compiled) {
  return timesIn(compiled.ir, "call i32 @tbem_rt_launch") + timesIn(compiled.ir, "call i32 @tbem_rt_call");
}

TEST(ChannelRuns, AreOneLaunchAndOneKernelForEqualOnes) {
  Scene s;
  BufferId x = s.image();
  for (int i = 0; i < 3; ++i) {
    const BufferId y = s.image(), next = s.image(), mean = s.vector(), variance = s.vector();
    s.moments(x, mean, variance);
    s.centre(x, mean, y);
    if (i < 2) s.other(y, next);
    x = next;
  }
  const auto compiled = jit::compile(s.program, {.cache = false, .keepIr = true});
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(launches(*compiled), 3U + 2U);
  EXPECT_EQ(compiled->executable.kernels, 1U);
  EXPECT_NE(compiled->assembly.find(".reqntid 128"), std::string::npos) << compiled->assembly;
  EXPECT_NE(compiled->assembly.find("ld.global.v4"), std::string::npos) << "sixteen bytes at once";
  EXPECT_EQ(compiled->assembly.find("ld.global.nc"), std::string::npos) << "what it reads it may have written";
  const auto timed = jit::compile(s.program, {.cache = false, .marks = true, .keepIr = true});
  ASSERT_TRUE(timed);
  EXPECT_EQ(launches(*timed), 6U + 2U) << "each step has a time of its own";
}

/// Sizes are told to the kernel; what makes its code another are the threads of a block, how many elements a thread takes at
/// once, and a loop that has to know where a plane ends.
TEST(ChannelRuns, ShareAKernelBetweenImagesOfManySizes) {
  const auto keyOf = [](const std::vector<std::int64_t>& dims, bool ofPlanes = false) {
    Scene s(dims);
    const BufferId x = s.image(), mean = s.vector(), variance = s.vector();
    s.moments(x, mean, variance);
    s.centre(x, mean, s.image());
    if (ofPlanes) {  // times a number for each channel of each sample
      LoopBuilder l;
      const BufferId scale = s.value(layoutOf(TBEM_F32, {dims[0], dims[1], 1, 1}, "plain"));
      l.output(s.image(), l.op(ElemOp::Mul, l.input(x, {0, 1, 2, 3}), l.input(scale, {0, 1, 2, 3})));
      s.add(l);
    }
    const std::vector<jit::ChannelRun> runs = s.runs();
    EXPECT_EQ(runs.size(), 1U);
    if (runs.empty()) return std::string();
    EXPECT_EQ(runs[0].steps.size(), ofPlanes ? 3U : 2U);
    EXPECT_EQ(runs[0].work.parts[1].ofChannel, (std::vector<std::uint64_t>{0, 4, 0})) << "the mean's, an f32";
    return jit::channelKey(runs[0].work);
  };
  const std::string key = keyOf({4, 64, 6, 6});
  EXPECT_EQ(keyOf({2, 128, 8, 10}), key);
  EXPECT_EQ(keyOf({3, 96, 4, 1}), key);
  EXPECT_NE(keyOf({128, 64, 6, 6}), key) << "256 threads";
  EXPECT_NE(keyOf({4, 64, 7, 7}), key) << "single numbers";
  EXPECT_NE(keyOf({4, 64, 6, 7}), keyOf({4, 64, 7, 7})) << "pairs";
  EXPECT_NE(keyOf({4, 64, 6, 6}, true), keyOf({2, 128, 8, 10}, true));
}

/// What stands between the steps decides whether they stand together, so it is part of what code is found by.
TEST(ChannelRuns, AreFoundByWhatStandsBetween) {
  const auto keyOf = [](bool between) {
    Scene s;
    const BufferId x = s.image(), y = s.image(), mean = s.vector(), variance = s.vector(), from = s.vector(), to = s.image();
    s.moments(x, mean, variance);
    s.other(between ? mean : from, to);
    s.centre(x, mean, y);
    const auto compiled = jit::compile(s.program, {.cache = false});
    EXPECT_TRUE(compiled);
    return compiled ? compiled->key : "";
  };
  EXPECT_NE(keyOf(true), keyOf(false));
}

}  // namespace
}  // namespace tbem::testing
