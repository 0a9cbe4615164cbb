// Real numbers of the card against exact arithmetic of 113 bits.
#include "test/unit/card/Kernels.h"

#include <algorithm>
#include <cmath>

namespace tbem::card::testing {
namespace {

using Exact = __float128;

template <class T>
class Reals : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reals, Types);

/// Whether `value` is `exact` rounded as the modifier says.
template <class T>
bool isRounded(T value, Exact exact, const std::string& mode) {
  const T infinity = std::numeric_limits<T>::infinity();
  const Exact here = value, below = std::nextafter(value, -infinity), above = std::nextafter(value, infinity);
  if (here == exact) return true;
  if (mode == "rm") return here < exact && exact < above;
  if (mode == "rp") return here > exact && exact > below;
  if (mode == "rz") return exact > 0 ? here < exact && exact < above : here > exact && exact > below;
  const Exact error = here < exact ? exact - here : here - exact;
  return error * 2 <= (here < exact ? above - here : here - below);
}

template <class T, class ExactOf, class... Operand>
void expectRounded(const std::string& name, const ExactOf& exactOf, const std::vector<Operand>&... operands) {
  for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
    const std::string full = name + "." + mode + "." + typeName<T>();
    std::string text = full + " %d";
    for (std::size_t at = 0; at < sizeof...(operands); ++at) text += ", %a" + std::to_string(at);
    const auto results = evaluate<T>(text + ";", operands...);
    for (std::size_t at = 0; at < results.size(); ++at)
      ASSERT_TRUE(isRounded(results[at], exactOf(static_cast<Exact>(operands[at])...), mode))
          << full << " at " << at << " is " << results[at];
  }
}

TYPED_TEST(Reals, RoundInEachDirection) {
  using T = TypeParam;
  const auto a = realNumbers<T>(1), b = realNumbers<T>(2), c = realNumbers<T>(3, -24, 0);
  expectRounded<T>(
      "add", [](Exact x, Exact y) { return x + y; }, a, b);
  expectRounded<T>(
      "sub", [](Exact x, Exact y) { return x - y; }, a, b);
  expectRounded<T>(
      "mul", [](Exact x, Exact y) { return x * y; }, a, b);
  // Products and sums of f64 can need more than 113 bits; small factors keep them within.
  const auto small = realNumbers<float>(4, -3, 3), other = realNumbers<float>(5, -3, 3);
  const std::vector<T> p(small.begin(), small.end()), q(other.begin(), other.end());
  expectRounded<T>(
      "fma", [](Exact x, Exact y, Exact z) { return x * y + z; }, p, q, c);
  expectRounded<T>(
      "mad", [](Exact x, Exact y, Exact z) { return x * y + z; }, p, q, c);
}

// Quotients and roots are not exact in 113 bits, but nearer than half a place of T in all but ties, which do not occur.
TYPED_TEST(Reals, DivideAndTakeRoots) {
  using T = TypeParam;
  const auto a = realNumbers<T>(1), b = realNumbers<T>(2);
  auto positive = a;
  for (T& value : positive) value = std::fabs(value);
  expectRounded<T>(
      "div", [](Exact x, Exact y) { return x / y; }, a, b);
  expectRounded<T>(
      "rcp", [](Exact x) { return 1 / x; }, a);
  for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
    const auto roots = evaluate<T>("sqrt." + mode + "." + typeName<T>() + " %d, %a0;", positive);
    for (std::size_t at = 0; at < roots.size(); ++at) {
      // The root is rounded so if the squares of the values around it lie around the operand.
      const Exact x = positive[at], r = roots[at];
      const Exact below = std::nextafter(roots[at], T{0}), above = std::nextafter(roots[at], std::numeric_limits<T>::infinity());
      const bool down = r * r <= x && above * above > x, up = r * r >= x && below * below < x;
      const Exact middleBelow = (r + below) / 2, middleAbove = (r + above) / 2;
      const bool nearest = middleBelow * middleBelow <= x && x <= middleAbove * middleAbove;
      ASSERT_TRUE(mode == "rn"   ? nearest
                  : mode == "rp" ? up
                                 : down)
          << "sqrt." << mode << " of " << positive[at] << " is " << roots[at];
    }
  }
}

TYPED_TEST(Reals, ExceptionalNumbers) {
  using T = TypeParam;
  const auto a = allReals<T>(1), b = allReals<T>(2), c = allReals<T>(3);
  const std::string type = typeName<T>();
  expectEach(
      "add", evaluate<T>("add." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return x + y; }, a, b);
  expectEach(
      "mul", evaluate<T>("mul." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return x * y; }, a, b);
  expectEach(
      "fma", evaluate<T>("fma.rn." + type + " %d, %a0, %a1, %a2;", a, b, c), [](T x, T y, T z) { return std::fma(x, y, z); }, a,
      b, c);
  expectEach(
      "div", evaluate<T>("div.rn." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return x / y; }, a, b);
  expectEach(
      "neg", evaluate<T>("neg." + type + " %d, %a0;", a), [](T x) { return -x; }, a);
  expectEach(
      "abs", evaluate<T>("abs." + type + " %d, %a0;", a), [](T x) { return std::fabs(x); }, a);
  expectEach(
      "copysign", evaluate<T>("copysign." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return std::copysign(y, x); }, a, b);
}

