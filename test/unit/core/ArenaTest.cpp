// Two executables in one arena, with steps written by hand.
#include "runtime/core/Executable.h"
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
