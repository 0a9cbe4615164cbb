#include "compiler/certify/Lowering.h"

#include "compiler/count/GateFlops.h"
#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/ir/Walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::certify {

namespace {

using graph::OpId;
using graph::OpKind;
using graph::TensorId;

/// Of f64 in the network, unlike in what bounds are computed in: whatever underflows is lost, larger numbers may overflow.
constexpr Arithmetic kDouble{kUnit, 0x1p-1000, 0x1p+1000};

class Lowerer {
public:
  Lowerer(const graph::Row& row, const Arrays& arrays, Arithmetic arithmetic)
      : row(row),
        graph(row.graph()),
        arrays(arrays),
        branches(graph::branchesOf(graph)),
        builder(arithmetic),
        valueOf(graph.tensors.size(), kHole) {}

  tl::expected<Steps, std::string> run() {
    const TensorId input = graph.inputs.front();
    valueOf[index(input)] = builder.input(row.shape(input));
    for (const std::vector<TensorId>* list : {&weights(), &graph.buffers}) {
      for (const TensorId tensor : *list) {
        if (auto error = readArray(tensor)) return tl::unexpected(std::move(*error));
      }
    }
    for (const OpId id : graph::programOrder(graph)) lowerOp(id);
    finish();
    return std::move(builder.steps);
  }

private:
  const std::vector<TensorId>& weights() {
    for (const graph::Graph::Weight& weight : graph.weights) weightTensors.push_back(weight.value);
    return weightTensors;
  }

  std::optional<std::string> readArray(TensorId tensor) {
    const std::string& path = graph[graph[tensor].storage].path;
    const std::optional<std::span<const double>> elements = arrays(path);
    if (!elements) return fmt::format("there are no values for `{}`", path);
    const std::vector<std::int64_t> dims = row.shape(tensor);
    if (elements->size() != Shape::of(dims).count())
      return fmt::format("`{}` has {} elements, and {} values are there", path, Shape::of(dims).count(), elements->size());
    std::vector<double> numbers(elements->begin(), elements->end());
    if (builder.steps.arithmetic.unit != kUnit)
      for (double& number : numbers) number = static_cast<float>(number);
    valueOf[index(tensor)] = builder.constant(dims, numbers);
    return std::nullopt;
  }

  ValueId value(TensorId tensor) const { return tensor == graph::kNoTensor ? kHole : valueOf[index(tensor)]; }

  void lowerOp(OpId id) {
    const graph::Op& op = graph[id];
    builder.branch = branches.of[index(id)];
    switch (op.kind) {
      case OpKind::Skip:
      case OpKind::Exit:
        builder.steps.gates.push_back({op.path, op.kind == OpKind::Exit, value(op.inputs[0]), builder.steps.list.size(),
                                       builder.branch, branches.whereFalse[index(id)], branches.whereTrue[index(id)], true,
                                       static_cast<std::int64_t>(Shape::of(row.shape(op.inputs[0])).count())});
        gateOps.push_back(id);
        return;
      case OpKind::View:
        valueOf[index(op.outputs[0])] = builder.gather({value(op.inputs[0])}, row.shape(op.outputs[0]),
                                                       [](std::size_t i) { return StepBuilder::Source(0, i); });
        return;
      case OpKind::Join:
        return join(op);
      case OpKind::Native:
      case OpKind::Elementwise:
        break;
    }
    Operator described{row, op, {}};
    for (const TensorId input : op.inputs) described.inputs.push_back(value(input));
    const std::vector<ValueId> results =
        op.kind == OpKind::Native ? lowerNative(builder, described) : lowerExpression(builder, described);
    for (std::size_t r = 0; r < results.size(); ++r)
      if (op.outputs[r] != graph::kNoTensor) valueOf[index(op.outputs[r])] = results[r];
  }

  /// No condition depends on the network's result, which joins the exits.
  void join(const graph::Op& op) {
    const std::vector<std::int64_t> dims = row.shape(op.outputs[0]);
    const auto gate = static_cast<std::uint32_t>(std::find(gateOps.begin(), gateOps.end(), op.gate) - gateOps.begin());
    const bool hasRows = op.gate != graph::kNoOp &&
                         (builder.steps.gates[gate].rows == 1 || (!dims.empty() && dims[0] == builder.steps.gates[gate].rows));
    if (!hasRows) {
      valueOf[index(op.outputs[0])] = builder.unsupported(dims, op.declaration);
      return;
    }
    Step step;
    step.kind = StepKind::Join;
    step.inputs = {value(op.inputs[1]), value(op.inputs[2])};
    step.shape = Shape::of(dims);
    step.gate = gate;
    valueOf[index(op.outputs[0])] = builder.add(std::move(step));
  }