TYPED_TEST(Reals, LeastAndGreatest) {
  using T = TypeParam;
  const auto a = allReals<T>(1), b = allReals<T>(2);
  const std::string type = typeName<T>();
  // fmin's choice between zeros is the C library's; -0 is less than +0 here.
  const auto least = [](T x, T y) { return x == 0 && y == 0 ? (std::signbit(x) ? x : y) : std::fmin(x, y); };
  const auto greatest = [](T x, T y) { return x == 0 && y == 0 ? (std::signbit(x) ? y : x) : std::fmax(x, y); };
  expectEach("min", evaluate<T>("min." + type + " %d, %a0, %a1;", a, b), least, a, b);
  expectEach("max", evaluate<T>("max." + type + " %d, %a0, %a1;", a, b), greatest, a, b);
}

TEST(Float, SmallNumbersAreFlushed) {
  const auto a = allReals<float>(1), b = allReals<float>(2);
  const auto flush = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; };
  expectEach(
      "add.ftz", evaluate<float>("add.ftz.f32 %d, %a0, %a1;", a, b), [&](float x, float y) { return flush(flush(x) + flush(y)); },
      a, b);
  expectEach(
      "mul.ftz", evaluate<float>("mul.ftz.f32 %d, %a0, %a1;", a, b), [&](float x, float y) { return flush(flush(x) * flush(y)); },
      a, b);
  const std::vector<float> factors(a.size(), 0.25F);
  const auto least = std::vector<float>(a.size(), std::numeric_limits<float>::min());
  expectEach(
      "mul.ftz", evaluate<float>("mul.ftz.f32 %d, %a0, %a1;", factors, least), [](float, float) { return 0.0F; }, factors, least);
}

TEST(Float, SaturatedBetweenZeroAndOne) {
  const auto a = allReals<float>(1), b = allReals<float>(2);
  const auto saturate = [](float x) { return std::isnan(x) || x <= 0 ? 0.0F : std::min(x, 1.0F); };
  expectEach(
      "add.sat", evaluate<float>("add.sat.f32 %d, %a0, %a1;", a, b), [&](float x, float y) { return saturate(x + y); }, a, b);
  expectEach("cvt.sat", evaluate<float>("cvt.sat.f32.f32 %d, %a0;", a), saturate, a);
}

// The approximations: within the manual's bounds of what the C library computes in f64.
TEST(Float, Approximations) {
  const auto a = realNumbers<float>(1, -20, 6), b = realNumbers<float>(2);
  auto positive = a;
  for (float& value : positive) value = std::fabs(value);
  const auto near = [](const std::string& what, const std::vector<float>& results, const std::vector<float>& from,
                       double (*of)(double), double relative, double absolute) {
    for (std::size_t at = 0; at < results.size(); ++at) {
      const double wanted = of(from[at]);
      ASSERT_NEAR(results[at], wanted, relative * std::fabs(wanted) + absolute) << what << " of " << from[at];
    }
  };
  constexpr double kPlace = 0x1p-23;
  near("ex2", evaluate<float>("ex2.approx.f32 %d, %a0;", a), a, std::exp2, 2 * kPlace, 0);
  near("lg2", evaluate<float>("lg2.approx.f32 %d, %a0;", positive), positive, std::log2, kPlace, 0x1p-22);
  near("sin", evaluate<float>("sin.approx.f32 %d, %a0;", a), a, std::sin, 0, 0x1p-20);
  near("cos", evaluate<float>("cos.approx.f32 %d, %a0;", a), a, std::cos, 0, 0x1p-20);
  near("tanh", evaluate<float>("tanh.approx.f32 %d, %a0;", a), a, std::tanh, 0x1p-11, 0);
  near(
      "rsqrt", evaluate<float>("rsqrt.approx.f32 %d, %a0;", positive), positive, [](double x) { return 1 / std::sqrt(x); },
      2 * kPlace, 0);
  near(
      "rcp", evaluate<float>("rcp.approx.ftz.f32 %d, %a0;", a), a, [](double x) { return 1 / x; }, kPlace, 0);
  near("sqrt", evaluate<float>("sqrt.approx.f32 %d, %a0;", positive), positive, std::sqrt, 2 * kPlace, 0);
  const auto quotients = evaluate<float>("div.full.f32 %d, %a0, %a1;", a, b);
  for (std::size_t at = 0; at < a.size(); ++at)
    ASSERT_NEAR(quotients[at], static_cast<double>(a[at]) / b[at], 2 * kPlace * std::fabs(static_cast<double>(a[at]) / b[at]));
}

TEST(Float, ApproximateReciprocalsOfDoublesHaveTwentyBits) {
  const auto a = realNumbers<double>(1);
  const auto results = evaluate<double>("rcp.approx.ftz.f64 %d, %a0;", a);
  for (std::size_t at = 0; at < a.size(); ++at) {
    ASSERT_NEAR(results[at] * a[at], 1, 0x1p-18);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &results[at], 8);
    ASSERT_EQ(bits & 0xffff'ffffU, 0U);
  }
}

}  // namespace
}  // namespace tbem::card::testing
