// Every element-wise operation, in f32, f64 and integers; layouts, broadcasting, padding, in-place, random numbers.
#include "test/unit/jit/Build.h"

namespace tbem::testing {
namespace {

struct Case {
  ElemOp op;
  int operands;
  double low, high, tolerance32;
};
const Case kCases[] = {{ElemOp::Add, 2, -2, 2, 0},     {ElemOp::Sub, 2, -2, 2, 0},  {ElemOp::Mul, 2, -2, 2, 0},
                       {ElemOp::Div, 2, -2, 2, 0},     {ElemOp::Neg, 1, -2, 2, 0},  {ElemOp::Minimum, 2, -2, 2, 0},
                       {ElemOp::Maximum, 2, -2, 2, 0}, {ElemOp::Abs, 1, -2, 2, 0},  {ElemOp::Exp, 1, -20, 20, 1},
                       {ElemOp::Log, 1, 0, 4, 1},      {ElemOp::Sqrt, 1, 0, 9, 0},  {ElemOp::Rsqrt, 1, 0.01, 9, 0},
                       {ElemOp::Pow, 2, 0.1, 3, 0},    {ElemOp::Tanh, 1, -5, 5, 3}, {ElemOp::Erf, 1, -5, 5, 1},
                       {ElemOp::Sin, 1, -9, 9, 1},     {ElemOp::Cos, 1, -9, 9, 1},  {ElemOp::Floor, 1, -9, 9, 0},
                       {ElemOp::Equal, 2, -2, 2, 0},   {ElemOp::Less, 2, -2, 2, 0}, {ElemOp::LessEqual, 2, -2, 2, 0},
                       {ElemOp::And, 2, -2, 2, 0},     {ElemOp::Or, 2, -2, 2, 0},   {ElemOp::Not, 1, -2, 2, 0},
                       {ElemOp::Select, 3, -2, 2, 0}};

bool isTruth(ElemOp op) { return op >= ElemOp::Equal && op <= ElemOp::Not; }

class EveryOperation : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(EveryOperation, AgreesWithTheInterpreter) {
  const std::int32_t dtype = GetParam();
  for (const Case& c : kCases) {
    SCOPED_TRACE(static_cast<int>(c.op));
    ProgramBuilder p;
    const tbem_operand shape = layoutOf(dtype, {3, 5, 7}, "plain");  // 105 elements: vectors and a rest
    std::map<std::uint32_t, HostTensor> inputs;
    LoopBuilder l;
    std::uint32_t operand[3] = {0, 0, 0};
    for (int i = 0; i < c.operands; ++i) {
      const BufferId b = p.add(shape);
      inputs[static_cast<std::uint32_t>(b)] = randomTensor(shape, 10 + static_cast<std::uint64_t>(i), c.low, c.high);
      operand[i] = l.input(b, {0, 1, 2});
    }
    const bool integer = dtype == TBEM_I64;
    const bool toFloat = integer && (c.op == ElemOp::Div || (c.op >= ElemOp::Exp && c.op <= ElemOp::Cos));
    const std::int32_t result = isTruth(c.op) ? TBEM_BOOL : toFloat ? TBEM_F32 : dtype;
    l.output(p.add(layoutOf(result, {3, 5, 7}, "plain")), l.op(c.op, operand[0], operand[1], operand[2]));
    p.add(l);
    runAndCompare(p.program, inputs, c.tolerance32);
  }
}
INSTANTIATE_TEST_SUITE_P(Types, EveryOperation, ::testing::Values(TBEM_F32, TBEM_F64, TBEM_I64));

TEST(Fused, NotANumberIsKeptByMinimumAndMaximumAndComparesFalse) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {4}, "plain");
  const double nan = std::nan("");
  const BufferId x = p.add(shape), y = p.add(shape), low = p.add(shape), high = p.add(shape),
                 less = p.add(layoutOf(TBEM_BOOL, {4}, "plain")), same = p.add(layoutOf(TBEM_BOOL, {4}, "plain"));
  LoopBuilder l;
  const auto a = l.input(x, {0}), b = l.input(y, {0});
  l.output(low, l.op(ElemOp::Minimum, a, b));
  l.output(high, l.op(ElemOp::Maximum, a, b));
  p.add(l);
  LoopBuilder m;
  const auto c = m.input(x, {0}), d = m.input(y, {0});
  m.output(less, m.op(ElemOp::LessEqual, c, d));
  m.output(same, m.op(ElemOp::Equal, c, d));
  p.add(m);
  auto compiled = jit::compile(p.program, {.cache = false});
  ASSERT_TRUE(compiled) << compiled.error().message;
  auto instance = *runtime::Instance::create(compiled->executable, *plainBackend());
  ASSERT_TRUE(instance->write(0, HostTensor::of(TBEM_F32, {4}, std::vector<double>{nan, 1, nan, 2})));
  ASSERT_TRUE(instance->write(1, HostTensor::of(TBEM_F32, {4}, std::vector<double>{1, nan, nan, 3})));
  ASSERT_TRUE(instance->run(1));
  for (std::uint32_t buffer : {2U, 3U}) {
    const auto got = instance->read(buffer)->doubles();
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[2]));
    EXPECT_EQ(got[3], buffer == 2 ? 2 : 3);
  }
  EXPECT_EQ(instance->read(4)->integers(), (std::vector<std::int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(instance->read(5)->integers(), (std::vector<std::int64_t>{0, 0, 0, 0}));
}

/// relu((x - mean[c]) * rsqrt(variance[c] + eps) * weight[c] + bias[c] + residual), the loop that matters most.
struct Normalise {
  ProgramBuilder p;
  std::map<std::uint32_t, HostTensor> inputs;
  BufferId x{}, out{};
  Normalise(std::int32_t dtype, const std::vector<std::int64_t>& dims, const std::string& layout, bool inPlace) {
    const tbem_operand shape = layoutOf(dtype, dims, layout), channel = layoutOf(dtype, {dims[1]}, "plain");
    LoopBuilder l;
    std::vector<std::int32_t> all;
    for (std::size_t k = 0; k < dims.size(); ++k) all.push_back(static_cast<std::int32_t>(k));
    auto tensor = [&](const tbem_operand& o, std::vector<std::int32_t> axes, double low, double high) {
      const BufferId b = p.add(o);
      inputs[static_cast<std::uint32_t>(b)] = randomTensor(o, 100 + static_cast<std::uint64_t>(b), low, high);
      return std::pair{b, l.input(b, std::move(axes))};
    };
    const auto [xb, xv] = tensor(shape, all, -2, 2);
    const auto [rb, residual] = tensor(shape, all, -2, 2);
    const auto mean = tensor(channel, {1}, -1, 1).second, variance = tensor(channel, {1}, 0.5, 2).second;
    const auto weight = tensor(channel, {1}, -1, 1).second, bias = tensor(channel, {1}, -1, 1).second;
    const auto inverse = l.op(ElemOp::Rsqrt, l.op(ElemOp::Add, variance, l.constant(1, 100000)));
    const auto normal = l.op(ElemOp::Mul, l.op(ElemOp::Sub, xv, mean), inverse);
    const auto sum = l.op(ElemOp::Add, l.op(ElemOp::Add, l.op(ElemOp::Mul, normal, weight), bias), residual);
    x = xb;
    out = inPlace ? p.over(p.program[rb].allocation, shape, "out") : p.add(shape);
    l.output(out, l.op(ElemOp::Maximum, sum, l.constant(0)));
    p.add(l);
  }
};

TEST(Fused, NormaliseAddReluInEveryLayout) {
  for (std::int32_t dtype : {TBEM_F32, TBEM_F64}) {
    for (const char* layout : {"plain", "nhwc", "c16", "c8"}) {
      for (std::int64_t channels : {1, 3, 16, 24, 32, 40}) {
        for (bool inPlace : {false, true}) {
          SCOPED_TRACE(std::string(layout) + " " + std::to_string(channels) + (inPlace ? " in place" : ""));
          Normalise n(dtype, {2, channels, 5, 7}, layout, inPlace);
          runAndCompare(n.p.program, n.inputs);
        }
      }
    }
  }
}

TEST(Fused, LargeLoopsRunInParallelPieces) {
  for (const char* layout : {"plain", "c16"}) {
    Normalise n(TBEM_F32, {3, 32, 33, 31}, layout, false);
    auto compiled = jit::compile(n.p.program, {.cache = false, .keepIr = true});
    ASSERT_TRUE(compiled);
    EXPECT_TRUE(compiled->loops[0].parallel);
    EXPECT_GE(compiled->loops[0].count, 8);
    runAndCompare(n.p.program, n.inputs);
  }
}

TEST(Fused, FlatLoopIsCutIntoChunks) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {100003}, "plain");
  const BufferId x = p.add(shape), y = p.add(shape);
  LoopBuilder l;
  l.output(y, l.op(ElemOp::Mul, l.input(x, {0}), l.constant(3)));
  p.add(l);
  auto compiled = jit::compile(p.program, {.cache = false, .keepIr = true});
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->loops[0].parallel);
  EXPECT_GT(compiled->loops[0].count, 8);
  runAndCompare(p.program, {{0, randomTensor(shape, 1)}});
}

