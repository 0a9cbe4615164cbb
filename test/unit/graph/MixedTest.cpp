// Which tensors of a mixed step are bf16.
#include "Fixture.h"
#include "compiler/graph/ir/Verify.h"

#include <algorithm>

namespace tbem::test {
namespace {

using graph::Graph;
using graph::Op;
using graph::TensorId;

const char* const kProgram =
    "network net(x: tensor[n, 3, h, w]) -> tensor[n, 4] {\n"
    "  let y = x |> conv2d(out: 8, kernel: 3, pad: 1) |> batch_norm |> relu\n"
    "  let z = y |> conv2d(out: 8, kernel: 3, pad: 1) |> max_pool2d(kernel: 3, stride: 1, pad: 1)\n"
    "  return log(exp(y + z) + 1) |> global_avg_pool |> dense(4)\n"
    "}\n"
    "design d of net { input x: [2, 3, 8, 8]; task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9)); MIXED }\n";

std::string program(const std::string& clause) {
  std::string text = kProgram;
  return text.replace(text.find("MIXED"), 5, clause);
}

/// The element types of the first result of every operator of this name and phase.
std::vector<int> types(const Graph& graph, const std::string& name, graph::Phase phase) {
  std::vector<int> found;
  for (const Op& op : graph.ops) {
    if (op.declaration == name && op.phase == phase) found.push_back(graph[op.outputs.front()].dtype);
  }
  return found;
}

TEST(Mixed, ActivationsAreNarrowAndMastersAreNot) {
  Built built(program("mixed bf16"));
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const Graph& graph = row->graph();
  EXPECT_TRUE(graph::verify(graph).empty());
  using graph::Phase;
  const std::vector<int> one{TBEM_BF16}, two{TBEM_BF16, TBEM_BF16};
  EXPECT_EQ(types(graph, "conv2d", Phase::Forward), two);
  EXPECT_EQ(types(graph, "batch_normalize", Phase::Forward), one);
  EXPECT_EQ(types(graph, "relu", Phase::Forward), one);
  EXPECT_EQ(types(graph, "max_pool2d", Phase::Forward), one);
  EXPECT_EQ(types(graph, "dense", Phase::Forward), one);
  EXPECT_EQ(types(graph, "channel_moments", Phase::Forward), std::vector<int>{TBEM_F32});
  EXPECT_EQ(types(graph, "exp", Phase::Forward), std::vector<int>{TBEM_F32});
  EXPECT_EQ(types(graph, "log", Phase::Forward), std::vector<int>{TBEM_F32});
  EXPECT_EQ(types(graph, "cross_entropy", Phase::Forward), std::vector<int>{TBEM_F32});
  for (const Graph::Weight& weight : graph.weights) {
    for (const TensorId tensor : {weight.value, weight.gradient, weight.after}) EXPECT_EQ(graph[tensor].dtype, TBEM_F32);
  }
  for (const TensorId tensor : graph.states) EXPECT_EQ(graph[tensor].dtype, TBEM_F32);
  for (const TensorId tensor : graph.buffers) EXPECT_EQ(graph[tensor].dtype, TBEM_F32);
}

/// Each operator's operands are of one type where its primitive asks for it: what a cast has to see to.
TEST(Mixed, ProductsReadNarrowOperands) {
  Built built(program("mixed bf16"));
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const Graph& graph = row->graph();
  int products = 0, copies = 0;
  for (const Op& op : graph.ops) {
    const bool isProduct = op.kind == graph::OpKind::Native && (op.primitive <= TBEM_PRIMITIVE_matmul);
    products += isProduct ? 1 : 0;
    for (std::size_t i = 0; isProduct && i < 2; ++i) EXPECT_EQ(graph[op.inputs[i]].dtype, TBEM_BF16) << op.declaration;
    const bool ofWeight = op.declaration == "cast" && graph[graph[op.inputs.front()].storage].kind == graph::StorageClass::Weight;
    copies += ofWeight ? 1 : 0;
  }
  EXPECT_EQ(products, 3 + 2 + 3);  // forward, input gradients but of the first, weight gradients
  EXPECT_EQ(copies, 3) << "a weight is copied once";
}

/// The gradients that go back are of the scaled loss, those of weights are not, and what overflows moves neither weight nor
/// state.
TEST(Mixed, ALossInF16IsScaled) {
  using graph::ElemOp;
  Built built(program("mixed f16"));
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const Graph& graph = row->graph();
  EXPECT_TRUE(graph::verify(graph).empty());
  std::vector<std::string> scalars;
  for (const TensorId state : graph.states) {
    if (graph[state].shape.empty()) scalars.push_back(graph[graph[state].storage].path);
  }
  const std::string first = graph[graph[graph.weights.front().value].storage].path;
  EXPECT_EQ(scalars, (std::vector{first + ".loss_scale", first + ".good_steps", first + ".taken_steps"}));
  EXPECT_EQ(graph[graph[graph::kMainRegion].ops.back()].declaration, "loss_scale");
  for (const Graph::Weight& weight : graph.weights) {
    const Op& unscaled = graph[graph[weight.gradient].producer];
    EXPECT_EQ(unscaled.declaration, "divide");
    EXPECT_EQ(graph[graph[unscaled.inputs.back()].storage].path, first + ".loss_scale");
    const Op& update = graph[graph[weight.after].producer];
    for (const std::uint32_t root : update.elementwise.roots) EXPECT_EQ(update.elementwise.nodes[root].op, ElemOp::Select);
  }
  EXPECT_EQ(types(graph, "conv2d", graph::Phase::Forward), (std::vector<int>{TBEM_F16, TBEM_F16}));
}

/// Whatever the graph has grown to by then.
TEST(Mixed, StatesOfTheScaleBearTheNameOfAWeight) {
  for (int layers = 1; layers <= 12; ++layers) {
    std::string text = "network net(x: tensor[n, 8]) -> tensor[n, 8] {\n  return x";
    for (int i = 0; i < layers; ++i) text += " |> dense(8)";
    text += "\n}\ndesign d of net { input x: [2, 8]; task train(loss: mse, optimizer: sgd(lr: 0.1)); mixed f16 }\n";
    Built built(text);
    const auto row = built.row();
    ASSERT_TRUE(row) << built.errors();
    std::vector<std::string> names;
    for (const TensorId state : row->graph().states) names.push_back(row->graph()[row->graph()[state].storage].path);
    EXPECT_EQ(names, (std::vector<std::string>{"dense.weight.loss_scale", "dense.weight.good_steps", "dense.weight.taken_steps"}))
        << layers << " layers";
  }
}

/// What overflows leaves a weight as it was before the step, not before the second part.
TEST(Mixed, WhatIsWrittenTwiceStaysAsItWas) {
  using graph::ElemOp;
  Built built(
      "operator decayed(w: tensor[..s], g: tensor[..s]; lr: real)\n  updates w: w - lr * g\n          w: w * 0.99\n"
      "network net(x: tensor[n, 4]) -> tensor[n, 4] { return x |> dense(4) }\n"
      "design d of net { input x: [2, 4]; task train(loss: mse, optimizer: decayed(lr: 0.1)); mixed f16 }\n");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  for (const Graph::Weight& weight : row->graph().weights) {
    const Op& update = row->graph()[row->graph()[weight.after].producer];
    ASSERT_EQ(update.elementwise.roots.size(), 2U);
    for (const std::uint32_t root : update.elementwise.roots) {
      const graph::ElemNode& kept = update.elementwise.nodes[update.elementwise.nodes[root].c];
      ASSERT_EQ(kept.op, ElemOp::Input);
      EXPECT_EQ(update.inputs[kept.input], weight.value);
    }
  }
}

/// A gradient of the loss that reaches no weight moves none.
TEST(Mixed, AScaleThatNothingNeedsIsNotMoved) {
  Built built(
      "operator half(x: tensor[n, m], w: tensor[m]) -> (y: tensor[n, m])\n  elementwise y = x * w\n  backward x: dy * w\n"
      "block scaled(x: tensor[n, m]) -> tensor[n, m] {\n  weight w: tensor[m] init ones\n  return half(x, w)\n}\n"
      "network net(x: tensor[n, 4]) -> tensor[n, 4] { return x |> scaled }\n"
      "design d of net { input x: [2, 4]; task train(loss: mse, optimizer: sgd(lr: 0.1)); mixed f16 }\n");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_TRUE(graph::verify(row->graph()).empty());
  EXPECT_EQ(types(row->graph(), "loss_scale", graph::Phase::Optimizer), std::vector<int>{});
}

/// Weights that a product reads as they are have gradients in f32, too.
TEST(Mixed, GradientsOfProductsAreNotRounded) {
  for (const char* clause : {"mixed f16", "mixed bf16"}) {
    Built built(
        "block linear(x: tensor[n, m]) -> tensor[n, 4] {\n  weight w: tensor[m, 4] init ones\n  return matmul(x, w)\n}\n"
        "network net(x: tensor[n, 8]) -> tensor[n, 4] { return x |> linear }\n"
        "design d of net { input x: [2, 8]; task train(loss: mse, optimizer: sgd(lr: 0.1)); " +
        std::string(clause) + " }\n");
    const auto row = built.row();
    ASSERT_TRUE(row) << built.errors();
    EXPECT_EQ(types(row->graph(), "matrix_product", graph::Phase::Backward), std::vector<int>{TBEM_F32}) << clause;
  }
}

const char* const kRows =
    "network net(x: tensor[n, s, 16]) -> tensor[n, s, 16] {\n"
    "  let y = x |> dense(16) |> layer_norm\n"
    "  return dense(y, out: 16) + dense(y, out: 16)\n"
    "}\n"
    "design d of net { input x: [2, 4, 16]; task train(loss: mse, optimizer: sgd(lr: 0.1)); mixed bf16 }\n";

/// By whose rules; the type of what layer_norm reads, and how often its result is cast.
struct RowsCase {
  graph::MixedRules rules;
  tbem_dtype moments;
  int casts;
};

TEST(Mixed, PyTorchWidensOnCudaWhatItListsAndCastsForEachReader) {
  using graph::MixedRules;
  for (const RowsCase& one : {RowsCase{MixedRules::Own, TBEM_BF16, 0}, RowsCase{MixedRules::PyTorchCpu, TBEM_BF16, 0},
                              RowsCase{MixedRules::PyTorchCuda, TBEM_F32, 2}}) {
    graph::ExperimentOptions options;
    options.rules = one.rules;
    Built built(kRows, options);
    const auto row = built.row();
    ASSERT_TRUE(row) << built.errors();
    const Graph& graph = row->graph();
    EXPECT_EQ(graph::verify(graph), std::vector<std::string>{});
    int casts = 0;
    TensorId normal = graph::kNoTensor;
    for (const Op& op : graph.ops) {
      if (op.phase != graph::Phase::Forward) continue;
      if (op.declaration == "channel_moments") {
        EXPECT_EQ(graph[op.inputs.front()].dtype, one.moments);
      }
      if (op.declaration == "row_normalize") normal = op.outputs.front();
      if (op.declaration == "cast" && op.inputs.front() == normal) ++casts;
    }
    ASSERT_NE(normal, graph::kNoTensor);
    EXPECT_EQ(graph[normal].dtype, one.moments);
    EXPECT_EQ(casts, one.casts);
    for (const Op& op : graph.ops) {  // a gradient reads the narrow copy that its operator read
      if (op.declaration == "dense_weight_gradient") {
        EXPECT_EQ(graph[op.inputs.front()].dtype, TBEM_BF16);
      }
    }
  }
}

TEST(Mixed, ClausesOfTheOptionsStandOverThoseOfTheDesign) {
  graph::ExperimentOptions options;
  options.mixed = TBEM_BF16;
  options.microBatches = 2;
  Built built(program("accumulate 1"), options);
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(row->graph().microBatches, 2);
  EXPECT_EQ(types(row->graph(), "relu", graph::Phase::Forward), std::vector<int>{TBEM_BF16});
}

TEST(Mixed, OtherStepsAreLeftAlone) {
  for (const bool wide : {false, true}) {
    Built built(program(wide ? "mixed bf16" : "seed 1"),
                wide ? graph::ExperimentOptions{.dtype = TBEM_F64} : graph::ExperimentOptions{});
    const auto row = built.row();
    ASSERT_TRUE(row) << built.errors();
    EXPECT_TRUE(std::none_of(row->graph().tensors.begin(), row->graph().tensors.end(),
                             [](const graph::Tensor& tensor) { return tensor.dtype == TBEM_BF16; }));
  }
}

}  // namespace
}  // namespace tbem::test
