// Random expressions, computed by native code for many rows, against exact arithmetic: a row that is certain has the exact
// values.
#include "compiler/jit/rows/RowKernel.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tbem::testing {
namespace {

using sema::ExprId;
using sema::ExprOp;
using sema::ExprPool;

constexpr ExprOp kOps[] = {ExprOp::Add, ExprOp::Sub, ExprOp::Mul, ExprOp::Divide, ExprOp::FloorDiv, ExprOp::CeilDiv,
                           ExprOp::Mod, ExprOp::Min, ExprOp::Max, ExprOp::Equal,  ExprOp::Less,     ExprOp::LessEqual,
                           ExprOp::And, ExprOp::Or,  ExprOp::Not, ExprOp::Select, ExprOp::Power};

class Expressions {
public:
  explicit Expressions(std::uint64_t seed) : random(seed) {
    for (int s = 0; s < 4; ++s) ids.push_back(pool.symbolRef(pool.symbol("s" + std::to_string(s), {}, s == 3)));
    for (const std::int64_t value : {0, 1, 2, 3, 7, 1000}) ids.push_back(pool.constant(value));
    ids.push_back(pool.constant(Rational{1, 4}));
    ids.push_back(pool.constant(Rational{-3, 2}));
    for (int i = 0; i < 40; ++i) {
      const ExprOp op = kOps[below(std::size(kOps))];
      const ExprId a = any(), b = op == ExprOp::Power ? pool.constant(static_cast<std::int64_t>(1 + below(3))) : any();
      if (op == ExprOp::Mod && !(pool.isWhole(a) && pool.isWhole(b))) continue;  // has no such code
      ids.push_back(pool.make(op, a, op == ExprOp::Not ? sema::kNoExpr : b, op == ExprOp::Select ? any() : sema::kNoExpr));
    }
  }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  ExprId any() { return ids[below(ids.size())]; }
  Rational level(std::size_t symbol) {
    const std::int64_t most[] = {10, 1000, std::int64_t{1} << 40, 64};
    const auto number = static_cast<std::int64_t>(below(static_cast<std::size_t>(most[symbol]))) - (symbol == 0 ? 5 : 0);
    return symbol == 3 ? *Rational::make(number, 8) : Rational::of(number);
  }

  ExprPool pool;
  std::vector<ExprId> ids;
  std::mt19937_64 random;
};

TEST(RowKernel, CertainRowsAreExact) {
  constexpr std::size_t kRows = 203;  // no whole number of vectors, nor of blocks
  std::size_t certain = 0, all = 0, withoutCode = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Expressions made(seed);
    auto kernel = jit::compileRows(made.pool, made.ids);
    if (!kernel) {  // a folded constant such as 1/3
      ASSERT_FALSE(kernel.error().bug) << kernel.error().message;
      ++withoutCode;
      continue;
    }
    std::vector<std::vector<std::optional<Rational>>> rows(kRows);
    std::vector<double> levels;
    for (auto& row : rows) {
      for (std::size_t s = 0; s < 4; ++s) {
        row.emplace_back(made.level(s));
        levels.push_back(*row.back()->exactDouble());
      }
    }
    const jit::RowValues found = kernel->evaluate(levels);
    ASSERT_EQ(found.certain.size(), kRows);
    for (std::size_t r = 0; r < kRows; ++r) {
      ++all;
      if (!found.certain[r]) continue;
      ++certain;
      const sema::Values exact = made.pool.evaluate(rows[r]);
      for (std::size_t i = 0; i < made.ids.size(); ++i) {
        ASSERT_EQ(exact.errorOf(made.ids[i]), sema::EvalError::None) << made.pool.str(made.ids[i]);
        ASSERT_EQ(exact[made.ids[i]].exactDouble(), std::optional(found.row(r)[i])) << made.pool.str(made.ids[i]);
      }
    }
  }
  EXPECT_LT(withoutCode, 20U);
  EXPECT_GT(certain, all / 20);
  EXPECT_LT(certain, all);
}

/// A column of values of f at x = 0, 1, ...
std::vector<double> column(const ExprPool& pool, ExprId root, const std::vector<double>& levels, std::vector<bool>& certain) {
  auto kernel = jit::compileRows(pool, std::vector{root});
  if (!kernel) throw std::runtime_error(kernel.error().message);
  const jit::RowValues found = kernel->evaluate(levels);
  certain = found.certain;
  return found.values;
}

