// Layouts, random numbers, initial values, and instances on the reference backend.
#include "runtime/core/Executable.h"
#include "runtime/core/Init.h"
#include "runtime/core/Layout.h"
#include "runtime/core/NarrowFloat.h"
#include "runtime/core/Philox.h"
#include "runtime/core/Poison.h"
#include "runtime/core/Random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

namespace tbem::runtime {
namespace {

// Known answers of Philox4x32-10, from the reference implementation's test vectors (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterAndKeyAreMadeAsDocumented) {
  EXPECT_EQ(philoxAt(0x1111111122222222U, 0x3333333344444444U, 5, 0x6666666677777777U),
            philox({0x77777777U, 0x66666666U, 5, 0x44444444U}, {0x22222222U ^ 0x33333333U, 0x11111111U}));
}

TEST(Philox, MomentsOfTheDistributions) {
  const int n = 200000;
  double u1 = 0, u2 = 0, n1 = 0, n2 = 0, n4 = 0;
  std::vector<int> below(7, 0);
  for (int i = 0; i < n; ++i) {
    const auto w = philoxAt(1, 2, 3, static_cast<std::uint64_t>(i));
    const double u = philoxUniform(w), g = philoxNormal(w);
    ASSERT_TRUE(u >= 0 && u < 1);
    u1 += u;
    u2 += u * u;
    n1 += g;
    n2 += g * g;
    n4 += g * g * g * g;
    const auto k = philoxBelow(w, 7);
    ASSERT_TRUE(k >= 0 && k < 7);
    ++below[static_cast<std::size_t>(k)];
  }
  const double root = std::sqrt(static_cast<double>(n));  // five standard errors of each estimate
  EXPECT_NEAR(u1 / n, 0.5, 5 * std::sqrt(1.0 / 12) / root);
  EXPECT_NEAR(u2 / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45) / root);
  EXPECT_NEAR(n1 / n, 0, 5 / root);
  EXPECT_NEAR(n2 / n, 1, 5 * std::sqrt(2.0) / root);
  EXPECT_NEAR(n4 / n, 3, 5 * std::sqrt(96.0) / root);
  double chi = 0;
  for (int count : below) chi += (count - n / 7.0) * (count - n / 7.0) / (n / 7.0);
  EXPECT_LT(chi, 22.5);  // chi-square with 6 degrees of freedom, p = 0.001
}

TEST(Philox, ManyAtOnceAreTheSameNumbers) {
  std::vector<double> u(1500), g(1500);     // two whole blocks and a part
  const std::uint64_t first = 0xFFFFFF00U;  // the counter's upper word changes on the way
  uniforms(77, 0x0123456789ABCDEFU, first, u);
  normals(77, 0x0123456789ABCDEFU, first, g);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto words = philoxAt(77, 0x0123456789ABCDEFU, 0, first + i);
    EXPECT_EQ(u[i], philoxUniform(words));
    EXPECT_NEAR(g[i], philoxNormal(words), 4e-15 * std::max(1.0, std::fabs(g[i])));
  }
}

tbem_operand blocked(std::vector<std::int64_t> dims, std::vector<int> order, std::vector<std::pair<int, int>> blocks,
                     std::int32_t dtype = TBEM_F32) {
  tbem_operand o = plainOperand(dtype, dims);
  setBlocked(o, order, blocks);
  return o;
}

TEST(Layout, KnownOffsets) {
  const tbem_operand nchw = plainOperand(TBEM_F32, {2, 24, 5, 7});
  EXPECT_EQ(nchw.layout.bytes, 2U * 24 * 5 * 7 * 4);
  const std::int64_t at[] = {1, 17, 3, 4};
  EXPECT_EQ(offsetOf(nchw, at), ((1 * 24 + 17) * 5 + 3) * 7 + 4);
  const tbem_operand c16 = blocked({2, 24, 5, 7}, {0, 1, 2, 3}, {{1, 16}});
  EXPECT_EQ(c16.layout.padded[1], 32);
  EXPECT_EQ(c16.layout.bytes, 2U * 32 * 5 * 7 * 4);
  EXPECT_EQ(offsetOf(c16, at), (((1 * 2 + 1) * 5 + 3) * 7 + 4) * 16 + 1);  // nChw16c: n, c div 16, h, w, c mod 16
  const tbem_operand oi = blocked({32, 48, 3, 3}, {0, 1, 2, 3}, {{1, 16}, {0, 16}});
  const std::int64_t w[] = {19, 37, 2, 1};
  EXPECT_EQ(offsetOf(oi, w), ((((19 / 16) * 3 + 37 / 16) * 3 + 2) * 3 + 1) * 256 + (37 % 16) * 16 + 19 % 16);  // OIhw16i16o
  const tbem_operand twice = blocked({64, 32}, {0, 1}, {{1, 4}, {0, 16}, {1, 4}});                             // OI4i16o4i
  const std::int64_t v[] = {35, 27};
  EXPECT_EQ(offsetOf(twice, v), ((35 / 16) * 2 + 27 / 16) * 256 + ((27 % 16) / 4 * 16 + 35 % 16) * 4 + 27 % 4);
}