TEST(Fused, OperandsInOtherLayoutsThanTheOutput) {
  for (const char* from : {"plain", "nhwc", "c16", "c8", "o16i16"}) {
    for (const char* to : {"plain", "nhwc", "c16", "c8", "o16i16"}) {
      for (std::vector<std::int64_t> dims : {std::vector<std::int64_t>{32, 16, 3, 5}, std::vector<std::int64_t>{5, 24, 2, 3},
                                             std::vector<std::int64_t>{1, 1, 4, 4}}) {
        SCOPED_TRACE(std::string(from) + " to " + to + " " + std::to_string(dims[1]));
        ProgramBuilder p;
        const tbem_operand source = layoutOf(TBEM_F32, dims, from);
        const BufferId x = p.add(source), y = p.add(layoutOf(TBEM_F32, dims, to));
        LoopBuilder l;
        l.output(y, l.op(ElemOp::Add, l.input(x, {0, 1, 2, 3}), l.constant(1)));
        p.add(l);
        runAndCompare(p.program, {{0, randomTensor(source, 4)}});
      }
    }
  }
}

TEST(Fused, PermutedAxesAndBroadcastDimensions) {
  ProgramBuilder p;
  const tbem_operand a = layoutOf(TBEM_F32, {5, 4}, "plain"), one = layoutOf(TBEM_F32, {4, 1, 1}, "plain"),
                     scalar = layoutOf(TBEM_F32, {}, "plain");
  const BufferId x = p.add(a), y = p.add(one), z = p.add(scalar), out = p.add(layoutOf(TBEM_F32, {4, 3, 5}, "plain"));
  LoopBuilder l;
  // x runs along (2, 0); y along 0 with two dimensions of size 1, one of them said to run along 2; z is a scalar.
  const auto sum = l.op(ElemOp::Add, l.input(x, {2, 0}), l.input(y, {0, -1, 2}));
  l.output(out, l.op(ElemOp::Mul, sum, l.input(z, {})));
  p.add(l);
  runAndCompare(p.program, {{0, randomTensor(a, 1)}, {1, randomTensor(one, 2)}, {2, randomTensor(scalar, 3)}});
}

