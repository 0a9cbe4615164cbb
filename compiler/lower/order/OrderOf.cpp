#include "compiler/lower/order/OrderOf.h"

#include "compiler/count/Schedule.h"
#include "compiler/count/Static.h"

#include <algorithm>

namespace tbem::estimate {

using graph::index;

std::vector<std::uint64_t> storedBytes(const graph::Graph& graph, const Program& program) {
  std::vector<std::uint64_t> bytes(graph.storages.size(), 0);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.tensor == graph::kNoTensor) continue;
    std::uint64_t& largest = bytes[index(graph[buffer.tensor].storage)];
    largest = std::max(largest, buffer.operand.layout.bytes);
  }
  return bytes;
}

std::vector<std::uint64_t> workspaceOf(const graph::Graph& graph, const Program& program) {
  std::vector<std::uint64_t> bytes(graph.ops.size(), 0);
  for (const Step& step : program.steps) {
    if (step.kind != Step::Kind::Call || step.ops.empty()) continue;
    const NativeCall& call = program.calls[step.index];
    if (call.workspace != kNoBuffer) bytes[index(step.ops.front())] = program[call.workspace].operand.layout.bytes;
  }
  return bytes;
}

OrderProblem orderProblem(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& order,
                          const std::vector<graph::TensorId>& kept) {
  OrderProblem problem;
  problem.after = mustFollow(graph, order);
  const std::vector<std::uint64_t> workspaces = workspaceOf(graph, program);
  const std::vector<std::uint64_t> bytes = storedBytes(graph, program);
  std::vector<std::uint32_t> valueOf(graph.storages.size(), kNobody);
  const auto value = [&](graph::TensorId tensor) -> OrderProblem::Value* {
    const std::uint32_t storage = index(graph[tensor].storage);
    if (isPersistent(graph.storages[storage]) || bytes[storage] == 0) return nullptr;
    if (valueOf[storage] == kNobody) {
      valueOf[storage] = static_cast<std::uint32_t>(problem.values.size());
      problem.values.push_back({.bytes = bytes[storage]});
    }
    return &problem.values[valueOf[storage]];
  };
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const graph::Op& op = graph[order[i]];
    problem.workspace.push_back(workspaces[index(order[i])]);
    problem.inPlace.push_back(op.kind == graph::OpKind::Elementwise);
    for (const graph::TensorId tensor : op.inputs) {
      if (tensor == graph::kNoTensor) continue;
      OrderProblem::Value* const read = value(tensor);
      if (read != nullptr && (read->readers.empty() || read->readers.back() != i)) read->readers.push_back(i);
    }
    for (const graph::TensorId tensor : op.outputs) {
      OrderProblem::Value* const made = value(tensor);
      if (made != nullptr && made->maker == kNobody && op.kind != graph::OpKind::View) made->maker = i;
    }
  }
  for (const graph::TensorId tensor : kept) {
    if (OrderProblem::Value* const one = value(tensor)) one->kept = true;
  }
  return problem;
}

std::vector<graph::OpId> betterOrder(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& whole,
                                     const std::vector<graph::TensorId>& kept, const std::function<void(std::size_t)>& changed) {
  // What a step runs once, behind all micro-batches, stays there.
  const auto once = whole.begin() + static_cast<std::ptrdiff_t>(repeatedOps(graph, whole));
  const std::vector<graph::OpId> order(whole.begin(), once);
  std::vector<graph::OpId> better;
  for (const std::uint32_t place : lowerPeak(orderProblem(graph, program, order, kept), {.changed = changed}))
    better.push_back(order[place]);
  if (!better.empty()) better.insert(better.end(), once, whole.end());
  return better;
}

}  // namespace tbem::estimate
