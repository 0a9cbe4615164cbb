// Networks of the standard library: the lowered program's results against the interpreter of graphs, which runs operator by
// operator, in program order, in f64.
#include "Machine.h"

#include "compiler/lower/Lower.h"
#include "test/oracle/Graph.h"
#include "test/unit/graph/Fixture.h"

#include <gtest/gtest.h>

using namespace tbem;
using namespace tbem::test;

namespace {
/// What can be compared after a step: the loss, gradients, and the new values of weights, states and buffers.
std::vector<graph::TensorId> comparable(const graph::Graph& g) {
  std::vector<graph::TensorId> list;
  if (g.loss != graph::kNoTensor) list.push_back(g.loss);
  for (const graph::Graph::Weight& weight : g.weights) {
    if (weight.gradient != graph::kNoTensor) list.push_back(weight.gradient);
    if (weight.after != graph::kNoTensor) list.push_back(weight.after);
  }
  for (const std::vector<graph::TensorId>* persistent : {&g.buffers, &g.states})
    list.insert(list.end(), persistent->begin(), persistent->end());
  if (!g.training) list.insert(list.end(), g.outputs.begin(), g.outputs.end());
  return list;
}

void expectSameStep(const std::string& text) {
  for (const bool fuse : {false, true}) {
    Built built(text, {.dtype = TBEM_F64});
    const std::optional<graph::Row> row = built.row();
    ASSERT_TRUE(row.has_value()) << built.errors();
    const graph::Graph& g = row->graph();
    Host initial = initialValues(g, row->values);
    for (auto& [tensor, data] : initial) {
      // Variances, and second moments of optimisers, are not negative.
      const graph::StorageClass kind = g[g[tensor].storage].kind;
      for (double& value : data)
        value = kind == graph::StorageClass::Buffer || kind == graph::StorageClass::State ? std::fabs(value) : value;
    }
    oracle::GraphInterpreter meaning(*row);
    for (const auto& [tensor, data] : initial) meaning.of(tensor) = data;
    meaning.run(graph::Phase::Optimizer);
    auto program = estimate::lower(g, row->values, blockedBackend(), {.keepGradients = true, .keepOutputs = true, .fuse = fuse});
    DiagnosticSink sink;
    ASSERT_TRUE(program.has_value()) << program.error().report(sink).message;
    for (const auto& [tensor, data] : runProgram(g, *program, blockedBackend(), initial, comparable(g))) {
      const std::vector<double>& expected = meaning.of(tensor);
      ASSERT_EQ(data.size(), expected.size());
      for (std::size_t i = 0; i < data.size(); ++i) {
        ASSERT_EQ(data[i], expected[i]) << g[g[tensor].storage].path << " " << g[tensor].name << ", element " << i
                                        << (fuse ? ", fused" : "");
      }
    }
  }
}

const std::string kSgd = "  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))\n}\n";
const std::string kAdam = "  task train(loss: cross_entropy, optimizer: adam(lr: 0.001))\n}\n";

TEST(Stdlib, SmallVgg) {
  expectSameStep("import std.vision: small_vgg\ndesign d of small_vgg(depth: 11, width: 16) {\n  input image: [2, 3, 32, 32]\n" +
                 kSgd);
}
TEST(Stdlib, ResidualNetworkWithPaddedShortcuts) {
  expectSameStep("import std.vision: cifar_resnet\ndesign d of cifar_resnet() {\n  input image: [2, 3, 16, 16]\n" + kSgd);
}
TEST(Stdlib, ResidualNetworkWithProjectionsAndBottlenecks) {
  expectSameStep(
      "network net(image: tensor[n, 3, h, w]) -> tensor[n, 10] {\n"
      "  let x = image |> conv_bn_relu(out: 16, kernel: 7, stride: 2, pad: 3) |> max_pool2d(kernel: 3, stride: 2, pad: 1)\n"
      "  return x |> residual(out: 32, stride: 2) |> residual(out: 32) |> bottleneck(width: 16) |> global_avg_pool |> "
      "dense(10)\n}\n"
      "design d of net {\n  input image: [2, 3, 32, 32]\n" +
      kSgd);
}
TEST(Stdlib, LeNetUnderAdam) {
  expectSameStep("import std.vision: lenet5\ndesign d of lenet5() {\n  input image: [2, 1, 28, 28]\n" + kAdam);
}
TEST(Stdlib, DropoutHasOneMaskForwardAndBackward) {
  expectSameStep(
      "network net(image: tensor[n, 16, h, w]) -> tensor[n, 10] {\n"
      "  let y = image |> conv2d(out: 32, kernel: 3, pad: 1) |> gelu |> dropout(0.5)\n"
      "  return (y + sigmoid(y)) |> global_avg_pool |> dense(10)\n}\n"
      "design d of net {\n  input image: [2, 16, 4, 4]\n" +
      kSgd);
}
TEST(Stdlib, Inference) {
  expectSameStep(
      "import std.vision: cifar_resnet\ndesign d of cifar_resnet(projection: true) {\n  input image: [2, 3, 16, 16]\n  task "
      "infer\n}\n");
}
}  // namespace
