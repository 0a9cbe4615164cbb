// Which element-wise expressions are whole, against their values.
#include "compiler/graph/ir/WholeNumbers.h"
#include "compiler/sema/Symbolic.h"
#include "test/oracle/Element.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tbem::test {
namespace {

using graph::Elementwise;
using graph::ElemNode;
using graph::ElemOp;

constexpr std::array kScalars{2.0, 0.5, -3.0};
const graph::NumberSources kSources{
    [](std::uint32_t input) { return input == 0; },
    [](sema::ExprId value) { return Rational::fromDouble(kScalars.at(static_cast<std::size_t>(value))); }};

struct Generator {
  std::mt19937 random;
  Elementwise expression;

  std::uint32_t any() { return static_cast<std::uint32_t>(random() % expression.nodes.size()); }

  void leaf() {
    ElemNode node;
    constexpr std::array kLeaves{ElemOp::Input, ElemOp::Constant, ElemOp::Scalar, ElemOp::Index};
    node.op = kLeaves.at(random() % kLeaves.size());
    node.input = node.op == ElemOp::Input ? random() % 4 == 0 : 0;
    node.value = *Rational::make(static_cast<std::int64_t>(random() % 7) - 2, random() % 4 == 0 ? 2 : 1);
    if (node.op == ElemOp::Scalar) node.scalar = static_cast<sema::ExprId>(random() % kScalars.size());
    expression.nodes.push_back(node);
  }

  void operation() {
    constexpr std::array kOps{
#define TBEM_ELEM_OP(enumerator, name, operands) ElemOp::enumerator,
#include "compiler/graph/ir/ElemOps.def"
    };
    ElemNode node;
    do node.op = kOps.at(random() % kOps.size());
    while (graph::operandCount(node.op) == 0);
    node.a = any();
    node.b = any();
    node.c = any();
    if (node.op == ElemOp::Cast) node.dtype = TBEM_I64;
    expression.nodes.push_back(node);
  }

  double valueOf(std::uint32_t root, std::int64_t whole, double real) const {
    std::vector<double> values;
    for (std::uint32_t at = 0; at <= root; ++at) {
      const ElemNode& node = expression.nodes[at];
      if (node.op == ElemOp::Input)
        values.push_back(node.input == 0 ? static_cast<double>(whole) : real);
      else if (node.op == ElemOp::Scalar)
        values.push_back(kScalars.at(static_cast<std::size_t>(node.scalar)));
      else if (node.op == ElemOp::Index)
        values.push_back(static_cast<double>(whole + 1));
      else if (node.op == ElemOp::Constant)
        values.push_back(node.value.toDouble());
      else
        values.push_back(oracle::realValue(node, values[node.a], values[node.b], values[node.c]));
    }
    return values[root];
  }
};

TEST(WholeNumbers, NoFractionIsWithoutAnOrigin) {
  int whole = 0, fractional = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Generator generator{std::mt19937(seed), {}};
    for (int i = 0; i < 4; ++i) generator.leaf();
    for (int i = 0; i < 6; ++i) generator.operation();
    const auto root = static_cast<std::uint32_t>(generator.expression.nodes.size() - 1);
    if (fractionBelow(generator.expression, root, kSources)) {
      ++fractional;
      continue;
    }
    ++whole;
    for (const std::int64_t x : {-5, -1, 0, 1, 2, 7}) {
      const double value = generator.valueOf(root, x, 0.3);
      // Beyond 2^53 f64 has whole numbers alone.
      EXPECT_TRUE(!std::isfinite(value) || value == std::floor(value)) << "seed " << seed << ", x " << x << ": " << value;
    }
  }
  EXPECT_GT(whole, 500);
  EXPECT_GT(fractional, 500);
}

TEST(WholeNumbers, NamesWhereAFractionComesFrom) {
  Elementwise e;
  const auto add = [&](ElemNode node) {
    e.nodes.push_back(node);
    return static_cast<std::uint32_t>(e.nodes.size() - 1);
  };
  const std::uint32_t x = add({.op = ElemOp::Input}), real = add({.op = ElemOp::Input, .input = 1});
  const std::uint32_t two = add({.op = ElemOp::Constant, .value = Rational::of(2)});
  const std::uint32_t minus = add({.op = ElemOp::Constant, .value = Rational::of(-2)});
  const std::uint32_t halved = add({.op = ElemOp::Div, .a = x, .b = two});
  EXPECT_EQ(fractionBelow(e, add({.op = ElemOp::Add, .a = x, .b = halved}), kSources), halved);
  EXPECT_EQ(fractionBelow(e, add({.op = ElemOp::Floor, .a = halved}), kSources), std::nullopt);
  EXPECT_EQ(fractionBelow(e, add({.op = ElemOp::Select, .a = real, .b = x, .c = two}), kSources), std::nullopt);
  EXPECT_EQ(fractionBelow(e, add({.op = ElemOp::Neg, .a = real}), kSources), real);
  EXPECT_EQ(fractionBelow(e, add({.op = ElemOp::Pow, .a = x, .b = two}), kSources), std::nullopt);
  const std::uint32_t inverse = add({.op = ElemOp::Pow, .a = x, .b = minus});
  EXPECT_EQ(fractionBelow(e, inverse, kSources), inverse);
  const std::uint32_t ofElements = add({.op = ElemOp::Pow, .a = x, .b = x});
  EXPECT_EQ(fractionBelow(e, ofElements, kSources), ofElements);
}

}  // namespace
}  // namespace tbem::test