TEST(RowKernel, WhatADoubleDoesNotHoldIsUncertain) {
  ExprPool pool;
  const ExprId x = pool.symbolRef(pool.symbol("x", {}));
  const ExprId square = pool.make(ExprOp::Mul, x, x);
  std::vector<bool> certain;
  const double root = 94906265;  // its square is the last below 2^53
  const auto squares = column(pool, square, {3, root, root + 1, 4e9}, certain);
  EXPECT_EQ(certain, (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(squares[1], root * root);
  // A level that no double is equal to, and a division by zero.
  column(pool, square, {std::numeric_limits<double>::quiet_NaN()}, certain);
  EXPECT_EQ(certain, std::vector<bool>{false});
  const ExprId inverse = pool.make(ExprOp::FloorDiv, pool.constant(12), x);
  const auto quotients = column(pool, inverse, {5, 0, -5}, certain);
  EXPECT_EQ(certain, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(quotients[0], 2);
  EXPECT_EQ(quotients[2], -3);
  // 1/3 is no double; 3/3 is.
  const ExprId third = pool.make(ExprOp::Divide, x, pool.constant(3));
  column(pool, third, {1, 3}, certain);
  EXPECT_EQ(certain, (std::vector<bool>{false, true}));
}

TEST(RowKernel, FloorsAreThoseOfExactQuotients) {
  // x div y where x + 1 is a multiple of y and x is as large as can be: the quotient is as near below a whole number as it gets.
  ExprPool pool;
  const ExprId x = pool.symbolRef(pool.symbol("x", {})), y = pool.symbolRef(pool.symbol("y", {}));
  const ExprId down = pool.make(ExprOp::FloorDiv, x, y), up = pool.make(ExprOp::CeilDiv, x, y),
               left = pool.make(ExprOp::Mod, x, y);
  auto kernel = jit::compileRows(pool, std::vector{down, up, left});
  ASSERT_TRUE(kernel);
  std::vector<std::int64_t> numbers;
  std::vector<double> levels;
  for (std::int64_t divisor = 1; divisor < 2000; divisor += 7) {
    const std::int64_t most = (std::int64_t{1} << 53) / divisor * divisor - 1;
    for (const std::int64_t value : {most, -most, most - divisor + 1}) {
      numbers.insert(numbers.end(), {value, divisor});
      levels.insert(levels.end(), {static_cast<double>(value), static_cast<double>(divisor)});
    }
  }
  const jit::RowValues found = kernel->evaluate(levels);
  ASSERT_EQ(found.certain.size(), numbers.size() / 2);
  for (std::size_t r = 0; r < found.certain.size(); ++r) {
    const std::int64_t a = numbers[2 * r], b = numbers[2 * r + 1];
    const std::int64_t floor = a >= 0 ? a / b : -((-a + b - 1) / b);
    ASSERT_TRUE(found.certain[r]);
    EXPECT_EQ(found.row(r)[0], static_cast<double>(floor)) << a << " div " << b;
    EXPECT_EQ(found.row(r)[1], static_cast<double>(floor * b == a ? floor : floor + 1));
    EXPECT_EQ(found.row(r)[2], static_cast<double>(a - floor * b));
  }
}

TEST(RowKernel, WhatHasNoCodeIsRefused) {
  ExprPool pool;
  const ExprId x = pool.symbolRef(pool.symbol("x", {}, true));
  const ExprId power = pool.make(ExprOp::Power, pool.constant(2), x), remainder = pool.make(ExprOp::Mod, x, pool.constant(2));
  const std::pair<ExprId, const char*> cases[] = {{pool.make(ExprOp::Mul, x, pool.constant(Rational{1, 3})), "`1/3`"},
                                                  {pool.make(ExprOp::Add, x, pool.step()), "`step`"},
                                                  {power, "`2 ** x`"},
                                                  {remainder, "`x mod 2`"}};
  for (const auto& [root, culprit] : cases) {
    const auto kernel = jit::compileRows(pool, std::vector{root});
    ASSERT_FALSE(kernel);
    EXPECT_FALSE(kernel.error().bug);
    EXPECT_NE(kernel.error().message.find(culprit), std::string::npos) << kernel.error().message;
  }
}

}  // namespace
}  // namespace tbem::testing
