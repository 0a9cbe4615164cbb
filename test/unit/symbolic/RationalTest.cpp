// Numbers of elaboration time: exact fractions, and f64 beyond them. What is expected was computed with Python's `fractions`
// and `float`.
#include "compiler/support/Rational.h"

#include "compiler/sema/Symbolic.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tbem {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Rational inF64(double value) { return {std::bit_cast<std::int64_t>(value), 0}; }

TEST(Rational, LiteralsAreFractionsOrTheNearestF64) {
  const std::vector<std::pair<const char*, Rational>> wanted = {
      {"1e30", {5055640609639927018, 0}},
      {"1e-30", {4158027847206421152, 0}},
      {"1e-12", {1, 1000000000000}},
      {"0.1", {1, 10}},
      {"2.5e3", {2500, 1}},
      {"9223372036854775807", {kLargest, 1}},
      {"999999999999999999", {999999999999999999, 1}},
      {"1000000000000000000", {1000000000000000000, 1}},
      {"0000000000000000042", {42, 1}},
      {"007", {7, 1}},
      {"1_0", {10, 1}},
      {"1e18", {1000000000000000000, 1}},
      {"1e19", {4891288408196988160, 0}},
      {"1.5e300", {9097811302482466869, 0}},
      {"5e-324", {1, 0}},
      {"1.7976931348623157e308", {9218868437227405311, 0}},
      {"0.3333333333333333333333333", {6004799503160661, 18014398509481984}},
      {"123456789012345678901.5", {4907451598986591450, 0}},
      {"0.0000000000000000005", {1, 2000000000000000000}},
      {"3.141592653589793238462643383279", {884279719003555, 281474976710656}},
      {"1e-19", {4322756117994590892, 0}},
      {"12345678901234567890e-10", {1234567890123456789, 1000000000}},
      {"9007199254740993.0", {9007199254740993, 1}},
      {"0e500", {0, 1}},
      {"000.500", {1, 2}},
      {"1_000.5e-10", {2001, 20000000000}},
  };
  for (const auto& [text, number] : wanted) EXPECT_EQ(Rational::parse(text), number) << text;
  for (const char* text : {"9223372036854775808", "100000000000000000000000000000000000000000", "1e309", "1e999999999999",
                           "1e-324", "1e-400", "", ".", "e5", "1e", "1e+", "1.2.3", "-1", "0x10", "inf", "nan"})
    EXPECT_EQ(Rational::parse(text), std::nullopt) << text;
}

TEST(Rational, DoublesAreThemselves) {
  for (const double value : {0.1, 1e30, -1e-30, 5e-324, 4503599627370497.5, 9223372036854774784.0, -9223372036854775808.0,
                             0x1p-62, 0x1p-63, 0x1.8p-62, 1.7976931348623157e308}) {
    const std::optional<Rational> number = Rational::fromDouble(value);
    ASSERT_TRUE(number) << value;
    EXPECT_EQ(number->toDouble(), value);
    EXPECT_EQ(number->exactDouble(), value);
    EXPECT_EQ(number->num < 0, value < 0);
  }
  EXPECT_EQ(Rational::fromDouble(0x1p-62), (Rational{1, std::int64_t{1} << 62}));
  EXPECT_EQ(Rational::fromDouble(0x1p-63), inF64(0x1p-63));
  EXPECT_EQ(Rational::fromDouble(0x1p63), inF64(0x1p63));
  EXPECT_EQ(Rational::fromDouble(-0x1p63), Rational::of(kLeast));
  EXPECT_EQ(Rational::fromDouble(-0.0), Rational{});
  EXPECT_EQ(Rational::fromDouble(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(Rational::fromDouble(std::nan("")), std::nullopt);
}

TEST(Rational, QuotientsAreRoundedOnce) {
  struct Quotient {
    std::int64_t num, den;
    double value;
  };
  for (const Quotient& one : {Quotient{3508985929865264197, 4459827926625796249, 0x1.92d740d1725d1p-1},
                              {7521169637784014391, 8914490190681369578, 0x1.aff9a7f7dc7e7p-1},
                              {7166852427812568617, 6041676288167345568, 0x1.2fad257945036p+0},
                              {8903764893210829551, 8309876041668824027, 0x1.124bb74eeecafp+0},
                              {3450026814930408308, 1631183347212563029, 0x1.0eb9cea8c0924p+1},
                              {2599619626532956731, 4582109976465182966, 0x1.227a8aa58ebe5p-1},
                              {-70265, 489593495540713216, -0x1.432bee0f00522p-43},
                              {-199627, 1046734664936060084, -0x1.ad7329277ae3bp-43},
                              {-200607, 424626185503684211, -0x1.09f4a08f669dfp-41},
                              {-383351, 2458725269683162449, -0x1.5f169bc4e136cp-43}})
    EXPECT_EQ((Rational{one.num, one.den}.toDouble()), one.value) << one.num << "/" << one.den;
}

TEST(Rational, TextIsReadAsTheSameNumber) {
  for (const auto& [text, value] : {std::pair{"1e30", 1e30},
                                    {"1e-30", 1e-30},
                                    {"5e-324", 5e-324},
                                    {"1.5e300", 1.5e300},
                                    {"2.2204460492503132e-20", 0x1p-52 * 1e-4},
                                    {"1.2345678901234566e25", 1.2345678901234567e25}}) {
    EXPECT_EQ(Rational::fromDouble(value)->str(), text);
    EXPECT_EQ(Rational::parse(text), Rational::fromDouble(value));
  }
  EXPECT_EQ(inF64(-1e-30).str(), "-1e-30");
}

TEST(Rational, AnyTwoAreComparedExactly) {
  // Ascending, by fractions.
  const std::vector<Rational> sorted = {inF64(-1.7e308),
                                        inF64(-1e30),
                                        Rational::of(kLeast),
                                        Rational::of(-1),
                                        Rational{-1, kLargest},
                                        inF64(-0x1.fffffffffffffp-64),
                                        inF64(-5e-324),
                                        Rational::of(0),
                                        inF64(5e-324),
                                        inF64(0x1.fffffffffffffp-64),
                                        inF64(0x1p-63),
                                        Rational{1, kLargest},
                                        inF64(0x1.0000000000001p-63),
                                        inF64(0x1.0000000000001p-62),
                                        Rational{1, std::int64_t{1} << 61},
                                        Rational{1, 3},
                                        Rational::of(kLargest),
                                        inF64(0x1p63),
                                        inF64(1e30)};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t k = 0; k < sorted.size(); ++k)
      EXPECT_EQ(compare(sorted[i], sorted[k]), i < k ? -1 : i > k ? 1 : 0) << sorted[i].str() << " and " << sorted[k].str();
  }
}