TEST(Layout, ThereAndBackWithZeroPadding) {
  for (const tbem_operand& o :
       {plainOperand(TBEM_F32, {3, 5}), blocked({2, 20, 3, 4}, {0, 1, 2, 3}, {{1, 16}}), blocked({2, 3, 4, 5}, {0, 2, 3, 1}, {}),
        blocked({20, 17, 3, 3}, {0, 1, 2, 3}, {{1, 16}, {0, 16}}), blocked({3, 9}, {1, 0}, {{0, 2}, {1, 4}}, TBEM_I64),
        blocked({7, 5}, {0, 1}, {{1, 8}}, TBEM_BOOL), blocked({7, 5}, {0, 1}, {{1, 8}}, TBEM_BF16), plainOperand(TBEM_F64, {})}) {
    EXPECT_EQ(checkLayout(o), "");
    const std::uint64_t size = elementBytes(o.dtype), count = static_cast<std::uint64_t>(elementCount(o));
    std::vector<unsigned char> plain(count * size), memory(o.layout.bytes, 0xCD), back(plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<unsigned char>(i * 37 + 1);
    fromPlain(o, plain.data(), memory.data());
    std::set<std::int64_t> offsets;
    std::vector<std::int64_t> at(static_cast<std::size_t>(o.rank));
    for (std::uint64_t e = 0; e < count; ++e) {
      std::uint64_t rest = e;
      for (int k = o.rank - 1; k >= 0; --k) {
        at[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(o.dims[k]));
        rest /= static_cast<std::uint64_t>(o.dims[k]);
      }
      const std::int64_t offset = offsetOf(o, at.data());
      EXPECT_EQ(std::memcmp(&memory[static_cast<std::size_t>(offset) * size], &plain[e * size], size), 0);
      offsets.insert(offset);
    }
    EXPECT_EQ(offsets.size(), count);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const bool padding = offsets.count(static_cast<std::int64_t>(i / size)) == 0;
      EXPECT_TRUE(!padding || memory[i] == 0);
    }
    toPlain(o, memory.data(), back.data());
    EXPECT_EQ(back, plain);
  }
}

TEST(Layout, EqualAndUnsoundLayouts) {
  const tbem_operand plain = plainOperand(TBEM_F32, {4, 16, 1, 1}), c16 = blocked({4, 16, 1, 1}, {0, 1, 2, 3}, {{1, 16}}),
                     nhwc = blocked({4, 16, 1, 1}, {0, 2, 3, 1}, {});
  EXPECT_TRUE(isPlain(plain));
  EXPECT_TRUE(sameLayout(plain, nhwc));  // size-1 dimensions do not matter
  EXPECT_FALSE(sameLayout(plain, blocked({4, 16, 2, 1}, {0, 1, 2, 3}, {{1, 16}})));
  EXPECT_FALSE(isPlain(blocked({4, 24, 2, 2}, {0, 2, 3, 1}, {})));
  EXPECT_EQ(checkLayout(c16), "");
  tbem_operand bad = plain;
  bad.layout.padded[1] = 8;
  EXPECT_NE(checkLayout(bad).find("padded"), std::string::npos);
  bad = plain;
  bad.layout.strides[0] = 8;
  EXPECT_NE(checkLayout(bad).find("share"), std::string::npos);
  bad = plain;
  bad.layout.bytes = 100;
  EXPECT_NE(checkLayout(bad).find("100"), std::string::npos);
  bad = plain;
  bad.rank = 9;
  EXPECT_NE(checkLayout(bad), "");
}

