// 200 obligations over unknowns without bounds: linear, products, nested floors. Each family is true or false by a theorem or a
// known counterexample, so that no verdict is taken from the prover itself.
#include "test/unit/spec/Support.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace tbem::test {
namespace {

using spec::Verdict;

struct Case {
  const char* family;
  bool holds;
  std::function<spec::Goal(World&, std::mt19937&)> make;
};

std::int64_t draw(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(high - low + 1));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"linear bound", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t a = draw(r, 1, 64), c = draw(r, 1, 9), d = draw(r, -20, 20);
         const E h = w.symbol("h");
         return World::goal({h >= a}, c * h + d >= c * a + d);
       }},
      {"two linear bounds", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t a = draw(r, 1, 64);
         const E x = w.symbol("x"), y = w.symbol("y");
         return World::goal({x >= y, y >= a}, x + y >= 2 * a);
       }},
      {"linear bound one too high", false,
       [](World& w, std::mt19937& r) {
         const std::int64_t a = draw(r, 1, 64), c = draw(r, 1, 9);
         const E h = w.symbol("h");
         return World::goal({h >= a}, c * h >= c * a + 1);
       }},
      {"a window inside a padded image leaves a place", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t p = draw(r, 0, 3), k = draw(r, 1, 7), s = draw(r, 1, 4);
         const E h = w.above("h", 1);
         return World::goal({h + 2 * p >= k}, floorDiv(h + 2 * p - k, s) + 1 >= 1);
       }},
      {"nested floors", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t k = draw(r, 1, 7), s = draw(r, 2, 4), t = draw(r, 2, 4);
         const E h = w.above("h", 8);
         return World::goal({}, floorDiv(floorDiv(h - k, s), t) == floorDiv(h - k, s * t));
       }},
      {"three nested floors by unknown strides", true,
       [](World& w, std::mt19937&) {
         const E h = w.above("h", 0), s = w.above("s", 1), t = w.above("t", 1), u = w.above("u", 1);
         return World::goal({}, floorDiv(floorDiv(floorDiv(h, s), t), u) == floorDiv(h, s * t * u));
       }},
      {"nested ceilings", true,
       [](World& w, std::mt19937&) {
         const E h = w.above("h", 1), s = w.above("s", 1), t = w.above("t", 1);
         return World::goal({}, ceilDiv(ceilDiv(h, s), t) == ceilDiv(h, s * t));
       }},
      {"a chain of convolutions with padding", true,
       [](World& w, std::mt19937& r) {
         const int depth = static_cast<int>(draw(r, 2, 6));
         const E h = w.above("h", 1);
         E x = h;
         for (int i = 0; i < depth; ++i) x = floorDiv(x + 2 - 3, 2) + 1;
         return World::goal({}, x == ceilDiv(h, h.of(std::int64_t{1} << depth)));
       }},
      {"floor is not ceiling", false,
       [](World& w, std::mt19937& r) {
         const std::int64_t s = draw(r, 2, 9);
         const E h = w.above("h", 1);
         return World::goal({}, floorDiv(h, s) == ceilDiv(h, h.of(s)));
       }},
      {"heads", true,
       [](World& w, std::mt19937&) {
         const E b = w.above("b", 1), t = w.above("t", 1), d = w.above("d", 1), n = w.above("n", 1);
         return World::goal({mod(d, n) == 0}, b * t * d == b * t * n * floorDiv(d, n));
       }},
      {"heads that do not divide", false,
       [](World& w, std::mt19937&) {
         const E b = w.above("b", 1), t = w.above("t", 1), d = w.above("d", 1), n = w.above("n", 1);
         return World::goal({}, b * t * d == b * t * n * floorDiv(d, n));
       }},
      {"patches", true,
       [](World& w, std::mt19937&) {
         const E c = w.above("c", 1), h = w.above("h", 1), v = w.above("w", 1), p = w.above("p", 1);
         return World::goal({mod(h, p) == 0, mod(v, p) == 0}, floorDiv(h, p) * floorDiv(v, p) * (p * p * c) == c * h * v);
       }},
      {"pixel shuffle", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t f = draw(r, 2, 4);
         const E c = w.above("c", 1), h = w.above("h", 1), v = w.above("w", 1);
         return World::goal({mod(c, f * f) == 0}, floorDiv(c, f * f) * (h * f) * (v * f) == c * h * v);
       }},
      {"products of nested floors", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t s = draw(r, 2, 4);
         const E k = w.above("k", 1), h = w.above("h", 1);
         const E h2 = floorDiv(floorDiv(h, s), s);
         return World::goal({}, k * h2 * h2 == k * floorDiv(h, s * s) * floorDiv(h, s * s));
       }},
      {"floors grow with their numerators", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t s = draw(r, 2, 9);
         const E x = w.symbol("x"), y = w.symbol("y");
         return World::goal({x <= y}, floorDiv(x, s) <= floorDiv(y, s));
       }},
      {"a remainder lies below its divisor", true,
       [](World& w, std::mt19937&) {
         const E x = w.symbol("x"), s = w.above("s", 1);
         return World::goal({}, both(mod(x, s) >= 0, mod(x, s) < s));
       }},
      {"growth keeps groups", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t layers = draw(r, 1, 24);
         const E c = w.above("c", 1), g = w.above("g", 1), k = w.above("k", 1);
         return World::goal({mod(c, g) == 0, mod(k, g) == 0}, mod(c + layers * k, g) == 0);
       }},
      {"growth by an odd number loses even groups", false,
       [](World& w, std::mt19937& r) {
         const std::int64_t k = 2 * draw(r, 1, 20) + 1;
         const E c = w.above("c", 1);
         return World::goal({mod(c, 2) == 0}, mod(c + k, 2) == 0);
       }},
      {"transposed convolution", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t k = draw(r, 1, 7);
         const E h = w.above("h", 1), s = w.above("s", 1);
         const E out = (h - 1) * s + k;
         return World::goal({}, floorDiv(out - k, s) + 1 == h);
       }},
      {"padding to a multiple", true,
       [](World& w, std::mt19937& r) {
         const std::int64_t m = draw(r, 2, 64);
         const E x = w.above("x", 1);
         const E padded = ceilDiv(x, x.of(m)) * m;
         return World::goal({}, both(mod(padded, m) == 0, both(padded >= x, padded <= x + (m - 1))));
       }},
  };
  return list;
}

