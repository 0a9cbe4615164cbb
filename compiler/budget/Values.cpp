#include "compiler/budget/Values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tbem::driver {

namespace {

using estimate::EagerKind;
using estimate::Kind;
using graph::index;

/// The kind of memory that the quantity is; nothing: it is a sum of them.
std::optional<Kind> kindOf(const Budget& budget) {
  for (std::size_t k = 0; k < estimate::kKinds; ++k) {
    if (estimate::kindName(static_cast<Kind>(k)) == budget.quantity) return static_cast<Kind>(k);
  }
  return std::nullopt;
}

std::optional<EagerKind> eagerKindOf(const Budget& budget) {
  std::string name = budget.quantity;
  std::ranges::replace(name, '_', ' ');
  for (std::size_t k = 0; k < estimate::kEagerKinds; ++k) {
    if (estimate::eagerKindName(static_cast<EagerKind>(k)) == name) return static_cast<EagerKind>(k);
  }
  return std::nullopt;
}

/// "conv2d in stage[0]".
std::string nameOf(const std::string& op, const graph::Graph& graph, const graph::Op& place) {
  const std::string& scope = graph.scopes.empty() ? std::string() : graph.scopes[index(place.scope)].path;
  return scope.empty() ? op : fmt::format("{} in {}", op, scope);
}

/// The operator whose gradient it is part of, or itself.
const graph::Op& sourceOf(const graph::Graph& graph, const graph::Op& op) {
  return op.forward != graph::kNoOp ? graph[op.forward] : op;
}

/// By storage: what is in it, and the place of the operator that made it, or that reads it first.
class StorageNames {
public:
  explicit StorageNames(const graph::Graph& graph) : graph(graph), ops(graph.storages.size(), nullptr) {
    for (const graph::Op& op : graph.ops) {
      for (const std::vector<graph::TensorId>* list : {&op.outputs, &op.inputs}) {
        for (const graph::TensorId tensor : *list) {
          if (tensor == graph::kNoTensor) continue;
          const graph::Op*& known = ops[index(graph[tensor].storage)];
          if (known == nullptr) known = &op;
        }
      }
    }
  }

  BudgetPart partOf(graph::StorageId id, Kind kind, double amount) const {
    const graph::Storage& storage = graph[id];
    const graph::Op* const op = ops[index(id)] != nullptr ? &sourceOf(graph, *ops[index(id)]) : nullptr;
    std::string name = !storage.path.empty() ? fmt::format("`{}`", storage.path)
                       : op != nullptr       ? nameOf(op->declaration, graph, *op)
                                             : std::string("the program");
    return {fmt::format("{} of {}", estimate::kindName(kind), name), op != nullptr ? op->range : storage.range, amount};
  }

private:
  const graph::Graph& graph;
  std::vector<const graph::Op*> ops;
};

std::vector<BudgetPart> parameterParts(const graph::Graph& graph, const sema::Values& values) {
  std::vector<BudgetPart> parts;
  const StorageNames names(graph);
  for (const graph::Graph::Weight& weight : graph.weights) {
    const auto dims = estimate::dimsOf(graph, values, weight.value);
    if (!dims) continue;  // the estimate has said why
    double count = 1;
    for (const std::int64_t dim : *dims) count *= static_cast<double>(dim);
    parts.push_back(names.partOf(graph[weight.value].storage, Kind::Weights, count));
  }
  return parts;
}

/// By operator of the forward pass, with its gradients; updates together.
std::vector<BudgetPart> flopParts(const graph::Graph& graph, const sema::Values& values, bool forwardOnly) {
  std::map<std::uint32_t, double> byOp;
  double updates = 0;
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    const graph::Op& op = graph.ops[i];
    const std::array<graph::OpId, 1> alone = {static_cast<graph::OpId>(i)};
    const auto count = estimate::countFlops(graph, values, alone);
    if (!count || *count == 0 || (forwardOnly && op.phase != graph::Phase::Forward)) continue;
    double& sum = op.phase == graph::Phase::Optimizer ? updates : byOp[op.forward != graph::kNoOp ? index(op.forward) : i];
    sum += estimate::toDouble(*count);
  }
  std::vector<BudgetPart> parts;
  for (const auto& [op, amount] : byOp)
    parts.push_back({nameOf(graph.ops[op].declaration, graph, graph.ops[op]), graph.ops[op].range, amount});
  if (updates != 0) parts.push_back({"updates of weights", {}, updates});
  return parts;
}

std::vector<BudgetPart> staticParts(const graph::Graph& graph, const estimate::StaticMemory& memory, std::optional<Kind> only) {
  std::vector<BudgetPart> parts;
  const StorageNames names(graph);
  for (const estimate::LiveStorage& live : memory.live) {
    const Kind kind = estimate::kindOf(graph[live.storage].kind);
    if (!only || kind == *only) parts.push_back(names.partOf(live.storage, kind, static_cast<double>(live.bytes)));
  }
  return parts;
}