TEST(Layout, SmallFloats) {
  // Values from the formats' definitions: IEEE 754 binary16, bfloat16, and arXiv 2209.05433, table 1.
  struct Row {
    std::int32_t dtype;
    double value;
    std::uint32_t bits;
  };
  for (const Row& r : {Row{TBEM_F16, 1, 0x3C00},
                       {TBEM_F16, 65504, 0x7BFF},
                       {TBEM_F16, 0x1p-24, 0x0001},
                       {TBEM_F16, -2, 0xC000},
                       {TBEM_F16, HUGE_VAL, 0x7C00},
                       {TBEM_BF16, 1, 0x3F80},
                       {TBEM_BF16, -0.15625, 0xBE20},
                       {TBEM_BF16, 0x1p-133, 0x0001},
                       {TBEM_F8E4M3, 448, 0x7E},
                       {TBEM_F8E4M3, 0x1p-9, 0x01},
                       {TBEM_F8E4M3, 1.5, 0x3C},
                       {TBEM_F8E5M2, 57344, 0x7B},
                       {TBEM_F8E5M2, 0x1p-16, 0x01},
                       {TBEM_F8E5M2, HUGE_VAL, 0x7C}}) {
    std::uint32_t bits = 0;
    fromDoubles(r.dtype, std::span<const double>(&r.value, 1), &bits);
    EXPECT_EQ(bits, r.bits) << dtypeName(r.dtype) << " " << r.value;
    double back = 0;
    toDoubles(r.dtype, &bits, std::span<double>(&back, 1));
    EXPECT_EQ(back, r.value);
  }
  // Halfway cases go to the even neighbour; 65520 is halfway between 65504 and 2^16, which is infinity.
  for (const Row& r : {Row{TBEM_F16, 1 + 0x1p-11, 0x3C00},
                       {TBEM_F16, 1 + 3 * 0x1p-11, 0x3C02},
                       {TBEM_F16, 65520, 0x7C00},
                       {TBEM_F16, 65519, 0x7BFF},
                       {TBEM_F16, 0x1p-25, 0},
                       {TBEM_F8E4M3, 1000, 0x7F}}) {
    std::uint32_t bits = 0;
    fromDoubles(r.dtype, std::span<const double>(&r.value, 1), &bits);
    EXPECT_EQ(bits, r.bits) << r.value;
  }
}

/// The class against the conversion of layouts, which is written otherwise: every number, and what lies between two of them.
TEST(Float16, AgreesWithLayouts) {
  const auto bitsOf = [](double value) {
    std::uint16_t bits = 0;
    fromDoubles(TBEM_F16, {&value, 1}, &bits);
    return bits;
  };
  for (std::uint32_t i = 0; i <= 0xFFFFU; ++i) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(i);
    double expected = 0;
    toDoubles(TBEM_F16, &half.bits, {&expected, 1});
    const auto value = static_cast<float>(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value) && std::isnan(static_cast<float>(Float16(value)))) << i;
      continue;
    }
    EXPECT_EQ(value, expected) << i;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << i;
    EXPECT_EQ(Float16(value).bits, i);
    // Half a unit further, and one f32 before and behind that.
    const float next = std::ldexp(1.0F, std::max(std::ilogb(value), -14) - 11);
    const float middle = value + std::copysign(next, value);
    for (const float between : {middle, std::nextafterf(middle, 0.0F), std::nextafterf(middle, HUGE_VALF)})
      EXPECT_EQ(Float16(between).bits, bitsOf(static_cast<double>(between))) << between;
  }
}

TEST(Init, SpreadsFollowTheFans) {
  const std::vector<std::int64_t> dims{64, 32, 3, 3};  // fan_in 288, fan_out 576
  EXPECT_EQ(fans(dims).in, 288);
  EXPECT_EQ(fans(dims).out, 576);
  std::vector<double> v(64 * 32 * 9);
  auto spread = [&](const InitDesc& init) {
    EXPECT_TRUE(fillInit(init, dims, 1, "w", v));
    double sum = 0, square = 0, largest = 0;
    for (double x : v) {
      sum += x;
      square += x * x;
      largest = std::max(largest, std::fabs(x));
    }
    EXPECT_NEAR(sum / static_cast<double>(v.size()), init.kind == "normal" || init.kind == "uniform" ? 0.5 : 0, 0.02);
    return std::pair{std::sqrt(square / static_cast<double>(v.size())), largest};
  };
  EXPECT_NEAR(spread({"he_normal"}).first, std::sqrt(2.0 / 288), 0.002);
  EXPECT_NEAR(spread({"he_uniform"}).second, std::sqrt(6.0 / 288), 0.001);
  EXPECT_NEAR(spread({"xavier_normal"}).first, std::sqrt(2.0 / 864), 0.002);
  EXPECT_NEAR(spread({"xavier_uniform"}).second, std::sqrt(6.0 / 864), 0.001);
  EXPECT_NEAR(spread({"torch_uniform"}).second, 1 / std::sqrt(288.0), 0.001);
  EXPECT_NEAR(spread({"normal", 0.5, 0.1}).first, std::sqrt(0.25 + 0.01), 0.005);
  EXPECT_NEAR(spread({"uniform", 0, 1}).first, std::sqrt(1.0 / 3), 0.01);
  EXPECT_TRUE(fillInit({"constant", 2.5, 0}, dims, 1, "w", v));
  EXPECT_EQ(v[77], 2.5);
  EXPECT_FALSE(fillInit({"heh_normal"}, dims, 1, "w", v));
  EXPECT_FALSE(fillInit({"uniform", 1, 0}, dims, 1, "w", v));
}

