// Comparisons and selections.
#include "test/unit/card/Kernels.h"

#include <cmath>

namespace tbem::card::testing {
namespace {

/// 1 where the comparison holds, by setp and selp; the same by the second predicate's opposite, and by set.
template <class T, class Expected>
void comparison(const std::string& name, const std::vector<T>& a, const std::vector<T>& b, const Expected& expected) {
  const std::string full = name + "." + typeName<T>();
  const auto wanted = [&](T x, T y) { return expected(x, y) ? 1U : 0U; };
  expectEach("setp." + full, evaluate<std::uint32_t>("setp." + full + " %p1, %a0, %a1;\nselp.u32 %d, 1, 0, %p1;", a, b), wanted,
             a, b);
  expectEach("setp|" + full, evaluate<std::uint32_t>("setp." + full + " %p1|%p2, %a0, %a1;\nselp.u32 %d, 0, 1, %p2;", a, b),
             wanted, a, b);
  const std::string set = "set." + name + ".u32." + typeName<T>();
  expectEach(
      set, evaluate<std::uint32_t>(set + " %d, %a0, %a1;", a, b), [&](T x, T y) { return expected(x, y) ? ~0U : 0U; }, a, b);
}

template <class T>
void orders(const std::vector<T>& a, const std::vector<T>& b) {
  comparison("eq", a, b, [](T x, T y) { return x == y; });
  comparison("ne", a, b, [](T x, T y) { return x < y || x > y; });
  comparison("lt", a, b, [](T x, T y) { return x < y; });
  comparison("le", a, b, [](T x, T y) { return x <= y; });
  comparison("gt", a, b, [](T x, T y) { return x > y; });
  comparison("ge", a, b, [](T x, T y) { return x >= y; });
}

template <class T>
void wholeOrders() {
  auto b = wholeNumbers<T>(2);
  const auto a = wholeNumbers<T>(1);
  for (std::size_t at = 0; at < a.size(); at += 3) b[at] = a[at];
  orders(a, b);
  if (std::is_unsigned_v<T>) {
    comparison("lo", a, b, [](T x, T y) { return x < y; });
    comparison("ls", a, b, [](T x, T y) { return x <= y; });
    comparison("hi", a, b, [](T x, T y) { return x > y; });
    comparison("hs", a, b, [](T x, T y) { return x >= y; });
  }
}

TEST(Compare, WholeNumbers) {
  wholeOrders<std::uint16_t>();
  wholeOrders<std::int16_t>();
  wholeOrders<std::uint32_t>();
  wholeOrders<std::int32_t>();
  wholeOrders<std::uint64_t>();
  wholeOrders<std::int64_t>();
}

template <class T>
void realOrders() {
  const auto a = allReals<T>(1);
  auto b = allReals<T>(2);
  for (std::size_t at = 0; at < a.size(); at += 3) b[at] = a[at];
  orders(a, b);
  const auto nan = [](T x, T y) { return std::isnan(x) || std::isnan(y); };
  comparison("equ", a, b, [&](T x, T y) { return nan(x, y) || x == y; });
  comparison("neu", a, b, [&](T x, T y) { return x != y; });
  comparison("ltu", a, b, [&](T x, T y) { return nan(x, y) || x < y; });
  comparison("leu", a, b, [&](T x, T y) { return nan(x, y) || x <= y; });
  comparison("gtu", a, b, [&](T x, T y) { return nan(x, y) || x > y; });
  comparison("geu", a, b, [&](T x, T y) { return nan(x, y) || x >= y; });
  comparison("num", a, b, [&](T x, T y) { return !nan(x, y); });
  comparison("nan", a, b, nan);
}

TEST(Compare, RealNumbers) {
  realOrders<float>();
  realOrders<double>();
}

TEST(Compare, CombinedWithPredicates) {
  const auto a = wholeNumbers<std::int32_t>(1), b = wholeNumbers<std::int32_t>(2), c = wholeNumbers<std::int32_t>(3);
  const auto run = [&](const std::string& combination, const std::string& other) {
    return evaluate<std::uint32_t>("setp.ne.s32 %p1, %a2, 0;\nsetp.lt." + combination + ".s32 %p2|%p3, %a0, %a1, " + other +
                                       ";\nselp.u32 %t1, 1, 0, %p2;\nselp.u32 %t2, 2, 0, %p3;\nor.b32 %d, %t1, %t2;",
                                   a, b, c);
  };
  const auto both = [](bool first, bool second) { return (first ? 1U : 0U) | (second ? 2U : 0U); };
  using I = std::int32_t;
  expectEach(
      "and", run("and", "%p1"), [&](I x, I y, I z) { return both(x < y && z != 0, x >= y && z != 0); }, a, b, c);
  expectEach(
      "or", run("or", "%p1"), [&](I x, I y, I z) { return both(x < y || z != 0, x >= y || z != 0); }, a, b, c);
  expectEach(
      "xor", run("xor", "%p1"), [&](I x, I y, I z) { return both((x < y) != (z != 0), (x >= y) != (z != 0)); }, a, b, c);
  expectEach(
      "and not", run("and", "!%p1"), [&](I x, I y, I z) { return both(x < y && z == 0, x >= y && z == 0); }, a, b, c);
}

TEST(Compare, Selections) {
  const auto a = realNumbers<float>(1), b = realNumbers<float>(2);
  const auto sign = wholeNumbers<std::int32_t>(3);
  expectEach(
      "slct", evaluate<float>("slct.f32.s32 %d, %a0, %a1, %a2;", a, b, sign),
      [](float x, float y, int z) { return z >= 0 ? x : y; }, a, b, sign);
  const auto reals = allReals<float>(4);
  expectEach(
      "slct", evaluate<float>("slct.f32.f32 %d, %a0, %a1, %a2;", a, b, reals),
      [](float x, float y, float z) { return z >= 0 ? x : y; }, a, b, reals);
}

template <class T>
void classes() {
  const auto a = allReals<T>(1);
  const auto test = [&](const std::string& of, auto expected) {
    expectEach(of, evaluate<std::uint32_t>("testp." + of + "." + typeName<T>() + " %p1, %a0;\nselp.u32 %d, 1, 0, %p1;", a),
               expected, a);
  };
  test("finite", [](T x) { return std::isfinite(x); });
  test("infinite", [](T x) { return std::isinf(x); });
  test("number", [](T x) { return !std::isnan(x); });
  test("notanumber", [](T x) { return std::isnan(x); });
  test("normal", [](T x) { return std::isnormal(x); });
  test("subnormal", [](T x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

TEST(Compare, Classes) {
  classes<float>();
  classes<double>();
}

TEST(Compare, LogicOfPredicates) {
  const auto a = wholeNumbers<std::uint32_t>(1), b = wholeNumbers<std::uint32_t>(2);
  const auto run = [&](const std::string& logic) {
    return evaluate<std::uint32_t>(
        "setp.gt.u32 %p1, %a0, 5;\nsetp.gt.u32 %p2, %a1, 5;\n" + logic + "\n@%p3 mov.u32 %d, 1;\n@!%p3 mov.u32 %d, 0;", a, b);
  };
  using U = std::uint32_t;
  expectEach(
      "and.pred", run("and.pred %p3, %p1, %p2;"), [](U x, U y) { return x > 5 && y > 5; }, a, b);
  expectEach(
      "or.pred", run("or.pred %p3, %p1, %p2;"), [](U x, U y) { return x > 5 || y > 5; }, a, b);
  expectEach(
      "xor.pred", run("xor.pred %p3, %p1, %p2;"), [](U x, U y) { return (x > 5) != (y > 5); }, a, b);
  expectEach(
      "not.pred", run("not.pred %p3, %p1;"), [](U x, U) { return x <= 5; }, a, b);
}

}  // namespace
}  // namespace tbem::card::testing
