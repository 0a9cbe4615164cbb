// What elaboration makes of programs: published sizes, paths, structures shared by rows, conditions.
#include "Fixture.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/ir/Verify.h"
#include "compiler/graph/read/Where.h"

namespace tbem::test {
namespace {

std::string design(const std::string& network, const std::string& input, const std::string& task = "") {
  return "import std.vision: alexnet, vgg, resnet, lenet5, cifar_resnet, small_vgg\ndesign d of " + network + " {\n " + input +
         "\n " + task + "\n}\n";
}
constexpr const char* kTrain = "task train(loss: cross_entropy, optimizer: sgd(lr: 0.01))";

struct Published {
  const char* network;
  std::int64_t parameters;
  std::int64_t convolutionFlops;  ///< 2 x multiply-adds at batch 2, 3x224x224; 0: not compared
};
class PublishedSizes : public testing::TestWithParam<Published> {};

TEST_P(PublishedSizes, MatchTheModelCards) {
  Built built(design(GetParam().network, "input image: [2, 3, 224, 224]"));
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(parameters(*row), GetParam().parameters);
  EXPECT_EQ(graph::verify(row->graph()), std::vector<std::string>{});
  if (GetParam().convolutionFlops != 0) {
    EXPECT_EQ(2 * macs(*row, [](const graph::Op& op) { return op.declaration == "conv2d"; }), GetParam().convolutionFlops);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, PublishedSizes,
    testing::Values(Published{"alexnet", 61'100'840, 2'622'266'112}, Published{"vgg(depth: 11)", 132'863'336, 0},
                    Published{"vgg(depth: 16)", 138'357'544, 61'386'522'624}, Published{"vgg(16, norm: true)", 138'365'992, 0},
                    Published{"resnet(depth: 18)", 11'689'512, 7'254'245'376},
                    Published{"resnet(depth: 50)", 25'557'032, 16'348'545'024}, Published{"resnet(depth: 152)", 60'192'808, 0}));

TEST(Elaborate, ForwardAndBackwardOfResnet18) {
  Built built(design("resnet(depth: 18)", "input image: [2, 3, 224, 224]", kTrain));
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(2 * macs(*row, [](const graph::Op&) { return true; }), 21'296'824'320);
  EXPECT_EQ(graph::verify(row->graph()), std::vector<std::string>{});
  for (const graph::Graph::Weight& weight : row->graph().weights) {
    EXPECT_NE(weight.gradient, graph::kNoTensor);
    EXPECT_NE(weight.after, graph::kNoTensor);
  }
  EXPECT_EQ(row->graph().buffers.size(), 40U);
}

TEST(Elaborate, OneStructureServesAllBatchesAndWidthsOfADepth) {
  Built built(
      "import std.vision: small_vgg\ndesign d of small_vgg {\n factor batch: 4, 8, 16, 32\n factor depth: 11, 13, 16, 19\n"
      " factor width: 16, 32, 48, 64\n input image: [batch, 3, 32, 32]\n " +
      std::string(kTrain) + "\n}\n");
  for (std::uint32_t b = 0; b < 4; ++b) {
    for (std::uint32_t w = 0; w < 4; ++w) {
      const auto row = built.row({b, 0, w});
      ASSERT_TRUE(row) << built.errors();
      EXPECT_EQ(row->shape(row->graph().inputs[0]), (std::vector<std::int64_t>{4LL << b, 3, 32, 32}));
      const std::int64_t width = 16 * (w + 1);
      EXPECT_EQ(row->shape(row->graph().weights[0].value), (std::vector<std::int64_t>{width, 3, 3, 3}));
    }
  }
  EXPECT_EQ(built.experiment->structureCount(), 1U);
  ASSERT_TRUE(built.row({0, 1, 0}));
  EXPECT_EQ(built.experiment->structureCount(), 2U);
}

TEST(Elaborate, ParametersOfSmallVggFollowTheClosedForm) {
  // Convolutions without bias: 9 * in * out; batch norm: 2 * out; the classifier: 8w * 10 + 10 on a 1x1 image.
  Built built(
      "import std.vision: small_vgg\ndesign d of small_vgg {\n factor width: 16, 20\n factor depth: 13\n input image: [2, 3, 32, "
      "32]\n}\n");
  for (std::uint32_t level = 0; level < 2; ++level) {
    const auto row = built.row({level});
    ASSERT_TRUE(row) << built.errors();
    const std::int64_t w = level == 0 ? 16 : 20;
    std::int64_t expected = 0, in = 3;
    for (const std::int64_t factor : {1, 2, 4, 8, 8}) {
      for (int i = 0; i < 2; ++i) {
        expected += 9 * in * w * factor + 2 * w * factor;
        in = w * factor;
      }
    }
    EXPECT_EQ(parameters(*row), expected + 8 * w * 10 + 10);
  }
}

TEST(Elaborate, PathsFollowTheLanguage) {
  Built built(R"(
block unit(x: tensor[n, c, h, w]; out: int) -> tensor[n, out, h, w] {
  weight scale: tensor[out] init ones
  return x |> conv2d(out, kernel: 1) |> conv2d(out, kernel: 1, use_bias: false)
}
network net(x: tensor[n, c, h, w]) -> tensor[n, 2] {
  let stem = conv2d(out: 4, kernel: 1)
  var y = x |> stem |> stem2d(3)
  for i in 0 .. 2 as stage { y = y |> unit(4) |> unit(4) }
  for i in 0 .. 2 { y = y |> batch_norm }
  for i in 0 .. 1 { y = y |> conv2d(out: 4, kernel: 1, use_bias: false) }
  return y |> flatten |> dense(2)
}
block stem2d(x: tensor[n, c, h, w]; k: int) -> tensor[n, c, h, w] {
  let shared = conv2d(out: 4, kernel: k, pad: 1, use_bias: false)
  return shared(shared(x))
}
design d of net { input x: [1, 4, 2, 2] }
)");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(weightPaths(*row), (std::vector<std::string>{"stem.weight",
                                                         "stem.bias",
                                                         "stem2d.shared.weight",
                                                         "stage[0].unit.scale",
                                                         "stage[0].unit.conv2d.weight",
                                                         "stage[0].unit.conv2d.bias",
                                                         "stage[0].unit.conv2d_2.weight",
                                                         "stage[0].unit_2.scale",
                                                         "stage[0].unit_2.conv2d.weight",
                                                         "stage[0].unit_2.conv2d.bias",
                                                         "stage[0].unit_2.conv2d_2.weight",
                                                         "stage[1].unit.scale",
                                                         "stage[1].unit.conv2d.weight",
                                                         "stage[1].unit.conv2d.bias",
                                                         "stage[1].unit.conv2d_2.weight",
                                                         "stage[1].unit_2.scale",
                                                         "stage[1].unit_2.conv2d.weight",
                                                         "stage[1].unit_2.conv2d.bias",
                                                         "stage[1].unit_2.conv2d_2.weight",
                                                         "for[0].batch_norm.weight",
                                                         "for[0].batch_norm.bias",
                                                         "for[1].batch_norm.weight",
                                                         "for[1].batch_norm.bias",
                                                         "for_2[0].conv2d.weight",
                                                         "dense.weight",
                                                         "dense.bias"}));
}

TEST(Elaborate, ASharedBlockHasItsWeightsOnce) {
  Built built(R"(
block unit(x: tensor[n, c]) -> tensor[n, c] { return x |> dense(c) |> relu |> dense(c) }
network net(x: tensor[n, c]) -> tensor[n, c] {
  let b = unit()
  return b(b(x))
}
design d of net { input x: [5, 3]
  task train(loss: mse, optimizer: sgd(lr: 1)) }
)");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(weightPaths(*row),
            (std::vector<std::string>{"b.dense.weight", "b.dense.bias", "b.dense_2.weight", "b.dense_2.bias"}));
  EXPECT_EQ(parameters(*row), 2 * (9 + 3));
  EXPECT_EQ(graph::verify(row->graph()), std::vector<std::string>{});
}

TEST(Elaborate, TiedWeightsOfAnotherLayer) {
  Built built(R"(
network net(x: tensor[n, c]) -> tensor[n, c] {
  let code = dense(2, use_bias: false)
  return matmul(code(x), code.weight)
}
design d of net { input x: [5, 3]
  task train(loss: mse, optimizer: sgd(lr: 1)) }
)");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(weightPaths(*row), (std::vector<std::string>{"code.weight"}));
  EXPECT_EQ(graph::verify(row->graph()), std::vector<std::string>{});
}

TEST(Elaborate, BatchNormUpdatesItsBuffersInPlace) {
  Built built(
      "network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return batch_norm(x) }\n"
      "design d of net { input x: [2, 3, 4, 4]\n task train(loss: mse, optimizer: sgd(lr: 1)) }\n");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& g = row->graph();
  ASSERT_EQ(g.buffers.size(), 2U);
  for (const graph::TensorId buffer : g.buffers) {
    int writers = 0;
    for (const graph::Op& op : g.ops)
      for (const graph::TensorId result : op.outputs) writers += g[result].storage == g[buffer].storage ? 1 : 0;
    EXPECT_EQ(writers, 1) << g[g[buffer].storage].path;
  }
}

TEST(Elaborate, NoGradientForTheImageOrTheTarget) {
  Built built(design("lenet5", "input image: [2, 1, 28, 28]", kTrain));
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  int inputGradients = 0, convolutions = 0;
  for (const graph::Op& op : row->graph().ops) {
    inputGradients += op.declaration == "conv2d_input_gradient" ? 1 : 0;
    convolutions += op.declaration == "conv2d" ? 1 : 0;
  }
  EXPECT_EQ(convolutions, 2);
  EXPECT_EQ(inputGradients, 1);
}

TEST(Elaborate, ALearningRateIsAScalarAndNoStructure) {
  Built built(
      "design d of mlp(widths: [4, 2]) {\n factor lr: 0.1, 0.01, 0.001\n factor batch: 2, 3\n input x: [batch, 5]\n"
      " task train(loss: cross_entropy, optimizer: sgd(lr: lr))\n}\n");
  for (std::uint32_t level = 0; level < 3; ++level) ASSERT_TRUE(built.row({level, level % 2})) << built.errors();
  EXPECT_EQ(built.experiment->structureCount(), 1U);
  const auto row = built.row({2, 0});
  bool found = false;
  for (const graph::RuntimeScalar& scalar : row->graph().scalars) {
    if (scalar.name != "optimizer.lr") continue;
    found = true;
    EXPECT_EQ(row->values[scalar.value], *Rational::parse("0.001"));
  }
  EXPECT_TRUE(found);
}

TEST(Elaborate, OptimisersAndNetworksAsLevels) {
  Built built(
      "import std.vision: cifar_resnet, lenet5\ndesign d of model {\n factor model: cifar_resnet(depth: 20), mlp(widths: [10])\n"
      " factor optimizer: sgd(lr: 0.1), sgd(lr: 0.1, momentum: 0.9), adam\n factor batch: 2, 4\n"
      " input image: [batch, 3, 32, 32]\n task train(loss: cross_entropy, optimizer: optimizer)\n}\n");
  const auto plain = built.row({0, 0, 0}), momentum = built.row({0, 1, 0}), adam = built.row({0, 2, 1});
  ASSERT_TRUE(plain && momentum && adam) << built.errors();
  EXPECT_EQ(parameters(*plain), 269'722);
  EXPECT_EQ(plain->graph().states.size(), 0U);
  EXPECT_EQ(momentum->graph().states.size(), plain->graph().weights.size());
  EXPECT_EQ(adam->graph().states.size(), 2 * plain->graph().weights.size());
  EXPECT_EQ(built.experiment->structureCount(), 3U);
}

TEST(Elaborate, ABrokenConditionNamesLevelsValuesAndShapes) {
  Built built(
      "network net(x: tensor[n, 3, h, w]) -> tensor[n, k] {\n return x |> max_pool2d(kernel: 2) |> conv2d(out: 2, kernel: 5) |> "
      "flatten\n}\n"
      "design d of net {\n factor size: 16, 8\n input x: [1, 3, size, size]\n}\n");
  EXPECT_TRUE(built.row({0})) << built.errors();
  EXPECT_FALSE(built.row({1}));
  ASSERT_EQ(built.session.sink.errorCount(), 1U) << built.errors();
  const Diagnostic& d = built.session.sink.all().back();
  EXPECT_EQ(d.kind, diag::pre_violated);
  EXPECT_EQ(d.levels, (std::vector<std::pair<std::string, std::string>>{{"size", "8"}}));
  EXPECT_NE(built.errors().find("x [1, 3, 8, 8] -> max_pool2d [1, 3, 4, 4]"), std::string::npos) << built.errors();
  EXPECT_EQ(built.experiment->structureCount(), 1U);
}

TEST(Elaborate, AMistakeOfSeveralRowsIsToldOnce) {
  Built built(
      "network net(x: tensor[n, c]; depth: int) -> tensor[n, 2] {\n return x |> dense([4, 8][depth]) |> dense(2)\n}\n"
      "design d of net {\n factor depth: 2, 3, 4\n input x: [4, 8]\n}\n");
  for (std::uint32_t level = 0; level < 3; ++level) EXPECT_FALSE(built.row({level}));
  EXPECT_EQ(built.session.sink.all().size(), 1U) << built.errors();
  EXPECT_EQ(built.session.sink.all().front().levels, (std::vector<std::pair<std::string, std::string>>{{"depth", "2"}}));
}

TEST(Elaborate, OnlyLevelsThatMatterAreNamed) {
  Built built(
      "network net(x: tensor[n, c]; width: int) -> tensor[n, 2] {\n assert width < 5, \"too wide\"\n return x |> dense(2)\n}\n"
      "design d of net {\n factor batch: 2, 3\n factor width: 4, 6\n input x: [batch, 8]\n}\n");
  EXPECT_TRUE(built.row({0, 0})) << built.errors();
  EXPECT_FALSE(built.row({1, 1}));
  ASSERT_EQ(built.session.sink.all().size(), 1U) << built.errors();
  EXPECT_EQ(built.session.sink.all().front().levels, (std::vector<std::pair<std::string, std::string>>{{"width", "6"}}));
}

TEST(Elaborate, ElementTypesFollowTheOption) {
  Built built(design("lenet5", "input image: [2, 1, 28, 28]", kTrain), {.dtype = TBEM_F64});
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  for (const graph::Tensor& tensor : row->graph().tensors) {
    EXPECT_EQ(tensor.dtype, tensor.name == "target" ? TBEM_I64 : TBEM_F64) << tensor.name;
  }
}

TEST(Elaborate, NestedFactorsExistUnderTheirParentOnly) {
  Built built(
      "network net(x: tensor[n, 3, h, w]; kind: string, kernel: int = 1) -> tensor[n, 2, h, w] {\n"
      " return if kind = \"conv\" then conv2d(x, out: 2, kernel: kernel, pad: kernel div 2) else conv2d(x, out: 2, kernel: 1, "
      "use_bias: false)\n}\n"
      "design d of net {\n factor kind: \"conv\", \"plain\"\n factor kernel: 3, 5 under kind = \"conv\"\n input x: [1, 3, 8, "
      "8]\n}\n");
  const auto five = built.row({0, 1}), plain = built.row({1, 0});
  ASSERT_TRUE(five && plain) << built.errors();
  EXPECT_EQ(parameters(*five), 2 * 3 * 25 + 2);
  EXPECT_EQ(parameters(*plain), 2 * 3);
}

TEST(Elaborate, WhereIsCheckedAtLevels) {
  Built built(
      "design d of mlp {\n factor widths: [4, 2], [8, 2]\n factor batch: 2, 4\n input x: [batch, 3]\n where batch <= 2 or "
      "len(widths) < 2\n}\n");
  const std::uint32_t small[] = {0, 0}, large[] = {0, 1};
  const std::vector<graph::RowCondition> conditions = graph::rowConditions(*built.spec);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(graph::holds(built.session, *built.program, *built.spec, conditions[0], small, {}), true) << built.errors();
  EXPECT_EQ(graph::holds(built.session, *built.program, *built.spec, conditions[0], large, {}), false);
}

TEST(Elaborate, RequiresOfAProcess) {
  const std::string text = R"(
process fits(W1, F, P, S: int) y: bool
pre  S >= 1
post ((W1 - F + 2 * P) mod S = 0 and y = true) or ((W1 - F + 2 * P) mod S <> 0 and y = false)
end_process
network net(x: tensor[n, 3, h, w]) -> tensor[n, 2, oh, ow]
  requires fits(h, 3, 1, 2)
{
  return conv2d(x, out: 2, kernel: 3, pad: 1, stride: 2)
}
)";
  Built good(text + "design d of net { input x: [1, 3, 7, 7] }\n"), bad(text + "design d of net { input x: [1, 3, 8, 8] }\n");
  EXPECT_TRUE(good.row()) << good.errors();
  EXPECT_FALSE(bad.row());
  EXPECT_EQ(bad.session.sink.all().back().kind, diag::requirement_violated) << bad.errors();
}

TEST(Elaborate, RowsThatBreakTheSameConditionTellTheirLevels) {
  Built built(R"(
network net(x: tensor[n, c]; width: int) -> tensor[n, width]
  pre width mod 4 = 0
{
  return dense(x, width)
}
design d of net {
  factor width: 4, 7, 8, 10
  factor batch: 1, 2
  input x: [batch, 3]
}
)");
  for (std::uint32_t width = 0; width < 4; ++width) {
    for (std::uint32_t batch = 0; batch < 2; ++batch) EXPECT_EQ(built.row({width, batch}).has_value(), width % 2 == 0);
  }
  using Levels = std::vector<std::pair<std::string, std::string>>;
  ASSERT_EQ(built.session.sink.all().size(), 1U) << built.errors();
  EXPECT_EQ(built.session.sink.all()[0].levels, (Levels{{"width", "7"}}));
  EXPECT_EQ(built.session.sink.all()[0].also, (std::vector<Levels>{{{"width", "10"}}}));
}

}  // namespace
}  // namespace tbem::test