TEST(Init, DependsOnSeedAndPathOnly) {
  std::vector<double> a(10), b(10), c(10), d(20);
  ASSERT_TRUE(fillInit({"he_normal"}, std::vector<std::int64_t>{2, 5}, 1, "a.weight", a));
  ASSERT_TRUE(fillInit({"he_normal"}, std::vector<std::int64_t>{2, 5}, 1, "b.weight", b));
  ASSERT_TRUE(fillInit({"he_normal"}, std::vector<std::int64_t>{2, 5}, 2, "a.weight", c));
  ASSERT_TRUE(fillInit({"he_normal"}, std::vector<std::int64_t>{4, 5}, 1, "a.weight", d));
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), d.begin()));  // fan_in 5 both times
  std::vector<double> target(1000);
  EXPECT_FALSE(fillInput(TBEM_I64, 0, 1, "target", target));
  ASSERT_TRUE(fillInput(TBEM_I64, 10, 1, "target", target));
  EXPECT_EQ(std::set<double>(target.begin(), target.end()).size(), 10U);
}

/// A program of no calls whose native step writes `value` to `count` floats from float `first` of the arena.
struct Writer {
  static inline std::int64_t first = 0, count = 0;
};
std::int32_t writerStep(tbem_rt_context*, char* arena, const double*, std::uint64_t) {
  for (std::int64_t i = 0; i < Writer::count; ++i) reinterpret_cast<float*>(arena)[Writer::first + i] = 1.5F;
  return TBEM_OK;
}
Executable writer() {
  Executable e;
  e.step = writerStep;
  e.arena = 1024;
  e.allocations = {{0, 250, true}, {512, 512, false}};
  e.buffers.push_back({"w", blocked({3, 5}, {0, 1}, {{1, 8}}), 0, 0});
  e.buffers.push_back({"x", plainOperand(TBEM_F32, {128}), 512, 1});
  e.storages.push_back({"w", BufferClass::Weight, 0, {"he_normal", 0, 0}, 0});
  e.scalars = {0};
  return e;
}

TEST(Arena, HighestByteIsMeasured) {
  for (const auto& [first, count, touched] : {std::tuple{128, 128, 1024}, {128, 127, 1020}, {128, 1, 516}, {128, 0, 3 * 8 * 4}}) {
    Writer::first = first;
    Writer::count = count;
    auto instance = *Instance::create(writer(), *tbem_backend_ref(), {.poison = true, .guard = 100});
    ASSERT_TRUE(instance->initialise(1));
    ASSERT_TRUE(instance->run(1));
    const auto report = instance->measureArena();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->touched, static_cast<std::uint64_t>(touched));
    EXPECT_EQ(report->reached, touched > 512 ? 1024U : 256U);
    EXPECT_EQ(report->planned, 1024U);
    EXPECT_TRUE(report->guardIntact);
    EXPECT_EQ(report->stray, kAbsent);
  }
}

TEST(Arena, WritesWhereThePlanHasNothingAreFound) {
  Writer::first = 64;  // byte 256: in the gap between the two allocations
  Writer::count = 1;
  auto gap = *Instance::create(writer(), *tbem_backend_ref(), {.poison = true, .guard = 100});
  ASSERT_TRUE(gap->initialise(1) && gap->run(1));
  EXPECT_EQ(gap->measureArena()->stray, 256U);
  Writer::first = 256;  // byte 1024: behind the arena
  auto behind = *Instance::create(writer(), *tbem_backend_ref(), {.poison = true, .guard = 100});
  ASSERT_TRUE(behind->initialise(1) && behind->run(1));
  EXPECT_FALSE(behind->measureArena()->guardIntact);
  Writer::first = -1;  // before it
  auto before = *Instance::create(writer(), *tbem_backend_ref(), {.poison = true, .guard = 100});
  ASSERT_TRUE(before->initialise(1) && before->run(1));
  EXPECT_FALSE(before->measureArena()->guardIntact);
  auto plain = *Instance::create(writer(), *tbem_backend_ref());
  EXPECT_FALSE(plain->measureArena());
}

