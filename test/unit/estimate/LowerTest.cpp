// Lowered programs against the graph's meaning, run operator by operator.
#include "Machine.h"
#include "SmallNets.h"

#include "compiler/count/Layout.h"
#include "compiler/count/Static.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/Lower.h"
#include "compiler/plan/Plan.h"

#include <gtest/gtest.h>

using namespace tbem;
using namespace tbem::test;
using estimate::lower;
using estimate::LowerOptions;
using estimate::Program;

namespace {
Program lowered(const Net& net, const tbem_backend& backend, const LowerOptions& options) {
  auto program = lower(net.g, net.values(), backend, options);
  if (!program)
    throw std::runtime_error(std::string(info(program.error().kind).message) +
                             (program.error().arguments.empty() ? "" : ": " + program.error().arguments.back()));
  return std::move(*program);
}

std::vector<TensorId> wantedOf(const Net& net) {
  std::vector<TensorId> wanted = net.g.outputs;
  if (net.g.loss != graph::kNoTensor) wanted.push_back(net.g.loss);
  for (const graph::Graph::Weight& weight : net.g.weights) {
    if (weight.gradient != graph::kNoTensor) wanted.push_back(weight.gradient);
    if (weight.after != graph::kNoTensor) wanted.push_back(weight.after);
  }
  for (const graph::Op& op : net.g.ops) {
    if (op.declaration == "running") wanted.push_back(op.outputs[0]);
  }
  return wanted;
}

void expectSound(const Program& program) {
  std::vector<estimate::Request> requests;
  std::vector<std::uint64_t> offsets;
  std::uint64_t top = 0;
  for (const estimate::Allocation& a : program.allocations) {
    requests.push_back({a.bytes, a.first, a.last});
    offsets.push_back(a.offset);
    top = std::max(top, a.offset + a.bytes);
  }
  EXPECT_EQ(estimate::checkOverlap(requests, offsets).value_or(""), "");
  EXPECT_LE(top, program.arena);
  EXPECT_LE(program.live, program.arena);
  std::uint64_t kinds = program.gaps;
  for (const std::uint64_t bytes : program.kinds) kinds += bytes;
  EXPECT_EQ(kinds, program.arena);
}

/// Every result of the planned, fused, blocked program equals the graph's, bit for bit: the same f64 operations on the same
/// values.
void expectSameResults(const Net& net, const tbem_backend& backend, bool fuse) {
  const sema::Values values = net.values();
  Host host = initialValues(net.g, values);
  const Host initial = host;
  runGraph(net.g, values, host);
  const Program program = lowered(net, backend, {.keepGradients = true, .keepOutputs = true, .fuse = fuse});
  expectSound(program);
  for (const auto& [tensor, data] : runProgram(net.g, program, backend, initial, wantedOf(net))) {
    ASSERT_EQ(data.size(), host.at(tensor).size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      ASSERT_EQ(data[i], host.at(tensor)[i]) << net.g[net.g[tensor].storage].path << " " << net.g[tensor].name << " of tensor "
                                             << graph::index(tensor) << ", element " << i;
    }
  }
}

std::size_t count(const Program& program, const std::string& name) {
  std::size_t found = 0;
  for (const estimate::Step& step : program.steps) found += step.name == name ? 1 : 0;
  return found;
}

TEST(Lower, TrainingStepMeansTheSame) {
  for (const bool fuse : {false, true}) {
    for (const tbem_backend* backend : {tbem_backend_ref(), &blockedBackend()}) {
      SCOPED_TRACE(std::string(backend->name) + (fuse ? ", fused" : ""));
      expectSameResults(smallVgg({1, 2}, 2, 16, 8, true), *backend, fuse);
      expectSameResults(smallResnet({1, 2}, 2, 16, 8, true), *backend, fuse);
    }
  }
}

TEST(Lower, WidthsThatFitNoBlockMeanTheSame) {
  expectSameResults(smallResnet({1, 1}, 2, 6, 8, true), blockedBackend(), true);
  expectSameResults(smallVgg({1, 1}, 3, 8, 8, true), blockedBackend(), true);  // 8 channels, then 16
}

TEST(Lower, InferenceMeansTheSame) { expectSameResults(smallResnet({2, 1}, 2, 16, 8, false), blockedBackend(), true); }

TEST(Lower, ABufferReadAcrossItsElementsIsNotOverwrittenWhileRead) {
  Net net;
  const TensorId x = net.input("x", {5, 5});
  net.transposedMemory(x);
  net.output(net.relu(x));
  expectSameResults(net, *tbem_backend_ref(), true);
}

TEST(Lower, NormalisationAdditionAndReluAreOneLoop) {
  const Net net = smallResnet({1, 1}, 2, 16, 8, true);
  const Program program = lowered(net, blockedBackend(), {});
  // Block 2: its second normalisation, that of the shortcut, the addition and the relu.
  EXPECT_EQ(count(program, "batch_normalize+add+relu"), 2U);
  EXPECT_EQ(count(program, "batch_normalize"), 6U) << "gradients stand alone: their sums lie between";
  EXPECT_EQ(count(program, "add+relu"), 2U) << "where a gradient comes from two sides";
  EXPECT_EQ(count(program, "relu"), 3U);
  EXPECT_EQ(count(program, "add"), 0U);
}

TEST(Lower, ReordersOnlyWeightsOfInputGradients) {
  // 16 channels everywhere: images never leave their layout; the last View is of one pixel, where blocked is row-major.
  const Net net = smallVgg({1, 1, 1}, 2, 16, 8, true);
  const Program program = lowered(net, blockedBackend(), {});
  std::vector<std::string> reordered;
  for (const estimate::NativeCall& call : program.calls) {
    if (call.primitive == TBEM_PRIMITIVE_reorder) reordered.push_back(program[call.operands[0]].name);
  }
  EXPECT_EQ(reordered, (std::vector<std::string>{"conv5.weight", "conv3.weight"}));
}

TEST(Lower, WeightsGradientsAndStatesShareOneLayout) {
  const Net net = smallVgg({1, 1}, 2, 16, 8, true);
  const Program program = lowered(net, blockedBackend(), {.keepGradients = true});
  for (const graph::Graph::Weight& weight : net.g.weights) {
    const tbem_operand& before = program[program.bufferOf[graph::index(weight.value)]].operand;
    EXPECT_TRUE(estimate::samePlaces(before, program[program.bufferOf[graph::index(weight.gradient)]].operand));
    EXPECT_TRUE(estimate::samePlaces(before, program[program.bufferOf[graph::index(weight.after)]].operand));
    EXPECT_EQ(program[program.bufferOf[graph::index(weight.value)]].allocation,
              program[program.bufferOf[graph::index(weight.after)]].allocation);
  }
  EXPECT_EQ(program[program.bufferOf[graph::index(net.g.weights[3].value)]].operand.layout.blocks, 2);
}

TEST(Lower, UpdatesFollowTheirGradients) {
  // Gradients are large here, activations small: were updates at the end, all gradients would live at once.
  const Net net = smallVgg({1, 1, 1}, 1, 16, 8, true);
  const Program program = lowered(net, *tbem_backend_ref(), {});
  std::uint64_t gradients = 0;
  for (const estimate::Allocation& a : program.allocations) gradients += a.kind == estimate::Kind::Gradients ? a.bytes : 0;
  EXPECT_LT(program.kinds[static_cast<std::size_t>(estimate::Kind::Gradients)], gradients * 9 / 10);
  EXPECT_EQ(count(program, "sgd"), 8U)
      << "4 weights of their own shape, the dense bias, 3 normalisations with both vectors in one loop";
}

TEST(Lower, ArenaIsNearItsBound) {
  for (const Net& net : {smallVgg({2, 2, 4, 4, 4}, 16, 16, 32, true), smallResnet({2, 2, 2}, 8, 16, 32, true),
                         smallResnet({2, 2, 2}, 8, 16, 32, false)}) {
    const Program program = lowered(net, blockedBackend(), {});
    EXPECT_LE(static_cast<double>(program.arena), 1.05 * static_cast<double>(program.live));
  }
}

TEST(Lower, ValuesWithinALoopAreNotStored) {
  const Net net = smallVgg({1, 1, 2, 2, 2}, 16, 16, 32, true);
  const Program program = lowered(net, blockedBackend(), {});
  for (const graph::Op& op : net.g.ops) {
    if (op.declaration != "batch_normalize" || op.phase != graph::Phase::Forward) continue;
    EXPECT_EQ(program.bufferOf[graph::index(op.outputs[0])], estimate::kNoBuffer);
  }
  // Small vectors may live longer, so that their loops can merge.
  const Program apart = lowered(net, blockedBackend(), {.fuse = false});
  EXPECT_LE(program.arena, apart.arena + apart.arena / 1000);
  EXPECT_LT(program.steps.size(), apart.steps.size());
}

TEST(Lower, ResultsTakeThePlaceOfOperandsThatDie) {
  // Inference: the relu's result lies where the convolution's did.
  const Net net = smallVgg({2}, 4, 16, 16, false);
  const Program program = lowered(net, blockedBackend(), {});
  int found = 0;
  for (const graph::Op& op : net.g.ops) {
    if (op.declaration != "relu") continue;
    const estimate::Buffer& result = program[program.bufferOf[graph::index(op.outputs[0])]];
    const graph::Op& norm = net.g[net.g[op.inputs[0]].producer];
    const auto full =
        std::find_if(norm.inputs.begin(), norm.inputs.end(), [&net](TensorId t) { return net.shape(t).size() == 4; });
    const estimate::Buffer& image = program[program.bufferOf[graph::index(*full)]];
    EXPECT_EQ(result.allocation, image.allocation);
    ++found;
  }
  EXPECT_EQ(found, 2);
}

TEST(Lower, EqualQuestionsAreAskedOnce) {
  const Net net = smallVgg({2, 2, 4, 4, 4}, 4, 16, 32, true);
  estimate::QueryCache cache;
  const int before = blockedQueries();
  lowered(net, blockedBackend(), {.cache = &cache});
  const int asked = blockedQueries() - before;
  EXPECT_EQ(static_cast<std::size_t>(asked), cache.size());
  lowered(net, blockedBackend(), {.cache = &cache});
  EXPECT_EQ(blockedQueries() - before, asked);
}

TEST(Lower, RefusalsAreDiagnostics) {
  Net net = smallVgg({1}, 2, 16, 8, true);
  for (graph::Op& op : net.g.ops) {
    if (op.primitive == TBEM_PRIMITIVE_max_pool2d) op.attributes.own()[0].values.pop_back();
  }
  const auto program = lower(net.g, net.values(), blockedBackend(), {});
  ASSERT_FALSE(program.has_value());
  DiagnosticSink sink;
  EXPECT_EQ(program.error().kind, diag::row_without_number);
  EXPECT_EQ(program.error().report(sink).message, "this row cannot be estimated: `kernel` of `max_pool2d` has 1 values, not 2");
}

TEST(Lower, AValueThatIsOverwrittenBeforeItsReaderIsRefused) {
  // The updated weight is needed by an operator that the update itself needs.
  Net net = smallVgg({1}, 2, 16, 8, true);
  graph::Graph& g = net.g;
  const graph::Graph::Weight& weight = g.weights[0];
  for (graph::Op& op : g.ops) {
    if (op.primitive == TBEM_PRIMITIVE_conv2d) op.inputs[1] = weight.after;
  }
  const auto program = lower(g, net.values(), blockedBackend(), {});
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, diag::value_overwritten);
}