TEST(Fused, ScalarsAndEmptyTensors) {
  ProgramBuilder p;
  p.program.scalars = {0, 0.1, 2.5};
  const tbem_operand scalar = layoutOf(TBEM_F64, {}, "plain"), empty = layoutOf(TBEM_F32, {3, 0, 2}, "plain");
  const BufferId x = p.add(scalar), y = p.add(scalar);
  LoopBuilder l;
  // Adam's correction: 1 - beta ^ step, a uniform expression.
  const auto correction = l.op(ElemOp::Sub, l.constant(1), l.op(ElemOp::Pow, l.scalar(1), l.scalar(0)));
  l.output(y, l.op(ElemOp::Div, l.op(ElemOp::Mul, l.input(x, {}), l.scalar(2)), correction));
  p.add(l);
  const BufferId e = p.add(empty), f = p.add(empty);
  LoopBuilder m;
  m.output(f, m.op(ElemOp::Neg, m.input(e, {0, 1, 2})));
  p.add(m);
  runAndCompare(p.program, {{0, HostTensor::of(TBEM_F64, {}, std::vector<double>{0.75})},
                            {static_cast<std::uint32_t>(e), HostTensor::of(TBEM_F32, {3, 0, 2}, {})}});
}

TEST(Fused, UniformNumbersAreRoundedOnceWhereTheyMeetATensor) {
  // 0.1 as f32 differs from 0.1 as f64; (1 - 0.9) computed in f64 and rounded differs from f32 arithmetic.
  ProgramBuilder p;
  p.program.scalars = {0, 0.9};
  const tbem_operand shape = layoutOf(TBEM_F32, {20}, "plain");
  const BufferId x = p.add(shape), y = p.add(shape);
  LoopBuilder l;
  l.output(y, l.op(ElemOp::Mul, l.input(x, {0}), l.op(ElemOp::Sub, l.constant(1), l.scalar(1))));
  p.add(l);
  auto compiled = jit::compile(p.program, {.cache = false});
  ASSERT_TRUE(compiled);
  auto instance = *runtime::Instance::create(compiled->executable, *plainBackend());
  ASSERT_TRUE(instance->write(0, HostTensor::of(TBEM_F32, {20}, std::vector<double>(20, 1.0))));
  ASSERT_TRUE(instance->run(1));
  EXPECT_EQ(instance->read(1)->doubles()[0], static_cast<double>(static_cast<float>(1 - 0.9)));
  EXPECT_NE(static_cast<float>(1 - 0.9), 1 - 0.9F);  // or this test could not fail
}

