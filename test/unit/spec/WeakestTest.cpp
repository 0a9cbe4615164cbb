// Conditions that make claims true, checked value by value.
#include "compiler/spec/prove/Weakest.h"
#include "test/unit/spec/Support.h"

#include <gtest/gtest.h>

#include <random>

namespace tbem::test {
namespace {

std::optional<spec::Remedy> remedy(World& w, const std::vector<E>& claims, const std::vector<E>& hypotheses = {}) {
  std::vector<ExprId> given, wanted;
  for (const E& one : hypotheses) given.push_back(one.id);
  for (const E& one : claims) wanted.push_back(one.id);
  return spec::remedyFor(w.pool, w.domains, given, wanted);
}

bool holdsAt(const World& w, ExprId id, const std::vector<std::int64_t>& values) {
  std::vector<std::optional<Rational>> assignment;
  for (const std::int64_t value : values) assignment.emplace_back(Rational::of(value));
  const sema::Values all = w.pool.evaluate(assignment);
  return all.errorOf(id) == sema::EvalError::None && all[id].num != 0;
}

TEST(Weakest, ALeastSize) {  // convolution 11, stride 4, pad 2, and three poolings 3, stride 2: AlexNet takes images from 63 on
  World w;
  const E h = w.above("h", 1);
  const E a = floorDiv(h + 4 - 11, 4) + 1;
  const E b = floorDiv(a - 3, 2) + 1;
  const E c = floorDiv(b - 3, 2) + 1;
  const auto found = remedy(w, {h + 4 >= 11, a >= 3, b >= 3, c >= 3});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "h >= 63");
  EXPECT_TRUE(found->isExact);
}

TEST(Weakest, AMultiple) {
  World w;
  const E h = w.above("h", 1);
  const auto found = remedy(w, {floorDiv(floorDiv(h, 2), 2) * 4 == h});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "h mod 4 = 0");
  EXPECT_TRUE(found->isExact);
}

TEST(Weakest, AGreatestSize) {
  World w;
  const E l = w.above("l", 1);
  const auto found = remedy(w, {l <= 512});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "l <= 512");
}

TEST(Weakest, DivisibilityOfOneSymbolByAnother) {
  World w;
  const E h = w.above("h", 1);
  const E patch = w.symbol("patch");
  const auto found = remedy(w, {floorDiv(h, patch) * patch == h});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "patch >= 1 and h mod patch = 0");
}

TEST(Weakest, BothPartsOfAMinimum) {
  World w;
  const E h = w.above("h", 1);
  const E v = w.above("v", 1);
  const E least = E{&w.pool, w.pool.make(ExprOp::Min, floorDiv(h, 4).id, floorDiv(v, 8).id)};
  const auto found = remedy(w, {least.of(1) <= least});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "h >= 4 and v >= 8");
}

TEST(Weakest, WhatIsGivenIsNotSaidAgain) {
  World w;
  const E h = w.above("h", 1);
  const auto found = remedy(w, {h >= 3, mod(h, 6) == 0}, {mod(h, 2) == 0});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->text == "h mod 6 = 0" || found->text == "h mod 3 = 0") << found->text;
}

TEST(Weakest, RandomChainsOfWindowsAgreeWithEveryValue) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int exact = 0, found = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    World w;
    const E h = w.above("h", 1);
    E size = h;
    std::vector<E> claims;
    for (int layer = pick(1, 4); layer > 0; --layer) {
      const int kernel = pick(1, 5), stride = pick(1, 3), pad = pick(0, 2);
      claims.push_back(size + 2 * pad >= kernel);
      size = floorDiv(size + 2 * pad - kernel, stride) + 1;
    }
    if (round % 3 == 0) claims.push_back(mod(size, pick(2, 4)) == 0);
    const auto made = remedy(w, claims);
    const bool always = [&] {
      for (std::int64_t v = 1; v <= 2000; ++v)
        for (const E& claim : claims)
          if (!holdsAt(w, claim.id, {v})) return false;
      return true;
    }();
    EXPECT_TRUE(made || always || round % 3 == 0);
    if (!made) continue;
    ++found;
    exact += made->isExact ? 1 : 0;
    for (std::int64_t v = 1; v <= 2000; ++v) {
      bool all = true;
      for (const E& claim : claims) all = all && holdsAt(w, claim.id, {v});
      const bool said = holdsAt(w, made->condition, {v});
      ASSERT_TRUE(!said || all) << made->text << " at " << v;
      ASSERT_TRUE(!made->isExact || said == all) << made->text << " at " << v;
    }
  }
  EXPECT_GE(found, 20);
  EXPECT_GE(exact, 20);
}

}  // namespace
}  // namespace tbem::test
