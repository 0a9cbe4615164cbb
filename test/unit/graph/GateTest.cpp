// Gates as regions: what lies in an arm, what is joined, what is refused.
#include "Fixture.h"
#include "compiler/graph/ir/Verify.h"
#include "compiler/graph/ir/Walk.h"

namespace tbem::test {
namespace {

constexpr const char* kSkip = R"(
network net(x: tensor[n, c, h, w]; tau: real = 0.5) -> tensor[n, c, h, w] {
  let g = x |> global_avg_pool |> dense(1) |> sigmoid |> reshape([n])
  let y = skip conv2d(x, out: c, kernel: 3, pad: 1) when g <= tau leaving x
  return relu(y)
}
)";

TEST(Gates, ASkipOwnsARegionAnArm) {
  Built built(std::string(kSkip) + "design d of net { input x: [2, 3, 4, 4] }\n");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& g = row->graph();
  EXPECT_EQ(graph::verify(g), std::vector<std::string>{});
  ASSERT_EQ(g.regions.size(), 3U);
  const graph::Op& gate = g[g.regions[1].owner];
  EXPECT_EQ(gate.kind, graph::OpKind::Skip);
  EXPECT_EQ(gate.regions, (std::vector<graph::RegionId>{static_cast<graph::RegionId>(1), static_cast<graph::RegionId>(2)}));
  ASSERT_EQ(g.regions[1].ops.size(), 1U);
  EXPECT_EQ(g[g.regions[1].ops[0]].declaration, "conv2d");
  EXPECT_TRUE(g.regions[2].ops.empty());
  const graph::Op& last = g[g.regions[0].ops.back()];
  EXPECT_EQ(last.declaration, "relu");
  EXPECT_EQ(g[g[last.inputs[0]].producer].kind, graph::OpKind::Join);
}

TEST(Gates, TheThresholdIsAScalarOfTheStep) {
  Built built(std::string(kSkip) + "design d of net { factor tau: 0.3, 0.5\n input x: [2, 3, 4, 4] }\n");
  ASSERT_TRUE(built.row({0})) << built.errors();
  ASSERT_TRUE(built.row({1})) << built.errors();
  EXPECT_EQ(built.experiment->structureCount(), 1U);
}

TEST(Gates, ATrainingStepHasNone) {
  Built built(std::string(kSkip) +
              "design d of net { input x: [2, 3, 4, 4]\n task train(loss: mse, optimizer: sgd(lr: 0.1)) }\n");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  EXPECT_EQ(graph::firstGate(row->graph()), nullptr);
  for (const graph::Graph::Weight& weight : row->graph().weights) EXPECT_NE(weight.gradient, graph::kNoTensor);
}

TEST(Gates, ExitsAreJoinedWithTheLastResult) {
  Built built(R"(
network net(x: tensor[n, c]; stages: list of block, tau: real = 0.5) -> tensor[n, 4] {
  var y = x
  for s in 0 .. len(stages) {
    y = y |> stages[s]
    let z = y |> dense(4)
    exit z when z |> softmax(axis: 1) |> max(axis: 1) >= tau
  }
  return y |> dense(4)
}
design d of net(stages: [dense(8), dense(6)]) { input x: [2, 3] }
)");
  const auto row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& g = row->graph();
  EXPECT_EQ(graph::verify(g), std::vector<std::string>{});
  int exits = 0;
  for (const graph::Op& op : g.ops) exits += op.kind == graph::OpKind::Exit ? 1 : 0;
  EXPECT_EQ(exits, 2);
  const graph::Op& last = g[g[g.outputs[0]].producer];
  EXPECT_EQ(last.kind, graph::OpKind::Join);
  EXPECT_EQ(last.inputs.size(), 3U);
  EXPECT_EQ(parameters(*row), (3 * 8 + 8) + (8 * 4 + 4) + (8 * 6 + 6) + (6 * 4 + 4) + (6 * 4 + 4));
}

}  // namespace
}  // namespace tbem::test
