// The pool of symbolic numbers: sharing, folding, evaluation with errors, printing.
#include "compiler/sema/Symbolic.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

using namespace tbem;
using namespace tbem::sema;

namespace {
struct Pool : ExprPool {
  SymbolId b = symbol("batch", {});
  SymbolId h = symbol("h", {});
  SymbolId r = symbol("rate", {}, true);
  ExprId batch = symbolRef(b);
  ExprId height = symbolRef(h);
  ExprId rate = symbolRef(r);
  ExprId k(std::int64_t value) { return constant(value); }
  Values at(std::int64_t batchLevel, std::int64_t heightLevel) const {
    const std::vector<std::optional<Rational>> row{Rational::of(batchLevel), Rational::of(heightLevel), std::nullopt};
    return evaluate(row);
  }
};

TEST(Symbolic, EqualExpressionsAreOneNode) {
  Pool p;
  EXPECT_EQ(p.make(ExprOp::Mul, p.batch, p.height), p.make(ExprOp::Mul, p.height, p.batch));
  EXPECT_EQ(p.make(ExprOp::Add, p.batch, p.k(3)), p.make(ExprOp::Add, p.k(3), p.batch));
  EXPECT_NE(p.make(ExprOp::Sub, p.batch, p.height), p.make(ExprOp::Sub, p.height, p.batch));
  EXPECT_EQ(p.constant(*Rational::make(1, 2)), p.constant(*Rational::make(2, 4)));
}

TEST(Symbolic, EveryNodeIsFoundAgainHoweverManyThereAre) {
  Pool p;
  constexpr std::int64_t kMany = 5000;
  const auto all = [&p] {
    std::vector<ExprId> made;
    for (std::int64_t i = 0; i < kMany; ++i) {
      made.push_back(p.constant(i));
      made.push_back(p.constant(-i));
      made.push_back(p.constant({2 * i + 1, 2}));
      made.push_back(p.make(ExprOp::Mul, p.make(ExprOp::Add, p.height, p.k(i)), p.batch));
    }
    return made;
  };
  const std::vector<ExprId> made = all();
  const std::size_t size = p.size();
  EXPECT_EQ(all(), made);
  EXPECT_EQ(p.size(), size);
  const std::set<ExprId> different(made.begin(), made.end());
  EXPECT_EQ(different.size(), static_cast<std::size_t>(4 * kMany - 1));  // 0 and -0 are one
  for (std::int64_t i = 0; i < kMany; ++i) EXPECT_EQ(p.constantValue(made[static_cast<std::size_t>(4 * i)]), Rational::of(i));
}

TEST(Symbolic, AConvolutionThatKeepsItsSizeKeepsTheNode) {
  Pool p;
  // (h + 1 + 1 - 1 * (3 - 1) - 1) div 1 + 1
  const ExprId padded = p.make(ExprOp::Add, p.make(ExprOp::Add, p.height, p.k(1)), p.k(1));
  const ExprId window = p.make(ExprOp::Mul, p.k(1), p.make(ExprOp::Sub, p.k(3), p.k(1)));
  const ExprId room = p.make(ExprOp::Sub, p.make(ExprOp::Sub, padded, window), p.k(1));
  EXPECT_EQ(p.make(ExprOp::Add, p.make(ExprOp::FloorDiv, room, p.k(1)), p.k(1)), p.height);
}

TEST(Symbolic, HalvingTwiceIsAQuarter) {
  Pool p;
  const ExprId half = p.make(ExprOp::FloorDiv, p.height, p.k(2));
  EXPECT_EQ(p.make(ExprOp::FloorDiv, half, p.k(2)), p.make(ExprOp::FloorDiv, p.height, p.k(4)));
  EXPECT_EQ(p.make(ExprOp::FloorDiv, p.make(ExprOp::Mul, p.height, p.k(6)), p.k(3)), p.make(ExprOp::Mul, p.height, p.k(2)));
  EXPECT_EQ(p.constantValue(p.make(ExprOp::Mod, p.make(ExprOp::Mul, p.height, p.k(6)), p.k(3))), Rational::of(0));
}

TEST(Symbolic, FloorOfARealIsKept) {
  Pool p;
  EXPECT_NE(p.make(ExprOp::FloorDiv, p.rate, p.k(1)), p.rate);
  EXPECT_EQ(p.make(ExprOp::Divide, p.rate, p.k(1)), p.rate);
}

TEST(Symbolic, ErrorsArePassedOn) {
  Pool p;
  const ExprId quotient = p.make(ExprOp::FloorDiv, p.batch, p.height);
  const ExprId user = p.make(ExprOp::Add, quotient, p.batch);
  const Values bad = p.at(4, 0);
  EXPECT_EQ(bad.errorOf(user), EvalError::DivisionByZero);
  EXPECT_EQ(bad.errorOf(p.batch), EvalError::None);
  EXPECT_EQ(p.at(9, 2).integer(user), 13);
  EXPECT_EQ(p.at(9, 2).errorOf(p.rate), EvalError::Unassigned);
  const ExprId scaled = p.make(ExprOp::Mul, p.rate, p.batch);
  EXPECT_EQ(p.at(9, 2).errorOf(scaled), EvalError::Unassigned);
  const ExprId constantFailure = p.make(ExprOp::Mod, p.k(7), p.k(0));
  EXPECT_EQ(p.at(1, 1).errorOf(constantFailure), EvalError::DivisionByZero);
  const ExprId square = p.make(ExprOp::Mul, p.batch, p.batch);
  EXPECT_EQ(p.at(std::int64_t{1} << 32, 1).errorOf(square), EvalError::Overflow);
  const ExprId power = p.make(ExprOp::Power, p.k(2), p.batch);
  EXPECT_EQ(p.at(-1, 1).errorOf(power), EvalError::NegativeExponent);
  const std::vector<std::optional<Rational>> row{*Rational::make(1, 2), Rational::of(1)};
  EXPECT_EQ(p.evaluate(row).errorOf(p.batch), EvalError::NotAnInteger);
}

TEST(Symbolic, SelectLooksOnlyAtTheChosenSide) {
  Pool p;
  const ExprId quotient = p.make(ExprOp::FloorDiv, p.batch, p.height);
  const ExprId zero = p.make(ExprOp::Equal, p.height, p.k(0));
  const ExprId guarded = p.make(ExprOp::Select, zero, p.k(-1), quotient);
  EXPECT_EQ(p.at(8, 0).errorOf(guarded), EvalError::None);
  EXPECT_EQ(p.at(8, 0).integer(guarded), -1);
  EXPECT_EQ(p.at(8, 2).integer(guarded), 4);
  const ExprId both = p.make(ExprOp::And, p.make(ExprOp::Not, zero), p.make(ExprOp::Less, p.k(2), quotient));
  EXPECT_EQ(p.at(8, 0).errorOf(both), EvalError::None);
  EXPECT_EQ(p.at(8, 0).integer(both), 0);
  EXPECT_EQ(p.at(8, 2).integer(both), 1);
}

TEST(Symbolic, PrintsWithTheFewestParentheses) {
  Pool p;
  const auto text = [&p](ExprOp op, ExprId a, ExprId b) { return p.str(p.make(op, a, b)); };
  const ExprId sum = p.make(ExprOp::Add, p.batch, p.height);
  EXPECT_EQ(text(ExprOp::FloorDiv, p.make(ExprOp::Mul, p.batch, p.k(64)), p.k(6)), "batch * 64 div 6");
  EXPECT_EQ(text(ExprOp::Mul, sum, p.k(2)), "(batch + h) * 2");
  EXPECT_EQ(text(ExprOp::Sub, p.batch, sum), "batch - (batch + h)");
  EXPECT_EQ(text(ExprOp::Sub, p.height, p.k(1)), "h - 1");
  EXPECT_EQ(text(ExprOp::Power, p.make(ExprOp::Mul, p.batch, p.height), p.k(2)), "(batch * h) ** 2");
  EXPECT_EQ(text(ExprOp::And, p.make(ExprOp::Less, p.batch, p.height), p.make(ExprOp::Equal, p.height, p.k(3))),
            "batch < h and h = 3");
  EXPECT_EQ(p.str(p.make(ExprOp::Not, p.make(ExprOp::Or, p.batch, p.height))), "not (batch or h)");
  EXPECT_EQ(p.str(p.make(ExprOp::Select, p.make(ExprOp::Less, p.batch, p.height), p.k(1), p.rate)),
            "if batch < h then 1 else rate");
  EXPECT_EQ(text(ExprOp::Max, p.batch, p.constant(*Rational::make(1, 4))), "max(batch, 0.25)");
  EXPECT_EQ(text(ExprOp::Mul, p.batch, p.constant(*Rational::make(1, 3))), "batch * (1/3)");
}

TEST(Symbolic, NamesItsSymbolsOnce) {
  Pool p;
  const ExprId e = p.make(ExprOp::Add, p.make(ExprOp::Mul, p.batch, p.height), p.make(ExprOp::Sub, p.batch, p.rate));
  std::vector<SymbolId> symbols = p.symbolsOf(e);
  std::sort(symbols.begin(), symbols.end());
  EXPECT_EQ(symbols, (std::vector<SymbolId>{p.b, p.h, p.r}));
  EXPECT_TRUE(p.symbolsOf(p.k(3)).empty());
}

/// Whole numbers up to the ends of 64 bits, against arithmetic of 128 bits.
TEST(Symbolic, WholeConstantsAreExactOrStayAsTheyAre) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> numbers{kLeast, kLeast + 1, -3037000500, -2049, -2, -1,         0,         1,
                                          2,      2047,       2048,        2049,  64, 3037000500, kMost - 1, kMost};
  Pool p;
  for (const std::int64_t a : numbers) {
    for (const std::int64_t b : numbers) {
      const auto check = [&](ExprOp op, __int128 exact) {
        const ExprId made = p.make(op, p.k(a), p.k(b));
        if (exact >= kLeast && exact <= kMost)
          EXPECT_EQ(p.constantValue(made), Rational::of(static_cast<std::int64_t>(exact))) << p.str(made);
        else
          EXPECT_EQ(p.at(1, 1).errorOf(made), EvalError::Overflow) << p.str(made);
      };
      check(ExprOp::Add, static_cast<__int128>(a) + b);
      check(ExprOp::Sub, static_cast<__int128>(a) - b);
      check(ExprOp::Mul, static_cast<__int128>(a) * b);
      check(ExprOp::Min, a < b ? a : b);
      check(ExprOp::Max, a < b ? b : a);
      check(ExprOp::Equal, a == b);
      check(ExprOp::Less, a < b);
      check(ExprOp::LessEqual, a <= b);
    }
  }
}