TEST(Obligations, TwoHundredWithoutBounds) {
  std::mt19937 random(20260501);
  spec::Work work;
  std::size_t count = 0, residual = 0;
  std::string reasons;
  for (int round = 0; round < 10; ++round) {
    // One pool a round, as of one network: the goals share a solver's process.
    World world;
    std::vector<spec::Goal> goals;
    for (const Case& one : cases()) goals.push_back(one.make(world, random));
    const std::vector<spec::Proof> proofs = spec::Prover(world.pool, world.domains, spec::limitsWith(&work)).prove(goals);
    for (std::size_t i = 0; i < goals.size(); ++i) {
      ++count;
      if (proofs[i].verdict == Verdict::Residual) {
        ++residual;
        reasons += std::string("\n") + cases()[i].family + ": " + proofs[i].reason;
        continue;
      }
      EXPECT_EQ(proofs[i].verdict, cases()[i].holds ? Verdict::Proved : Verdict::Refuted) << cases()[i].family;
      if (proofs[i].verdict == Verdict::Refuted) {
        EXPECT_TRUE(world.confirms(goals[i], proofs[i])) << cases()[i].family;
      }
    }
  }
  EXPECT_EQ(count, 200U);
  EXPECT_LE(residual, 1U) << "not fewer than 1 %:" << reasons;
  EXPECT_LT(spec::Work::kAll - work.remaining(), spec::Work::kAll / 500);
}

}  // namespace
}  // namespace tbem::test
