// Steps that compute activations again give, bit for bit, what the step as it is gives; what is repeated, and how often.
#include "Fixture.h"
#include "test/oracle/Graph.h"

#include "compiler/graph/ir/Verify.h"
#include "compiler/graph/pass/Checkpoint.h"

#include <random>

namespace tbem::test {
namespace {

/// Networks of x: tensor[n, 3, 6, 6].
const char* const kBodies[] = {
    "return x |> conv2d(out: 4, kernel: 3) |> batch_norm |> relu |> conv2d(out: 2, kernel: 1) |> sigmoid |> flatten |> dense(3)",
    "let y = conv2d(x, out: 3, kernel: 3, pad: 1)\n let z = y + relu(batch_norm(conv2d(y, out: 3, kernel: 1)))\n return "
    "z + tanh(conv2d(z, out: 3, kernel: 3, pad: 1)) * y",
    "return x |> conv2d(out: 4, kernel: 1) |> dropout(p: 0.3) |> gelu |> dropout(p: 0.5) |> max_pool2d(kernel: 2) |> flatten |> "
    "dense(2)",
    "let parts = split(conv2d(x, out: 4, kernel: 1), sizes: [1, 3], axis: 1)\n let y = concat([tanh(parts[1]), parts[0]], axis: "
    "1)\n return y |> reshape(shape: [2, 4, 36]) |> transpose |> softmax(axis: 2) |> dense(2)",
};

std::string training(const std::string& body) {
  return "network net(x: tensor[n, c, h, w]) -> tensor[..s] {\n " + body +
         "\n}\ndesign d of net {\n input x: [2, 3, 6, 6]\n task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n";
}

/// The loss, then all gradients, then what outlives the step beside weights.
std::vector<std::vector<double>> results(const graph::Row& row) {
  const graph::Graph& g = row.graph();
  oracle::GraphInterpreter run(row);
  run.fillNormal(3);
  run.run(graph::Phase::Backward);
  std::vector<std::vector<double>> all{run.of(g.loss)};
  for (const graph::Graph::Weight& weight : g.weights) all.push_back(run.of(weight.gradient));
  for (std::uint32_t t = 0; t < g.tensors.size(); ++t) {
    const auto tensor = static_cast<graph::TensorId>(t);
    if (g[g[tensor].storage].kind == graph::StorageClass::Buffer) all.push_back(run.of(tensor));
  }
  return all;
}

std::vector<bool> randomKeep(std::size_t storages, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<bool> keep(storages);
  for (std::size_t s = 0; s < storages; ++s) keep[s] = seed > 1 ? random() % 2 == 0 : seed == 1;  // 0: none, 1: all
  return keep;
}

/// Each at most once, and nothing that leaves something behind; the backward pass reads no forward value that was not kept.
void expectSoundRepetitions(const graph::Graph& before, const graph::Graph& after, const std::vector<bool>& keep) {
  std::vector<int> times(before.ops.size(), 0);
  for (const graph::Op& op : after.ops) {
    if (op.repeats) ++times[graph::index(op.forward)];
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_LE(times[i], 1) << before.ops[i].declaration;
    for (const graph::TensorId output : before.ops[i].outputs) {
      const bool lasts = before[before[output].storage].kind != graph::StorageClass::Activation;
      EXPECT_TRUE(!lasts || times[i] == 0) << before.ops[i].declaration;
    }
  }
  const graph::Repeatable which = graph::repeatable(before);
  for (const graph::Op& op : after.ops) {
    if (op.phase == graph::Phase::Forward) continue;
    for (const graph::TensorId input : op.inputs) {
      if (input == graph::kNoTensor || after[input].producer == graph::kNoOp) continue;
      const graph::Op& maker = after[after[input].producer];
      const std::uint32_t storage = graph::index(after[input].storage);
      if (maker.phase != graph::Phase::Forward || storage >= keep.size() || !which.can[storage]) continue;
      EXPECT_TRUE(keep[storage]) << op.declaration << " reads what " << maker.declaration << " made and did not keep";
    }
  }
}

TEST(Checkpoint, GivesTheSameBitsWhateverIsKept) {
  for (const char* body : kBodies) {
    SCOPED_TRACE(body);
    Built built(training(body), {.dtype = TBEM_F64});
    const std::optional<graph::Row> row = built.row();
    ASSERT_TRUE(row) << built.errors();
    const graph::Graph& graph = row->graph();
    const std::vector<std::vector<double>> expected = results(*row);
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(seed);
      const std::vector<bool> keep = randomKeep(graph.storages.size(), seed);
      graph::Row again = *row;
      again.recomputed = graph::recompute(graph, keep);
      EXPECT_EQ(graph::verify(again.graph()), std::vector<std::string>{});
      expectSoundRepetitions(graph, again.graph(), keep);
      const std::size_t added = again.graph().ops.size() - graph.ops.size();
      EXPECT_TRUE(seed == 0 ? added > 0 : seed != 1 || added == 0) << added;
      const std::vector<std::vector<double>> got = results(again);
      ASSERT_EQ(got.size(), expected.size());
      EXPECT_EQ(got, expected);
    }
  }
}

/// Of two blocks one is named: what is made and used up inside it is dropped, what crosses its edge and the other block are kept.
TEST(Checkpoint, OfABlockKeepsWhatCrossesItsEdge) {
  Built built(
      "block part(x: tensor[n, c]) -> tensor[n, c] { return x |> dense(c) |> tanh |> dense(c) |> sigmoid }\n"
      "network net(x: tensor[n, c]) -> tensor[n, c] {\n var y = x\n for i in 0 .. 2 as stage { y = part(y) }\n return y\n}\n"
      "design d of net {\n input x: [2, 3]\n task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n",
      {.dtype = TBEM_F64});
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& graph = row->graph();
  graph::CheckpointSpec spec;
  spec.kind = graph::CheckpointSpec::Kind::Places;
  spec.places = {"stage[0].part"};
  const graph::ScopeChoice choice = graph::scopesOf(graph, spec);
  EXPECT_EQ(choice.unmet, "");
  const std::vector<bool> keep = graph::keepOutside(graph, choice.scopes);
  std::vector<std::string> dropped;
  for (const graph::Op& op : graph.ops) {
    if (op.phase != graph::Phase::Forward || op.kind == graph::OpKind::View || keep[graph::index(graph[op.outputs[0]].storage)])
      continue;
    dropped.push_back(graph.scopes[graph::index(op.scope)].path + ":" + op.declaration);
  }
  EXPECT_EQ(dropped, (std::vector<std::string>{"stage[0].part:dense", "stage[0].part:tanh", "stage[0].part:dense"}));
  spec.places = {"stage[7].part"};
  EXPECT_EQ(graph::scopesOf(graph, spec).unmet, "stage[7].part");
}

}  // namespace
}  // namespace tbem::test