/// Random expressions, folded, against plain 64-bit arithmetic on the unfolded tree.
TEST(Symbolic, FoldingKeepsValues) {
  std::mt19937 random(7);
  const auto pick = [&random](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const auto floorDivide = [](std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); };
  for (int round = 0; round < 3000; ++round) {
    Pool p;
    const std::int64_t batch = pick(9) - 2;
    const std::int64_t height = pick(30);
    struct Both {
      ExprId id;
      std::int64_t value;
    };
    std::vector<Both> all{{p.batch, batch}, {p.height, height}};
    for (int i = -3; i < 7; ++i) all.push_back({p.k(i), i});
    for (int depth = 0; depth < 8; ++depth) {
      const Both a = all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))];
      const Both b = all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))];
      if (std::abs(a.value) > 100000 || std::abs(b.value) > 100000) continue;
      switch (pick(8)) {
        case 0:
          all.push_back({p.make(ExprOp::Add, a.id, b.id), a.value + b.value});
          break;
        case 1:
          all.push_back({p.make(ExprOp::Sub, a.id, b.id), a.value - b.value});
          break;
        case 2:
          all.push_back({p.make(ExprOp::Mul, a.id, b.id), a.value * b.value});
          break;
        case 3:
          if (b.value != 0) all.push_back({p.make(ExprOp::FloorDiv, a.id, b.id), floorDivide(a.value, b.value)});
          break;
        case 4:
          if (b.value != 0) all.push_back({p.make(ExprOp::CeilDiv, a.id, b.id), -floorDivide(-a.value, b.value)});
          break;
        case 5:
          if (b.value != 0) all.push_back({p.make(ExprOp::Mod, a.id, b.id), a.value - b.value * floorDivide(a.value, b.value)});
          break;
        case 6:
          all.push_back({p.make(ExprOp::Min, a.id, b.id), std::min(a.value, b.value)});
          break;
        default:
          all.push_back({p.make(ExprOp::LessEqual, a.id, b.id), a.value <= b.value ? 1 : 0});
          break;
      }
    }
    const Values values = p.at(batch, height);
    for (const Both& one : all) {
      ASSERT_EQ(values.errorOf(one.id), EvalError::None) << p.str(one.id);
      ASSERT_EQ(values.integer(one.id), one.value) << p.str(one.id) << " at batch " << batch << ", h " << height;
    }
  }
}
}  // namespace