TEST(Fused, RandomNumbersArePhiloxByLogicalElement) {
  for (std::int32_t dtype : {TBEM_F32, TBEM_F64}) {
    for (const char* layout : {"plain", "nhwc", "c16"}) {
      ProgramBuilder p;
      p.program.scalars = {0};
      const BufferId y = p.add(layoutOf(dtype, {2, 24, 3, 5}, layout));
      LoopBuilder l;
      ElemNode n{.op = ElemOp::Random};
      n.stream = 0xFEDCBA9876543210U;
      l.output(y, l.push(n));
      p.add(l);
      runAndCompare(p.program, {}, 0, 0x123456789ABCDEFU, 41);
    }
  }
}

/// In channels last a channel's values are tabulated (Tables.h): the same bits as computed at every place.
TEST(Fused, WhatVariesWithTheChannelAlone) {
  for (std::int32_t dtype : {TBEM_F32, TBEM_F64}) {
    for (const std::int64_t channels : {3, 16, 40, 2048, 2056}) {
      ProgramBuilder p;
      const tbem_operand shape = layoutOf(dtype, {2, channels, 3, 5}, "nhwc"), channel = layoutOf(dtype, {channels}, "plain");
      const BufferId x = p.add(shape), variance = p.add(channel), weight = p.add(channel), y = p.add(shape), z = p.add(shape);
      LoopBuilder l;
      const std::uint32_t value = l.input(x, {0, 1, 2, 3}), w = l.input(weight, {1});
      const std::uint32_t inverse = l.op(ElemOp::Rsqrt, l.op(ElemOp::Add, l.input(variance, {1}), l.constant(1, 100)));
      const std::uint32_t scale = l.op(ElemOp::Mul, inverse, w);
      ElemNode number{.op = ElemOp::Index};
      number.input = 1;
      const std::uint32_t share = l.op(ElemOp::Div, w, l.op(ElemOp::Add, l.push(number), l.constant(1)));
      l.output(y, l.op(ElemOp::Add, l.op(ElemOp::Mul, value, scale), share));
      l.output(z, l.op(ElemOp::Sub, l.op(ElemOp::Sub, value, inverse), l.op(ElemOp::Sqrt, l.op(ElemOp::Mul, value, value))));
      p.add(l);
      runAndCompare(p.program, {{static_cast<std::uint32_t>(x), randomTensor(shape, 1, -2, 2)},
                                {static_cast<std::uint32_t>(variance), randomTensor(channel, 2, 0.5, 2)},
                                {static_cast<std::uint32_t>(weight), randomTensor(channel, 3, -1, 1)}});
    }
  }
}

TEST(Fused, IndexAndCasts) {
  for (std::int32_t to : {TBEM_F32, TBEM_F64, TBEM_I64, TBEM_I32, TBEM_I8, TBEM_U8, TBEM_BOOL}) {
    for (std::int32_t from : {TBEM_F32, TBEM_F64, TBEM_I64, TBEM_I32, TBEM_I8, TBEM_U8, TBEM_BOOL}) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      ProgramBuilder p;
      const tbem_operand source = layoutOf(from, {3, 37}, "plain");
      const BufferId x = p.add(source), y = p.add(layoutOf(to, {3, 37}, "plain"));
      LoopBuilder l;
      ElemNode cast{.op = ElemOp::Cast, .a = l.op(ElemOp::Mul, l.input(x, {0, 1}), l.constant(37))};
      cast.dtype = to;
      l.output(y, l.push(cast));
      p.add(l);
      if (from == TBEM_BOOL && to == TBEM_BOOL) continue;
      runAndCompare(p.program, {{0, randomTensor(source, 5)}});
    }
  }
  ProgramBuilder p;
  const BufferId y = p.add(layoutOf(TBEM_I64, {3, 20, 2, 2}, "c16"));
  LoopBuilder l;
  const auto row = l.push({.op = ElemOp::Index, .input = 0}), column = l.push({.op = ElemOp::Index, .input = 1});
  l.output(y, l.op(ElemOp::Add, l.op(ElemOp::Mul, row, l.constant(1000)), column));
  p.add(l);
  runAndCompare(p.program, {});
}