TEST(Instance, AnInputThatNothingBoundsIsWrittenBeforeItRuns) {
  Writer::count = 0;
  Executable e;
  e.step = writerStep;
  const tbem_operand operand = plainOperand(TBEM_I64, {3});
  e.arena = 64;
  e.allocations = {{0, 64, true}};
  e.buffers.push_back({"i", operand, 0, 0});
  e.storages.push_back({"i", BufferClass::Input, 0, {}, 0});
  e.scalars = {0};
  auto instance = *Instance::create(e, *tbem_backend_ref());
  ASSERT_TRUE(instance->initialise(1));
  EXPECT_NE(instance->whyNotDrawn().find("`i`"), std::string::npos);
  const auto without = instance->run(1);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().message, instance->whyNotDrawn());
  ASSERT_TRUE(instance->writeStorage(0, HostTensor::of(TBEM_I64, {3}, std::vector<double>{1, 2, 3})));
  EXPECT_EQ(instance->whyNotDrawn(), "");
  EXPECT_TRUE(instance->run(1));
  ASSERT_TRUE(instance->initialise(1));
  EXPECT_FALSE(instance->run(2)) << "what was written is gone";
}

TEST(Instance, LargeStoragesAreFilledAsOneSequence) {
  Executable e;
  e.step = writerStep;
  const tbem_operand operand = plainOperand(TBEM_F64, {300, 500});  // more than one part
  e.arena = operand.layout.bytes;
  e.allocations = {{0, operand.layout.bytes, true}};
  e.buffers.push_back({"w", operand, 0, 0});
  e.storages.push_back({"w", BufferClass::Weight, 0, {"he_normal", 0, 0}, 0});
  auto instance = *Instance::create(e, *tbem_backend_ref());
  ASSERT_TRUE(instance->initialise(5));
  std::vector<double> whole(300 * 500);
  ASSERT_TRUE(fillInit({"he_normal"}, std::vector<std::int64_t>{300, 500}, 5, "w", whole));
  EXPECT_EQ(instance->readStorage(0)->doubles(), whole);
}

TEST(Instance, StoragesAreReadAndWrittenInLogicalOrder) {
  Writer::count = 0;
  auto instance = *Instance::create(writer(), *tbem_backend_ref());
  ASSERT_TRUE(instance->initialise(5));
  const auto w = instance->readStorage(*instance->findStorage("w"));
  ASSERT_TRUE(w);
  std::vector<double> expected(15);
  ASSERT_TRUE(fillInit({"he_normal"}, std::vector<std::int64_t>{3, 5}, 5, "w", expected));
  for (double& x : expected) x = static_cast<double>(static_cast<float>(x));
  EXPECT_EQ(w->doubles(), expected);
  std::iota(expected.begin(), expected.end(), 0);
  ASSERT_TRUE(instance->writeStorage(0, HostTensor::of(TBEM_F32, {3, 5}, expected)));
  EXPECT_EQ(instance->readStorage(0)->doubles(), expected);
  const auto* memory = static_cast<const float*>(instance->address(0));
  EXPECT_EQ(memory[8 + 4], 9);  // row 1, column 4: rows are padded to 8
  EXPECT_EQ(memory[8 + 5], 0);
  EXPECT_FALSE(instance->findStorage("v"));
  const auto wrong = instance->writeStorage(0, HostTensor::of(TBEM_F64, {3, 5}, expected));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("f64[3, 5]"), std::string::npos);
}

TEST(Instance, UnsoundExecutablesAndEmptyMemoryAreRefused) {
  Executable e = writer();
  e.buffers[1].offset = 516;
  auto leaves = Instance::create(e, *tbem_backend_ref());
  ASSERT_FALSE(leaves);
  EXPECT_EQ(leaves.error().status, TBEM_INVALID);
  EXPECT_NE(leaves.error().message.find("leaves the arena"), std::string::npos);
  tbem_backend poor = *tbem_backend_ref();
  poor.allocate = [](std::uint64_t, void**) { return TBEM_OUT_OF_MEMORY; };
  poor.last_error = [] { return "there is none"; };
  auto none = Instance::create(writer(), poor);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status, TBEM_OUT_OF_MEMORY);
  EXPECT_NE(none.error().message.find("1024 B"), std::string::npos);
  EXPECT_NE(none.error().message.find("there is none"), std::string::npos);
}

}  // namespace
}  // namespace tbem::runtime