  void finish() {
    Steps& steps = builder.steps;
    for (std::uint32_t g = 0; g < steps.gates.size(); ++g) {
      steps.list[steps.gates[g].condition].needed = true;
      steps.list[steps.gates[g].condition].lastGate = g;
    }
    std::vector<double> uses(steps.list.size());
    for (std::size_t i = steps.list.size(); i-- > 0;) {
      if (!steps.list[i].needed) continue;
      for (const ValueId input : steps.list[i].inputs) {
        steps.list[input].needed = true;
        steps.list[input].lastGate = std::max(steps.list[input].lastGate, steps.list[i].lastGate);
        steps.fanOut = std::max(steps.fanOut, ++uses[input]);
      }
    }
    // A gather may read one element several times.
    for (const Step& step : steps.list) {
      if (step.kind != StepKind::Gather || !step.needed) continue;
      std::vector<double> reads;
      for (const std::uint32_t from : step.index) {
        if (from == kHole) continue;
        if (from >= reads.size()) reads.resize(from + 1);
        most = std::max(most, ++reads[from]);
      }
    }
    steps.fanOut *= most;
    for (const graph::Branch& branch : branches.list) steps.parents.push_back(branch.parent);
  }

  const graph::Row& row;
  const graph::Graph& graph;
  const Arrays& arrays;
  const graph::Branches branches;
  StepBuilder builder;
  std::vector<ValueId> valueOf;  ///< by tensor
  std::vector<TensorId> weightTensors;
  std::vector<OpId> gateOps;  ///< as Steps::gates
  double most = 1;            ///< reads of one element by one gather
};

/// The one type of the network's real numbers.
tl::expected<Arithmetic, std::string> arithmeticOf(const graph::Graph& graph) {
  bool single = false, twice = false;
  for (const graph::Tensor& tensor : graph.tensors) {
    if (tbem_is_floating(tensor.dtype) == 0) continue;
    single = single || tensor.dtype == TBEM_F32;
    twice = twice || tensor.dtype == TBEM_F64;
    if (tensor.dtype != TBEM_F32 && tensor.dtype != TBEM_F64)
      return tl::unexpected(std::string("costs are certified of networks that compute in f32 or in f64"));
  }
  if (single && twice)
    return tl::unexpected(std::string("costs are certified of networks that compute in f32 alone or in f64 alone"));
  return twice ? kDouble : Arithmetic{};
}

}  // namespace

tl::expected<Steps, std::string> lower(const graph::Row& row, const Arrays& arrays, std::vector<double> flops) {
  const graph::Graph& graph = row.graph();
  if (graph::firstGate(graph) == nullptr)
    return tl::unexpected(std::string("the network has no gates: all inputs cost the same"));
  if (graph.training) return tl::unexpected(std::string("costs are certified of networks at inference"));
  if (graph.tf32)
    return tl::unexpected(std::string("costs are certified of networks whose products are not rounded to TF32 (`math tf32`)"));
  if (graph.inputs.size() != 1) return tl::unexpected(std::string("costs are certified of networks with one input"));
  const TensorId input = graph.inputs.front();
  const std::vector<std::int64_t> dims = row.shape(input);
  if (tbem_is_floating(graph[input].dtype) == 0)
    return tl::unexpected(fmt::format("the input `{}` has no real numbers, around which there is a ball", graph[input].name));
  if (dims.empty() || dims[0] != 1)
    return tl::unexpected(fmt::format("costs are certified of one sample, and the batch of `{}` is another", graph[input].name));
  const auto arithmetic = arithmeticOf(graph);
  if (!arithmetic) return tl::unexpected(arithmetic.error());
  const auto counted = estimate::countFlops(graph, row.values);
  if (!counted) return tl::unexpected(counted.error().what);
  if (flops.empty()) flops = estimate::branchFlopsOfSample(*counted, 1);
  if (flops.size() != counted->byBranch.size())
    return tl::unexpected(
        fmt::format("there are FLOPs of {} branches, and the network has {}", flops.size(), counted->byBranch.size()));
  auto steps = Lowerer(row, arrays, *arithmetic).run();
  if (!steps) return steps;
  steps->flops = std::move(flops);
  for (std::size_t g = 0; g < steps->gates.size(); ++g) {
    Gate& gate = steps->gates[g];
    const auto costs = [&](bool side) { return std::pair(steps->costOfSide(g, side, true), steps->costOfSide(g, side, false)); };
    const auto [most, least] = costs(false);
    gate.matters = costs(true) != std::pair(most, least) || most != least;
    for (std::size_t outer = 0; outer < g && gate.rows > 1; ++outer) {
      const Gate& around = steps->gates[outer];
      if (around.rows != gate.rows || (around.whereTrue != gate.branch && around.whereFalse != gate.branch)) continue;
      gate.outer = outer;
      gate.outerSide = around.whereTrue == gate.branch;
    }
  }
  return steps;
}

}  // namespace tbem::certify