/// 16 channels in one block of 16 lie where they do with channels last; a loop may write both, and one in place over the other.
TEST(Fused, EqualPlacesInOtherWords) {
  ProgramBuilder p;
  const std::vector<std::int64_t> dims{2, 16, 3, 5};
  const tbem_operand blocked = layoutOf(TBEM_F32, dims, "c16"), last = layoutOf(TBEM_F32, dims, "nhwc");
  const BufferId x = p.add(blocked), y = p.add(last);
  const BufferId inPlace = p.over(0, last, "x in place");
  LoopBuilder l;
  const auto value = l.input(x, {0, 1, 2, 3});
  l.output(y, l.op(ElemOp::Add, value, value));
  l.output(inPlace, l.op(ElemOp::Mul, value, value));
  l.loop.layout = blocked.layout;
  p.add(l);
  runAndCompare(p.program, {{0, randomTensor(blocked, 3)}});
}

TEST(Fused, SeveralOutputsAndSharedValues) {
  ProgramBuilder p;
  p.program.scalars = {0, 0.1, 0.9};
  const tbem_operand shape = layoutOf(TBEM_F32, {32, 16, 3, 3}, "o16i16");
  const BufferId w = p.add(shape), g = p.add(shape), v = p.add(shape);
  const BufferId w2 = p.over(p.program[w].allocation, shape, "w'"), v2 = p.over(p.program[v].allocation, shape, "v'");
  LoopBuilder l;
  const auto velocity = l.op(ElemOp::Add, l.op(ElemOp::Mul, l.scalar(2), l.input(v, {0, 1, 2, 3})), l.input(g, {0, 1, 2, 3}));
  l.output(v2, velocity);
  l.output(w2, l.op(ElemOp::Sub, l.input(w, {0, 1, 2, 3}), l.op(ElemOp::Mul, l.scalar(1), velocity)));
  p.add(l);
  runAndCompare(p.program, {{0, randomTensor(shape, 1)}, {1, randomTensor(shape, 2)}, {2, randomTensor(shape, 3)}});
}

TEST(Fused, EqualShapesShareAKernel) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {64}, "plain");
  for (int i = 0; i < 3; ++i) {
    const BufferId x = p.add(shape), y = p.add(shape);
    LoopBuilder l;
    l.output(y, l.op(i == 2 ? ElemOp::Neg : ElemOp::Abs, l.input(x, {0})));
    p.add(l);
  }
  auto compiled = jit::compile(p.program, {.cache = false, .keepIr = true});
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->loops[0].kernel, compiled->loops[1].kernel);
  EXPECT_NE(compiled->loops[0].kernel, compiled->loops[2].kernel);
  runAndCompare(p.program, {{0, randomTensor(shape, 1)}, {2, randomTensor(shape, 2)}, {4, randomTensor(shape, 3)}});
}

TEST(Fused, UnsoundLoopsAreRefused) {
  const tbem_operand shape = layoutOf(TBEM_F32, {8, 8}, "plain"), small = layoutOf(TBEM_F8E4M3, {8, 8}, "plain");
  {  // written over an input that is read transposed
    ProgramBuilder p;
    const BufferId x = p.add(shape), y = p.over(0, shape, "y");
    LoopBuilder l;
    l.output(y, l.op(ElemOp::Neg, l.input(x, {1, 0})));
    p.add(l);
    auto compiled = jit::compile(p.program, {.cache = false});
    ASSERT_FALSE(compiled);
    EXPECT_TRUE(compiled.error().bug);
    EXPECT_NE(compiled.error().message.find("read at other places"), std::string::npos);
  }
  {  // an element type that element-wise code does not have
    ProgramBuilder p;
    const BufferId x = p.add(small), y = p.add(small);
    LoopBuilder l;
    l.output(y, l.op(ElemOp::Neg, l.input(x, {0, 1})));
    p.add(l);
    auto compiled = jit::compile(p.program, {.cache = false});
    ASSERT_FALSE(compiled);
    EXPECT_NE(compiled.error().message.find("f8"), std::string::npos);
  }
  {  // two results in the same bytes
    ProgramBuilder p;
    const BufferId x = p.add(shape), y = p.add(shape), z = p.over(1, shape, "z");
    LoopBuilder l;
    const auto v = l.input(x, {0, 1});
    l.output(y, l.op(ElemOp::Neg, v));
    l.output(z, l.op(ElemOp::Abs, v));
    p.add(l);
    EXPECT_FALSE(jit::compile(p.program, {.cache = false}));
  }
}

}  // namespace
}  // namespace tbem::testing
