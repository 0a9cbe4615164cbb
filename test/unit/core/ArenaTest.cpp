// Two executables in one arena, with steps written by hand.
#include "runtime/core/Executable.h"
#include "runtime/core/Init.h"
#include "runtime/core/Layout.h"

#include <gtest/gtest.h>

using namespace tbem::runtime;

namespace {

/// w = 2 w + x; leaves x in a temporary.
std::int32_t doubleStep(tbem_rt_context*, char* arena, const double*, std::uint64_t) {
  auto* f = reinterpret_cast<float*>(arena);
  for (int i = 0; i < 16; ++i) f[32 + i] = f[16 + i];
  for (int i = 0; i < 16; ++i) f[i] = 2 * f[i] + f[32 + i];
  return TBEM_OK;
}
/// y = w + 1, in a larger temporary over the other's.
std::int32_t readStep(tbem_rt_context*, char* arena, const double*, std::uint64_t) {
  auto* f = reinterpret_cast<float*>(arena);
  for (int i = 0; i < 48; ++i) f[16 + i] = f[i % 16] + 1;
  return TBEM_OK;
}

tbem_operand floats(std::int64_t count) { return plainOperand(TBEM_F32, {count}); }

/// Bytes: w [0, 64), x [64, 128), a temporary [128, 192).
Executable writer() {
  Executable e;
  e.step = doubleStep;
  e.arena = 192;
  e.allocations = {{0, 64, true}, {64, 64, false}, {128, 64, false}};
  e.buffers = {{"w", floats(16), 0, 0}, {"x", floats(16), 64, 1}, {"t", floats(16), 128, 2}};
  e.storages = {{"w", BufferClass::Weight, 0, {"ones", 0, 0}, 0}, {"x", BufferClass::Input, 1, {}, 0}};
  e.scalars = {0};
  return e;
}
/// Bytes: w [0, 64), y [64, 256).
Executable reader() {
  Executable e;
  e.step = readStep;
  e.arena = 256;
  e.allocations = {{0, 64, true}, {64, 192, false}};
  e.buffers = {{"w", floats(16), 0, 0}, {"y", floats(48), 64, 1}};
  e.storages = {{"w", BufferClass::Weight, 0, {"ones", 0, 0}, 0}};
  e.scalars = {0};
  return e;
}

auto arenaOf(const Executable& a, const Executable& b, const ArenaOptions& options = {}) {
  const Executable* const both[] = {&a, &b};
  return Arena::create(both, *tbem_backend_ref(), options);
}

TEST(SharedArena, WhatOneWritesTheOtherReads) {
  const Executable a = writer(), b = reader();
  const auto arena = *arenaOf(a, b);
  EXPECT_EQ(arena->bytes(), 256U);
  const auto first = *Instance::create(a, *arena), second = *Instance::create(b, *arena);
  ASSERT_TRUE(first->initialise(1));
  for (const double expected : {1 * 2 + 3, 5 * 2 + 3}) {
    ASSERT_TRUE(first->write(1, HostTensor::of(TBEM_F32, {16}, std::vector<double>(16, 3))));
    ASSERT_TRUE(first->run(1) && second->run(1));
    EXPECT_EQ(second->read(1)->doubles(), std::vector<double>(48, expected + 1));
    EXPECT_EQ(first->readStorage(0)->doubles(), std::vector<double>(16, expected));
    EXPECT_EQ(second->readStorage(0)->doubles(), std::vector<double>(16, expected));
    EXPECT_EQ(first->read(1)->doubles(), std::vector<double>(16, expected + 1));  // its input lay among temporaries
  }
}

TEST(SharedArena, IsMeasuredOverAll) {
  const Executable a = writer();
  Executable b = reader();
  const auto run = [&] {
    const auto arena = *arenaOf(a, b, {.poison = true, .guard = 100});
    const auto first = *Instance::create(a, *arena), second = *Instance::create(b, *arena);
    EXPECT_TRUE(first->initialise(1) && first->run(1) && second->run(1));
    return *arena->measure();
  };
  const ArenaReport whole = run();
  EXPECT_EQ(whole.planned, 256U);
  EXPECT_EQ(whole.reached, 256U);
  EXPECT_EQ(whole.stray, kAbsent);
  EXPECT_TRUE(whole.guardIntact);
  b.arena = 192;  // it writes behind that
  b.allocations[1].bytes = 128;
  b.buffers[1].operand = floats(32);
  EXPECT_FALSE(run().guardIntact);
  b.arena = 256;
  EXPECT_EQ(run().stray, 192U);
}

TEST(Arena, IsPoisonedWhenItWasUsed) {
  const Executable e = writer();
  const auto instance = *Instance::create(e, *tbem_backend_ref(), {.guard = 100});
  ASSERT_TRUE(instance->initialise(1) && instance->run(1) && instance->run(2));
  EXPECT_FALSE(instance->measureArena());
  ASSERT_TRUE(instance->poisonArena());
  EXPECT_EQ(instance->measureArena()->touched, 0U);
  ASSERT_TRUE(instance->initialise(1));
  EXPECT_EQ(instance->measureArena()->touched, 128U);
  ASSERT_TRUE(instance->run(1));
  EXPECT_EQ(instance->measureArena()->touched, 192U);
  EXPECT_TRUE(instance->measureArena()->guardIntact);
  *(static_cast<char*>(const_cast<void*>(instance->address(0))) - 1) = 0;
  EXPECT_FALSE(instance->measureArena()->guardIntact);
}

std::int32_t noStep(tbem_rt_context*, char*, const double*, std::uint64_t) { return TBEM_OK; }

/// One storage of this kind, layout and rule in an arena of its own, filled.
HostTensor filled(const tbem_operand& operand, BufferClass kind, const InitDesc& init) {
  Executable e;
  e.step = noStep;
  e.arena = (operand.layout.bytes + 63) / 64 * 64;
  e.allocations = {{0, e.arena, true}};
  e.buffers = {{"w", operand, 0, 0}};
  e.storages = {{"w", kind, 0, init, 0}};
  e.scalars = {0};
  const auto instance = *Instance::create(e, *tbem_backend_ref(), {.poison = true});
  EXPECT_TRUE(instance->initialise(3));
  return *instance->readStorage(0);
}

TEST(Instance, StoragesAreFilledAlikeInEveryLayout) {
  const std::vector<std::int64_t> dims{50, 33, 3, 3};  // more than is filled at a time
  const std::vector<int> order{0, 1, 2, 3}, inside{0, 2, 3, 1};
  tbem_operand plain = plainOperand(TBEM_F32, dims), permuted = plain, padded = plain;
  setBlocked(permuted, inside, {});
  setBlocked(padded, order, std::vector<std::pair<int, int>>{{1, 16}});
  for (const auto& [kind, init] :
       {std::pair(BufferClass::Weight, InitDesc{"he_uniform", 0, 0}), std::pair(BufferClass::Weight, InitDesc{"normal", 1, 2}),
        std::pair(BufferClass::Weight, InitDesc{"constant", 0.1, 0}), std::pair(BufferClass::Input, InitDesc{})}) {
    std::vector<double> values(50 * 33 * 9);
    ASSERT_TRUE(kind == BufferClass::Input ? fillInput(TBEM_F32, 0, 3, "w", values) : fillInit(init, dims, 3, "w", values));
    const HostTensor expected = HostTensor::of(TBEM_F32, dims, values);
    for (const tbem_operand& operand : {plain, permuted, padded})
      EXPECT_EQ(filled(operand, kind, init).data, expected.data) << init.kind;
  }
}

TEST(SharedArena, WhatDoesNotGoTogetherIsRefused) {
  const auto why = [](const Executable& b) {
    const auto arena = arenaOf(writer(), b);
    return arena ? std::string() : arena.error().message;
  };
  EXPECT_EQ(why(reader()), "");
  const std::string begin = "the executables do not go together: ";
  Executable shape = reader();
  shape.buffers[0].operand = floats(8);
  EXPECT_EQ(why(shape), begin + "'w' is f32[16] in one and f32[8] in another");
  Executable type = reader();
  type.buffers[0].operand = plainOperand(TBEM_I32, {16});
  EXPECT_EQ(why(type), begin + "'w' is f32[16] in one and i32[16] in another");
  Executable place = reader();
  place.allocations = {{64, 64, true}, {128, 64, false}};
  place.buffers = {{"w", floats(16), 64, 0}, {"y", floats(16), 128, 1}};
  EXPECT_EQ(why(place), begin + "'w' lies at 0 in one and at 64 in another");
  Executable over = reader();
  over.storages[0].path = "v";
  EXPECT_EQ(why(over), begin + "'v' and 'w' lie over each other");
  Executable below = reader();
  below.storages[0] = {"v", BufferClass::Weight, 0, {"ones", 0, 0}, 0};
  below.allocations[0].offset = below.buffers[0].offset = 64;
  below.allocations[1] = {128, 128, false};
  below.buffers[1] = {"y", floats(32), 128, 1};
  EXPECT_EQ(why(below), begin + "one has a temporary at 64, below the 128 B that persist");
}

TEST(SharedArena, AnExecutableThatItWasNotMadeForIsRefused) {
  const Executable small = writer(), large = reader();
  const Executable* const alone[] = {&small};
  const auto arena = *Arena::create(alone, *tbem_backend_ref());
  const auto instance = Instance::create(large, *arena);
  ASSERT_FALSE(instance);
  EXPECT_NE(instance.error().message.find("takes 256 B"), std::string::npos);
}

}  // namespace