TEST(Lower, AlgorithmsFollowTheirChoices) {
  const Net net = smallVgg({1, 1}, 2, 16, 8, true);
  const auto convolutions = [](const estimate::Program& program) {
    std::vector<estimate::NativeCall> calls;
    for (const estimate::NativeCall& call : program.calls) {
      if (call.implementation == "blocked" || call.implementation == "other") calls.push_back(call);
    }
    return calls;
  };
  for (const estimate::NativeCall& call : convolutions(lowered(net, blockedBackend(), {}))) {
    EXPECT_EQ(call.choice, "") << "without choices nothing is assumed";
    EXPECT_FALSE(call.assumed);
  }
  estimate::Choices choices;
  const auto untimed = convolutions(lowered(net, blockedBackend(), {.choices = &choices}));
  ASSERT_GE(untimed.size(), 5U);
  for (const estimate::NativeCall& call : untimed) {
    EXPECT_TRUE(call.assumed);
    EXPECT_EQ(call.algorithm, 0);
    EXPECT_EQ(call.choice.substr(0, 6), "conv2d");
    choices[call.choice] = estimate::chooseAlgorithm({1.0, 0.5});
  }
  choices[untimed[0].choice] = estimate::chooseAlgorithm({1.0, 0.96});
  std::uint64_t workspace = 0;
  for (const estimate::NativeCall& call : convolutions(lowered(net, blockedBackend(), {.choices = &choices}))) {
    EXPECT_FALSE(call.assumed);
    const bool first = call.choice == untimed[0].choice;
    EXPECT_EQ(call.algorithm, first ? 0 : 1);
    EXPECT_EQ(call.implementation, first ? "blocked" : "other");
    workspace += call.workspace == estimate::kNoBuffer ? 0 : 1;
  }
  EXPECT_EQ(workspace, untimed.size());
}

TEST(Lower, AnotherAlgorithmMustBeWorthItsMemory) {
  EXPECT_EQ(estimate::chooseAlgorithm({1.0}).algorithm, 0);
  EXPECT_EQ(estimate::chooseAlgorithm({1.0, 0.951}).algorithm, 0);
  EXPECT_EQ(estimate::chooseAlgorithm({1.0, 0.95}).algorithm, 1);
  EXPECT_EQ(estimate::chooseAlgorithm({1.0, 0.9, 0.8}).algorithm, 2);
  EXPECT_EQ(estimate::chooseAlgorithm({1.0, -1, 0.8}).algorithm, 2);
  EXPECT_EQ(estimate::chooseAlgorithm({1.0, -1}).algorithm, 0);
}

}  // namespace