TEST(Rational, ExactArithmeticRefusesWhatIsNotExact) {
  const Rational tiny = inF64(1e-30), one = Rational::of(1);
  for (const auto operation : {add, sub, mul, div, floorDiv, ceilDiv, floorMod}) {
    EXPECT_EQ(operation(tiny, one), std::nullopt);
    EXPECT_EQ(operation(one, tiny), std::nullopt);
    EXPECT_EQ(operation(Rational{}, tiny), std::nullopt);
  }
  EXPECT_EQ(pow(tiny, one), std::nullopt);
}

TEST(Rational, BeyondFractionsArithmeticIsThatOfF64) {
  using sema::applied;
  using sema::EvalError;
  using sema::ExprOp;
  const Rational third{1, 3}, big{1, 3037000507}, whole = Rational::of(kLargest);
  // Python: (1 / 3037000507) ** 2, 1e30 // 7e12, 1e30 % 7.0, -1e30 % 7.0, (1 / 3) ** 100.
  EXPECT_EQ(applied(ExprOp::Mul, inF64(1e30), third).value, inF64(1e30 / 3));
  EXPECT_EQ(applied(ExprOp::Mul, big, big).value.toDouble(), 1.0842021674704363e-19);
  EXPECT_EQ(applied(ExprOp::Mul, inF64(1e30), inF64(1e-30)).value, Rational::of(1));
  EXPECT_EQ(applied(ExprOp::Add, inF64(1e30), Rational::of(1)).value, inF64(1e30));
  EXPECT_EQ(applied(ExprOp::Sub, inF64(1e30), inF64(1e30)).value, Rational{});
  EXPECT_EQ(applied(ExprOp::FloorDiv, inF64(1e30), Rational::of(7000000000000)).value, Rational::of(142857142857142864));
  EXPECT_EQ(applied(ExprOp::CeilDiv, inF64(1e-30), Rational::of(1)).value, Rational::of(1));
  EXPECT_EQ(applied(ExprOp::FloorDiv, inF64(-1e-30), Rational::of(1)).value, Rational::of(-1));
  EXPECT_EQ(applied(ExprOp::Mod, inF64(1e30), Rational::of(7)).value, Rational::of(5));
  EXPECT_EQ(applied(ExprOp::Mod, inF64(-1e30), Rational::of(7)).value, Rational::of(2));
  EXPECT_EQ(applied(ExprOp::Power, third, Rational::of(100)).value.toDouble(), 1.940325217482622e-48);
  EXPECT_EQ(applied(ExprOp::Max, inF64(1e30), whole).value, inF64(1e30));
  EXPECT_EQ(applied(ExprOp::Less, whole, inF64(0x1p63)).value, Rational::of(1));
  // Whole numbers are never rounded, unless they are reals; beyond f64 there is nothing.
  EXPECT_EQ(applied(ExprOp::Mul, whole, whole).error, EvalError::Overflow);
  EXPECT_EQ(applied(ExprOp::Mul, whole, whole, true).value, inF64(0x1p126));
  EXPECT_EQ(applied(ExprOp::FloorDiv, inF64(1e30), Rational::of(1)).error, EvalError::Overflow);
  EXPECT_EQ(applied(ExprOp::Mul, inF64(1e300), inF64(1e300)).error, EvalError::Overflow);
  EXPECT_EQ(applied(ExprOp::Divide, inF64(1e30), Rational{}).error, EvalError::DivisionByZero);
}

TEST(Rational, ARowOfRealLevelsIsComputedTheSameWay) {
  sema::ExprPool pool;
  const sema::SymbolId rate = pool.symbol("rate", {}, true), batch = pool.symbol("batch", {});
  const sema::ExprId square = pool.make(sema::ExprOp::Mul, pool.symbolRef(rate), pool.symbolRef(rate));
  const sema::ExprId wholes = pool.make(sema::ExprOp::Mul, pool.symbolRef(batch), pool.symbolRef(batch));
  const std::vector<std::optional<Rational>> levels{Rational::of(4000000000), Rational::of(4000000000)};
  const sema::Values row = pool.evaluate(levels);
  EXPECT_EQ(row[square], inF64(1.6e19));
  EXPECT_EQ(row.errorOf(wholes), sema::EvalError::Overflow);
}

}  // namespace
}  // namespace tbem
