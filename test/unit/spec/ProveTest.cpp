// Shape obligations with known answers.
#include "test/unit/spec/Support.h"

#include <gtest/gtest.h>

namespace tbem::test {
namespace {

using spec::Method;
using spec::Verdict;

TEST(Prove, NestedFloorsAreOneFloor) {
  World w;
  const E x = w.above("x", 0);
  const E s = w.above("s", 1);
  const E t = w.above("t", 1);
  const spec::Proof proof = w.prove({}, floorDiv(floorDiv(x, s), t) == floorDiv(x, s * t));
  EXPECT_EQ(proof.verdict, Verdict::Proved);
  EXPECT_EQ(proof.method, Method::Rules);
}

TEST(Prove, ProductOfNestedFloors) {  // the one that Z3 4.8.12 does not answer in 20 s unless the floors are made one
  World w;
  const E k = w.above("k", 1);
  const E h = w.above("h", 4);
  const E h1 = floorDiv(h, 2);
  const E h2 = floorDiv(h1, 2);
  EXPECT_EQ(w.prove({}, k * h2 * h2 == k * floorDiv(h, 4) * floorDiv(h, 4)).verdict, Verdict::Proved);
}

TEST(Prove, ResidualShortcutWithAnyStride) {  // conv 3x3 pad 1 and conv 1x1 pad 0, both with stride s, agree
  World w;
  const E h = w.above("h", 1);
  const E s = w.above("s", 1);
  const E main = floorDiv(h + 2 - 3, s) + 1;
  const E side = floorDiv(h - 1, s) + 1;
  EXPECT_EQ(w.prove({}, main == side).verdict, Verdict::Proved);
}

TEST(Prove, ConvolutionAndItsTransposeRestoreTheSize) {
  World w;
  const E h = w.above("h", 1);
  const E s = w.above("s", 1);
  const E out = floorDiv(h - 1, s) + 1;
  EXPECT_EQ(w.prove({mod(h - 1, s) == 0}, (out - 1) * s + 1 == h).verdict, Verdict::Proved);
  const spec::Goal goal = World::goal({}, (out - 1) * s + 1 == h);
  const spec::Proof proof = spec::Prover(w.pool, w.domains).prove(goal);
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  EXPECT_TRUE(w.confirms(goal, proof));
}

TEST(Prove, AttentionHeads) {
  World w;
  const E b = w.above("b", 1);
  const E t = w.above("t", 1);
  const E d = w.above("d", 1);
  const E n = w.levels("n", {1, 2, 4, 8, 12, 16});
  const E claim = b * t * d == b * t * n * floorDiv(d, n);
  EXPECT_EQ(w.prove({mod(d, n) == 0}, claim).verdict, Verdict::Proved);
  const spec::Goal goal = World::goal({}, claim);
  const spec::Proof proof = spec::Prover(w.pool, w.domains).prove(goal);
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  EXPECT_TRUE(w.confirms(goal, proof));
}

TEST(Prove, SameConvolutionOfOddKernels) {
  World w;
  const E h = w.above("h", 1);
  const E k = w.levels("k", {1, 3, 5, 7});
  const E s = w.levels("s", {1, 2, 3});
  const E out = floorDiv(h + 2 * floorDiv(k, 2) - k, s) + 1;
  EXPECT_EQ(w.prove({}, out == ceilDiv(h, s)).verdict, Verdict::Proved);
  const E even = w.levels("e", {2, 3});
  const spec::Goal goal = World::goal({}, floorDiv(h + 2 * floorDiv(even, 2) - even, s) + 1 == ceilDiv(h, s));
  const spec::Proof proof = spec::Prover(w.pool, w.domains).prove(goal);
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  EXPECT_TRUE(w.confirms(goal, proof));
}

TEST(Prove, DivisorThatMayBeZero) {
  World w;
  const E x = w.above("x", 0);
  const E s = w.above("s", 0);
  const spec::Goal goal = World::goal({}, floorDiv(x, s) <= x);
  const spec::Proof proof = spec::Prover(w.pool, w.domains).prove(goal);
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  EXPECT_TRUE(w.confirms(goal, proof));
  EXPECT_EQ(w.prove({s >= 1}, floorDiv(x, s) <= x).verdict, Verdict::Proved);
}

TEST(Prove, NothingMeetsTheHypotheses) {
  World w;
  const E x = w.symbol("x");
  EXPECT_EQ(w.prove({x >= 3, x <= 2}, x == 7).verdict, Verdict::Vacuous);
  EXPECT_EQ(w.prove({mod(x, 2) == 0, mod(x, 2) == 1}, x == x).verdict, Verdict::Vacuous);
  const E y = w.symbol("y");
  EXPECT_EQ(w.prove({x * x + y * y == 3}, y >= 0).verdict, Verdict::Vacuous);
}

TEST(Prove, FinitelyManyValuesAreAllTried) {
  World w;
  const E a = w.within("a", 0, 40);
  const E b = w.within("b", 0, 40);
  const spec::Proof proof = w.prove({}, !(a * a + 2 == 3 * b * b + 4 * a * b * b * b + 1));
  // an independent count: no pair of the square meets the equation
  bool any = false;
  for (std::int64_t i = 0; i <= 40; ++i) {
    for (std::int64_t j = 0; j <= 40; ++j) any = any || i * i + 2 == 3 * j * j + 4 * i * j * j * j + 1;
  }
  EXPECT_EQ(proof.verdict, any ? Verdict::Refuted : Verdict::Proved);
}

TEST(Prove, FloorsOfNegativeNumbersGoDown) {
  World w;
  const E x = w.within("x", -6, -1);
  EXPECT_EQ(w.prove({}, floorDiv(x, 4) <= -1).verdict, Verdict::Proved);
  EXPECT_EQ(w.prove({}, floorDiv(x, 4) >= -1).verdict, Verdict::Refuted);  // floor(-6 / 4) = -2
}

TEST(Prove, FractionsAreComparedExactly) {
  World w;
  const E h = w.above("h", 1);
  const E s = w.above("s", 1);
  const E out = w.symbol("out");
  EXPECT_EQ(w.prove({out == h / s}, out * s == h).verdict, Verdict::Proved);
  EXPECT_EQ(w.prove({mod(h, s) == 0}, h / s == floorDiv(h, s)).verdict, Verdict::Proved);
  EXPECT_EQ(w.prove({}, h / s == floorDiv(h, s)).verdict, Verdict::Refuted);
}

TEST(Prove, WorkOfAllGoalsEnds) {
  World w;
  const E x = w.above("x", 1);
  const E y = w.above("y", 1);
  const E z = w.above("z", 1);
  // No rule says this of all numbers (Fermat), and Z3 does not either.
  const std::vector<spec::Goal> goals(3, World::goal({}, !(x * x * x + y * y * y == z * z * z)));
  const auto spentBy = [&](std::uint64_t all) {
    spec::Work work(all);
    const std::vector<spec::Proof> proofs = spec::Prover(w.pool, w.domains, spec::limitsWith(&work)).prove(goals);
    EXPECT_TRUE(work.isSpent());
    EXPECT_EQ(proofs.size(), 3U);
    for (const spec::Proof& one : proofs) EXPECT_EQ(one.verdict, Verdict::Residual);
    return proofs.back().reason;
  };
  EXPECT_EQ(spentBy(1), spec::Work::kReason);
  EXPECT_EQ(spentBy(20'000'000), spec::Work::kReason);
  // What is left is the same each time.
  std::vector<std::uint64_t> left;
  for (int i = 0; i < 2; ++i) {
    spec::Work work;
    const spec::Goal goal = World::goal({}, (x + y) * (x + y) >= x * x + y * y);
    EXPECT_EQ(spec::Prover(w.pool, w.domains, spec::limitsWith(&work)).prove(goal).verdict, Verdict::Proved);
    left.push_back(work.remaining());
  }
  EXPECT_EQ(left.front(), left.back());
  EXPECT_LT(left.front(), spec::Work::kAll);
}

}  // namespace
}  // namespace tbem::test
