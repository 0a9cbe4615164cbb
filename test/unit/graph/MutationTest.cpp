// Templates of templates: what each operation does to the operators and weights of the graph, at closed-form counts.
#include "Fixture.h"
#include "compiler/graph/pass/Mutation.h"

namespace tbem::test {
namespace {

using graph::Fit;

Fit fit(const std::string& place, const std::string& path, const std::string& declaration = "") {
  return graph::fits(graph::pathParts(place), graph::pathParts(path), declaration);
}

TEST(Place, LeavesOutTurnsOnly) {
  EXPECT_EQ(fit("stage[2].conv2d", "stage[2].for[1].conv2d"), Fit::Exact);
  EXPECT_EQ(fit("stage[2].conv2d", "stage[1].for[2].conv2d"), Fit::None);
  EXPECT_EQ(fit("stage.conv2d", "stage[1].conv2d"), Fit::Exact);
  EXPECT_EQ(fit("conv2d", "stage[1].for[2].conv2d"), Fit::Exact);
  EXPECT_EQ(fit("conv2d", "block.conv2d"), Fit::None);
  EXPECT_EQ(fit("block.conv2d", "stage[0].block.conv2d"), Fit::Exact);
  EXPECT_EQ(fit("stage[2]", "stage[2]"), Fit::Exact);
  EXPECT_EQ(fit("stage[2]", "stage[2].for[0].conv2d"), Fit::Inside);
  EXPECT_EQ(fit("stage[2].conv2d", "stage[2]"), Fit::None);
}

TEST(Place, ADeclarationsNameMeansItsApplications) {
  EXPECT_EQ(fit("relu", "relu_2", "relu"), Fit::Exact);
  EXPECT_EQ(fit("relu_2", "relu_2", "relu"), Fit::Exact);
  EXPECT_EQ(fit("relu_2", "relu", "relu"), Fit::None);
  EXPECT_EQ(fit("conv2d", "first", "conv2d"), Fit::Exact);
  EXPECT_EQ(fit("relu", "relu_2.inner", "other"), Fit::None);
}

/// Operators of the forward pass by declaration, in order.
std::string chain(const graph::Row& row) {
  std::string text;
  for (const graph::Op& op : row.graph().ops) {
    if (op.phase == graph::Phase::Forward) text += (text.empty() ? "" : " ") + op.declaration;
  }
  return text;
}

constexpr const char* kBase =
    "network base(x: tensor[n, c, h, w]; width: int = 4) -> tensor[n, c2, h2, w2] {\n"
    "  var y = conv2d(x, out: width, kernel: 1, use_bias: false)\n"
    "  for i in 0 .. 3 as stage { y = y |> conv2d(out: width, kernel: 3, pad: 1, use_bias: false) |> relu }\n"
    "  return y |> conv2d(out: 2, kernel: 1, use_bias: false)\n"
    "}\n";

Built mutated(const std::string& operations, const std::string& factors, const std::string& more = "") {
  return Built(std::string(kBase) + more + "mutate family of base {\n" + operations + "\n}\ndesign d of family {\n" + factors +
               "\n  input x: [1, 3, 8, 8]\n full\n}\n");
}

constexpr std::int64_t kPlain = 3 * 4 + 3 * 4 * 4 * 9 + 4 * 2;

TEST(Mutate, FirstLevelsAreTheBase) {
  Built built = mutated("repeat stage.conv2d as times: 1, 2\n swap relu as act: relu, silu\n drop stage[1] as less",
                        "factor times\n factor act\n factor less");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(parameters(*row), kPlain);
  EXPECT_EQ(chain(*row), "conv2d conv2d relu conv2d relu conv2d relu conv2d");
}

TEST(Mutate, RepeatsAnApplicationWithWeightsOfItsOwn) {
  Built built = mutated("repeat stage[1].conv2d as times: 1, 3", "factor times");
  const auto row = built.row({1});
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(parameters(*row), kPlain + 2 * 4 * 4 * 9);
  EXPECT_EQ(chain(*row), "conv2d conv2d relu conv2d conv2d conv2d relu conv2d relu conv2d");
  const std::vector<std::string> paths = weightPaths(*row);
  EXPECT_NE(std::find(paths.begin(), paths.end(), "stage[1].conv2d_3.weight"), paths.end());
}

TEST(Mutate, RepeatsAndDropsTurns) {
  Built twice = mutated("repeat stage[2] as times: 1, 2", "factor times");
  const auto more = twice.row({1});
  ASSERT_TRUE(more) << twice.errors();
  EXPECT_EQ(chain(*more), "conv2d conv2d relu conv2d relu conv2d relu conv2d relu conv2d");
  Built without = mutated("drop stage as less", "factor less");
  const auto none = without.row({1});
  ASSERT_TRUE(none) << without.errors();
  EXPECT_EQ(chain(*none), "conv2d conv2d");
  EXPECT_EQ(parameters(*none), kPlain - 3 * 4 * 4 * 9);
}

TEST(Mutate, DropsAnApplication) {
  Built built = mutated("drop stage[1].relu as less", "factor less");
  const auto row = built.row({1});
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(chain(*row), "conv2d conv2d relu conv2d conv2d relu conv2d");
}

TEST(Mutate, InsertsBeforeAndAfter) {
  Built built = mutated(
      "insert batch_norm before stage[1].relu as norm\n insert sigmoid after stage[2] as last\n insert tanh before stage[0] as "
      "first",
      "factor norm\n factor last\n factor first");
  const auto row = built.row({1, 1, 1});
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(chain(*row), "conv2d tanh conv2d relu conv2d channel_affine relu conv2d relu sigmoid conv2d");
  const auto none = built.row({0, 0, 0});
  ASSERT_TRUE(none) << built.errors();
  EXPECT_EQ(parameters(*none), kPlain);
}

TEST(Mutate, WhatIsInsertedBesideItsOwnKindIsNotChangedAgain) {
  Built built = mutated("insert relu after stage.relu as more", "factor more");
  const auto row = built.row({1});
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(chain(*row), "conv2d conv2d relu relu conv2d relu relu conv2d relu relu conv2d");
}

TEST(Mutate, SwapsAndPassesOnWhatIsDeclaredToo) {
  Built built =
      mutated("swap stage.conv2d as kind: conv2d, pointwise, wide(factor: 2)", "factor kind",
              "block pointwise(x: tensor[n, c, h, w]; out: int) -> tensor[n, out, h, w] {\n"
              "  return conv2d(x, out: out, kernel: 1, use_bias: false)\n}\n"
              "block wide(x: tensor[n, c, h, w]; out: int, factor: int, use_bias: bool = true) -> tensor[n, out, h, w] {\n"
              "  return x |> conv2d(out: out * factor, kernel: 1, use_bias: use_bias) |> conv2d(out: out, kernel: 1, "
              "use_bias: use_bias)\n}\n");
  const auto pointwise = built.row({1});
  ASSERT_TRUE(pointwise) << built.errors();
  EXPECT_EQ(parameters(*pointwise), 3 * 4 + 3 * 4 * 4 + 4 * 2);
  const auto wide = built.row({2});
  ASSERT_TRUE(wide) << built.errors();
  EXPECT_EQ(parameters(*wide), 3 * 4 + 3 * (4 * 8 + 8 * 4) + 4 * 2);
}

TEST(Mutate, WidensTheOutermostOutAndKeepsOneStructure) {
  Built built(
      "network base(x: tensor[n, c, h, w]) -> tensor[n, 2] {\n"
      "  var y = x\n for i in 0 .. 2 as stage { y = y |> conv_bn_relu(out: 4) }\n"
      "  return y |> global_avg_pool |> dense(2, use_bias: false)\n}\n"
      "mutate family of base { widen stage[0] as wide: 1, 2, 3 }\n"
      "design d of family {\n factor wide\n input x: [1, 3, 8, 8]\n full\n}\n");
  for (const std::uint32_t level : {0U, 1U, 2U}) {
    const auto row = built.row({level});
    ASSERT_TRUE(row) << built.errors();
    const std::int64_t out = 4 * (static_cast<std::int64_t>(level) + 1);
    // Convolutions without bias, scale and shift of both normalisations, the last layer.
    EXPECT_EQ(parameters(*row), 3 * out * 9 + 2 * out + out * 4 * 9 + 2 * 4 + 4 * 2);
  }
  EXPECT_EQ(built.experiment->structureCount(), 1U);
}

TEST(Mutate, OfAMutation) {
  Built built = mutated("repeat stage[0] as times: 1, 2", "factor times", "");
  ASSERT_TRUE(built.row({1})) << built.errors();
  Built chained(std::string(kBase) +
                "mutate second of first { repeat stage[0].conv2d as inner: 1, 2 }\n"
                "mutate first of base { repeat stage[0] as outer: 1, 2 }\n"
                "design d of second {\n factor inner\n factor outer\n input x: [1, 3, 8, 8]\n full\n}\n");
  const auto row = chained.row({1, 1});
  ASSERT_TRUE(row) << chained.errors();
  EXPECT_EQ(parameters(*row), kPlain + 3 * 4 * 4 * 9);  // two turns of two convolutions where one was
}

TEST(Mutate, TrainsWhatItMade) {
  Built built(std::string(kBase) +
              "network net(x: tensor[n, c, h, w]; width: int = 4) -> tensor[n, 2] { return base(x, width) |> global_avg_pool }\n"
              "mutate inner of base { repeat stage[1].conv2d as times: 1, 2 }\n"
              "network outer(x: tensor[n, c, h, w]; times: int) -> tensor[n, 2] {\n"
              "  return inner(x, times: times) |> global_avg_pool\n}\n"
              "design d of outer {\n factor times: 1, 2\n input x: [1, 3, 8, 8]\n"
              "  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))\n}\n");
  const auto row = built.row({1});
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(parameters(*row), kPlain + 4 * 4 * 9);
  for (const graph::Graph::Weight& weight : row->graph().weights) EXPECT_NE(weight.gradient, graph::kNoTensor);
}

TEST(Mutate, NamesOfTheMutationMeanWhatTheyMeanBesideIt) {
  // `squash` is the program's own; the base is the library's.
  Built built(
      "import std.vision: lenet5\n"
      "operator squash(x: tensor[..s]) -> (y: tensor[..s])\n  elementwise y = x / (1 + abs(x))\n"
      "mutate family of lenet5 { insert squash after avg_pool2d as extra }\n"
      "design d of family {\n factor extra\n input image: [1, 1, 32, 32]\n full\n}\n");
  const auto row = built.row({1});
  ASSERT_TRUE(row) << built.errors();
  EXPECT_NE(chain(*row).find("squash"), std::string::npos);
}

}  // namespace
}  // namespace tbem::test
