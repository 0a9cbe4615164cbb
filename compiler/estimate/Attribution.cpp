#include "compiler/estimate/Attribution.h"

#include <vector>

namespace tbem::estimate {

using graph::index;

namespace {

/// By storage: the operator that it belongs to.
std::vector<std::string> ownersOf(const graph::Graph& graph) {
  std::vector<std::string> owners(graph.storages.size());
  std::map<std::string, std::string> byPath;  // of weights
  const auto nameOf = [&graph](const graph::Op& op) {
    return op.phase == graph::Phase::Backward && op.forward != graph::kNoOp ? graph[op.forward].declaration : op.declaration;
  };
  for (const graph::Op& op : graph.ops) {
    for (const graph::TensorId tensor : op.inputs) {
      if (tensor == graph::kNoTensor) continue;
      const graph::Storage& storage = graph[graph[tensor].storage];
      std::string& owner = owners[index(graph[tensor].storage)];
      const bool given = storage.kind == graph::StorageClass::Input || storage.kind == graph::StorageClass::Constant;
      if (owner.empty() && isPersistent(storage)) owner = given ? "input" : nameOf(op);
      if (storage.kind == graph::StorageClass::Weight) byPath.try_emplace(storage.path, owner);
    }
    for (const graph::TensorId tensor : op.outputs) {
      if (tensor == graph::kNoTensor) continue;
      std::string& owner = owners[index(graph[tensor].storage)];
      if (owner.empty()) owner = nameOf(op);
    }
  }
  for (std::size_t s = 0; s < owners.size(); ++s) {
    const graph::Storage& storage = graph.storages[s];
    // A gradient has its weight's path; a state has that and its own name behind it.
    std::string path = storage.path;
    if (storage.kind == graph::StorageClass::State) path.resize(std::min(path.size(), path.rfind('.')));
    if (storage.kind != graph::StorageClass::Gradient && storage.kind != graph::StorageClass::State) continue;
    if (const auto weight = byPath.find(path); weight != byPath.end()) owners[s] = weight->second;
  }
  return owners;
}

std::string nameOfStep(const graph::Graph& graph, const Step& step) {
  return step.kind == Step::Kind::Call ? step.name : graph[step.ops.front()].declaration;
}

}  // namespace

Attribution parametersByOperator(const graph::Graph& graph, const sema::Values& values) {
  Attribution amounts;
  const std::vector<std::string> owners = ownersOf(graph);
  for (const graph::Graph::Weight& weight : graph.weights) {
    const auto dims = dimsOf(graph, values, weight.value);
    if (!dims) continue;  // countFlops has said why
    double count = 1;
    for (const std::int64_t dim : *dims) count *= static_cast<double>(dim);
    amounts[owners[index(graph[weight.value].storage)]] += count;
  }
  return amounts;
}

Attribution flopsByOperator(const Flops& flops) {
  Attribution amounts;
  for (const auto& [name, counts] : flops.byOperator)
    amounts[name] +=
        toDouble(counts.forward) + toDouble(counts.backward) + toDouble(counts.optimizer) + toDouble(counts.recomputed);
  return amounts;
}

Attribution staticByOperator(const graph::Graph& graph, const StaticMemory& memory) {
  Attribution amounts;
  const std::vector<std::string> owners = ownersOf(graph);
  for (const LiveStorage& live : memory.live) amounts[owners[index(live.storage)]] += static_cast<double>(live.bytes);
  return amounts;
}

Attribution arenaByOperator(const graph::Graph& graph, const Program& program) {
  Attribution amounts;
  const std::vector<std::string> owners = ownersOf(graph);
  std::vector<std::string> byAllocation(program.allocations.size());
  for (const Buffer& buffer : program.buffers) {
    std::string& owner = byAllocation[buffer.allocation];
    if (owner.empty() && buffer.tensor != graph::kNoTensor) owner = owners[index(graph[buffer.tensor].storage)];
  }
  for (std::size_t a = 0; a < program.allocations.size(); ++a) {
    const Allocation& allocation = program.allocations[a];
    const bool live = allocation.persistent || (allocation.first <= program.peakStep && program.peakStep <= allocation.last);
    if (!live) continue;
    const bool ownStep = byAllocation[a].empty() && allocation.first < program.steps.size();
    amounts[ownStep ? nameOfStep(graph, program.steps[allocation.first]) : byAllocation[a]] +=
        static_cast<double>(allocation.bytes);
  }
  amounts["gaps"] += static_cast<double>(program.gaps);
  return amounts;
}

Attribution leastTimeByOperator(const Roofline& roofline) {
  Attribution amounts;
  for (const StepCost& step : roofline.steps) amounts[step.name] += step.seconds;
  return amounts;
}

}  // namespace tbem::estimate
