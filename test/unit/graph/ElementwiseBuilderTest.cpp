// One element-wise operator, built by hand.
#include "compiler/graph/ir/ElementwiseBuilder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tbem::test {
namespace {

using graph::ElementwiseBuilder;
using graph::ElemOp;
using graph::TensorId;
using Fault = ElementwiseBuilder::Alignment::Fault;

struct Bench {
  Bench() { g.regions.emplace_back(); }
  std::vector<graph::ExprId> shape(const std::vector<std::int64_t>& lengths) {
    std::vector<graph::ExprId> dims;
    for (const std::int64_t length : lengths) dims.push_back(pool.constant(length));
    return dims;
  }
  ElementwiseBuilder start(const std::vector<std::int64_t>& lengths, ElementwiseBuilder::Names names) {
    return {builder, pool, shape(lengths), std::move(names), "path"};
  }
  TensorId tensor(const std::vector<std::int64_t>& lengths) { return builder.addTensor("x", TBEM_F32, shape(lengths), {}); }

  graph::Graph g;
  sema::ExprPool pool;
  graph::GraphBuilder builder{g, pool, [](const graph::Op&) {}};
};

TEST(ElementwiseBuilder, MakesEqualNodesOnceAndEachRandomNumberAnew) {
  Bench bench;
  ElementwiseBuilder build = bench.start({4}, {"n"});
  const auto x = build.operand(bench.tensor({4}), {{0}});
  const auto half = build.constant(*Rational::make(1, 2));
  EXPECT_EQ(build.constant(*Rational::make(1, 2)), half);
  EXPECT_EQ(build.operation(ElemOp::Mul, x, half), build.operation(ElemOp::Mul, x, half));
  EXPECT_NE(build.operation(ElemOp::Sub, x, half), build.operation(ElemOp::Sub, half, x));
  EXPECT_NE(build.operation(ElemOp::Random), build.operation(ElemOp::Random));
}

TEST(ElementwiseBuilder, ReadsOperandsByNameAndElseFromTheRight) {
  Bench bench;
  const ElementwiseBuilder build = bench.start({2, 3, 4}, {"n", "c", "w"});
  const auto axes = [&](const std::vector<std::int64_t>& lengths, const ElementwiseBuilder::Names& names) {
    const ElementwiseBuilder::Alignment alignment = build.align(bench.shape(lengths), names);
    EXPECT_EQ(alignment.fault, Fault::None);
    return alignment.operand.axes;
  };
  EXPECT_EQ(axes({3}, {"c"}), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(axes({4}, {""}), (std::vector<std::int32_t>{2}));
  EXPECT_EQ(axes({4, 2}, {"w", "n"}), (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(axes({2, 3, 4}, {"n", "c", "w"}), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(axes({2, 1, 4}, {"n", "c", "w"}), (std::vector<std::int32_t>{0, -1, 2}));
  EXPECT_EQ(bench.start({5, 5}, {"k", "k"}).align(bench.shape({5, 5}), {"k", "k"}).operand.axes,
            (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(axes({1, 3, 1}, {"", "", ""}), (std::vector<std::int32_t>{-1, 1, -1}));
  EXPECT_EQ(axes({1, 2, 3, 4}, {"", "", "", ""}), (std::vector<std::int32_t>{-1, 0, 1, 2}));
}

TEST(ElementwiseBuilder, HandsBackWhatCannotBeRead) {
  Bench bench;
  const ElementwiseBuilder build = bench.start({2, 3}, {"n", "c"});
  const ElementwiseBuilder::Alignment wide = build.align(bench.shape({5, 2, 3}), {"", "", ""});
  EXPECT_EQ(wide.fault, Fault::TooManyDimensions);
  EXPECT_TRUE(wide.operand.axes.empty());
  const ElementwiseBuilder::Alignment other = build.align(bench.shape({2, 3}), {"n", "w"});
  EXPECT_EQ(other.fault, Fault::Ambiguous);
  EXPECT_EQ(other.why, "the result has none of that name");
  EXPECT_EQ(other.operand.axes, (std::vector<std::int32_t>{0}));
  const ElementwiseBuilder::Alignment twice = build.align(bench.shape({3, 3}), {"c", "c"});
  EXPECT_EQ(twice.why, "it has it 2 times and the result once");
}

// (x + y / 2) * (2 * s) of 6 elements, where y / 2 is computed in vain too, as a product with an operand that nothing reads.
TEST(ElementwiseBuilder, LeavesOutWhatNothingReadsAndCountsTheRest) {
  Bench bench;
  ElementwiseBuilder build = bench.start({2, 3}, {"n", "c"});
  const TensorId tensors[] = {bench.tensor({2, 3}), bench.tensor({3}), bench.tensor({2, 3})};
  const auto unused = build.operand(tensors[0], {{0, 1}});
  const auto y = build.operand(tensors[1], {{1}});
  const auto x = build.operand(tensors[2], {{0, 1}});
  const auto two = build.constant(Rational::of(2));
  const auto halved = build.operation(ElemOp::Div, y, two);
  build.operation(ElemOp::Mul, halved, unused);
  const auto sum = build.operation(ElemOp::Add, x, halved);
  const auto scalar = build.operation(ElemOp::Mul, two, build.scalar(bench.pool.step()));
  build.addRoot(build.operation(ElemOp::Mul, sum, scalar));
  const TensorId result = bench.tensor({2, 3});
  const graph::Op op = build.finish({result});
  EXPECT_EQ(op.kind, graph::OpKind::Elementwise);
  EXPECT_EQ(op.inputs, (std::vector<TensorId>{tensors[1], tensors[2]}));
  EXPECT_EQ(op.outputs, (std::vector<TensorId>{result}));
  ASSERT_EQ(op.elementwise.operands.size(), 2U);
  EXPECT_EQ(op.elementwise.operands[0].axes, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(op.elementwise.nodes.size(), 8U);
  std::map<std::string, std::int64_t> flops;
  for (const graph::FlopPart& part : op.flops) flops[part.name] = bench.pool.constantValue(part.count)->num;
  EXPECT_EQ(flops, (std::map<std::string, std::int64_t>{{"add", 6}, {"divide", 6}, {"mul", 6}}));
}

}  // namespace
}  // namespace tbem::test