/// What of the arena is in use at its peak.
std::vector<BudgetPart> planParts(const graph::Graph& graph, const estimate::Program& program, std::optional<Kind> only) {
  std::vector<graph::TensorId> held(program.allocations.size(), graph::kNoTensor);
  for (const estimate::Buffer& buffer : program.buffers) {
    graph::TensorId& known = held[buffer.allocation];
    if (known == graph::kNoTensor) known = buffer.tensor;
  }
  std::vector<BudgetPart> parts;
  const StorageNames names(graph);
  for (std::size_t a = 0; a < program.allocations.size(); ++a) {
    const estimate::Allocation& allocation = program.allocations[a];
    const bool live = allocation.persistent || (allocation.first <= program.peakStep && program.peakStep <= allocation.last);
    if (!live || (only && allocation.kind != *only)) continue;
    const auto amount = static_cast<double>(allocation.bytes);
    if (held[a] != graph::kNoTensor) {
      parts.push_back(names.partOf(graph[held[a]].storage, allocation.kind, amount));
    } else if (allocation.first < program.steps.size()) {
      const estimate::Step& step = program.steps[allocation.first];
      parts.push_back({fmt::format("{} of {}", estimate::kindName(allocation.kind), step.name), step.range, amount});
    }
  }
  return parts;
}

std::vector<BudgetPart> largestFirst(std::vector<BudgetPart> parts) {
  std::ranges::stable_sort(parts, std::ranges::greater(), &BudgetPart::amount);
  return parts;
}

}  // namespace

BudgetValue valueOf(const Budget& budget, const estimate::Estimate& estimate) {
  if (budget.unit == BudgetUnit::Count) return {static_cast<double>(estimate.flops.parameters)};
  if (budget.unit == BudgetUnit::Flops) {
    const estimate::PhaseCounts& most = estimate.flops.most;
    return {estimate::toDouble(budget.quantity == "flops" ? most.step() : most.forward), estimate.unknownFlops != 0};
  }
  const bool planned = budget.place == BudgetPlace::Plan;
  const std::uint64_t* kinds = planned ? estimate.device->kinds : estimate.memory.kinds;
  if (const auto kind = kindOf(budget)) return {static_cast<double>(kinds[static_cast<std::size_t>(*kind)])};
  if (!planned) return {static_cast<double>(estimate.memory.bytes)};
  const bool isLive = budget.quantity == "live";
  return {static_cast<double>(isLive ? estimate.device->live : estimate.device->arena), estimate.device->unknownWorkspaces != 0};
}

BudgetValue valueOf(const Budget& budget, const PyTorchMemory& memory) {
  if (const auto kind = eagerKindOf(budget)) {
    const auto& kinds = memory.cuda ? memory.cuda->kinds : memory.live.kinds;
    return {static_cast<double>(kinds[static_cast<std::size_t>(*kind)])};
  }
  if (budget.quantity == "live" || !memory.cuda) return {static_cast<double>(memory.live.bytes)};
  if (budget.quantity == "allocated") return {static_cast<double>(memory.cuda->allocated)};
  if (budget.quantity == "reserved") return {static_cast<double>(memory.cuda->reserved)};
  return {static_cast<double>(memory.point()), !memory.complete};
}

std::vector<BudgetPart> partsOf(const Budget& budget, const graph::Graph& graph, const sema::Values& values,
                                const estimate::Estimate& estimate, const estimate::Program* program) {
  if (budget.unit == BudgetUnit::Count) return largestFirst(parameterParts(graph, values));
  if (budget.unit == BudgetUnit::Flops) return largestFirst(flopParts(graph, values, budget.quantity == "flops_forward"));
  return largestFirst(program != nullptr ? planParts(graph, *program, kindOf(budget))
                                         : staticParts(graph, estimate.memory, kindOf(budget)));
}

std::vector<BudgetPart> partsOf(const Budget& budget, const PyTorchMemory& memory) {
  const std::optional<EagerKind> only = eagerKindOf(budget);
  const std::size_t last = memory.cuda ? memory.cuda->event : memory.live.event;
  std::vector<bool> live(memory.step.tensors.size(), false);
  for (std::size_t event = 0; event <= last && event < memory.step.events.size(); ++event)
    live[memory.step.events[event].tensor] = !memory.step.events[event].frees;
  std::map<std::pair<std::uint32_t, EagerKind>, double> sums;
  for (std::size_t t = 0; t < live.size(); ++t) {
    const estimate::EagerTensor& tensor = memory.step.tensors[t];
    if (live[t] && (!only || tensor.kind == *only)) sums[{tensor.op, tensor.kind}] += static_cast<double>(tensor.bytes());
  }
  std::vector<BudgetPart> parts;
  const graph::Graph& graph = memory.row->elaborated->graph();
  for (const auto& [key, amount] : sums) {
    const auto& [op, kind] = key;
    BudgetPart part{std::string(estimate::eagerKindName(kind)), {}, amount};
    if (op != estimate::kNoEagerOp) {
      const estimate::EagerOperator& made = (*memory.step.operators)[op];
      part.name += " of " + nameOf(made.name, graph, graph[made.op]);
      part.range = graph[made.op].range;
    }
    parts.push_back(std::move(part));
  }
  for (const estimate::BesideTensors& beside : memory.beside) {
    if (budget.quantity == "memory" && beside.bytes.value_or(0) != 0)
      parts.push_back({fmt::format("the process's {}", beside.name), {}, static_cast<double>(*beside.bytes)});
  }
  return largestFirst(std::move(parts));
}

}  // namespace tbem::driver
