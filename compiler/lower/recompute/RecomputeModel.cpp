#include "compiler/lower/recompute/RecomputeModel.h"

#include "compiler/count/Static.h"
#include "compiler/lower/order/OrderOf.h"

#include <algorithm>

namespace tbem::estimate {

using graph::index;

RecomputeModel::RecomputeModel(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& order,
                               const std::vector<graph::TensorId>& keptValues, const std::vector<double>& flops)
    : network(graph),
      repeatable(graph::repeatable(graph)),
      repeater(graph, order, repeatable),
      ops(graph.ops.size()),
      values(2 * graph.storages.size()),
      readBehind(graph.storages.size()) {
  for (const Allocation& allocation : program.allocations) persistent += allocation.persistent ? allocation.bytes : 0;
  // What is made and used within one loop has no bytes.
  const std::vector<std::uint64_t> bytes = storedBytes(graph, program);
  for (std::uint32_t s = 0; s < bytes.size(); ++s) {
    if (!isPersistent(graph.storages[s])) values[s].bytes = values[s + bytes.size()].bytes = bytes[s];
  }
  const auto addOnce = [&](const std::vector<graph::TensorId>& tensors, std::vector<std::uint32_t>& list) {
    const auto first = static_cast<std::ptrdiff_t>(list.size());
    for (const graph::TensorId tensor : tensors) {
      if (tensor == graph::kNoTensor) continue;
      const std::uint32_t storage = index(graph[tensor].storage);
      const bool isNew = std::find(list.begin() + first, list.end(), storage) == list.end();
      if (values[storage].bytes != 0 && isNew) list.push_back(storage);
    }
    return static_cast<std::uint32_t>(list.size());
  };
  addOnce(keptValues, kept);
  for (std::uint32_t s = 0; s < readBehind.size(); ++s) {
    readBehind[s] = s;
    if (repeatable.can[s] && values[s].bytes != 0) changeable.push_back(s);
  }
  const std::vector<std::uint64_t> workspaces = workspaceOf(graph, program);
  for (const graph::OpId id : order) {
    const graph::Op& op = graph[id];
    OpUse& use = ops[index(id)];
    use.workspace = workspaces[index(id)];
    use.flops = flops[index(id)];
    use.isLoop = op.kind == graph::OpKind::Elementwise;
    use.isForward = op.phase == graph::Phase::Forward;
    use.reads = static_cast<std::uint32_t>(used.size());
    use.writes = addOnce(op.inputs, used);
    use.end = addOnce(op.outputs, used);
  }
}

void RecomputeModel::findLastUses(const std::vector<graph::Repeat>& steps) {
  const auto count = static_cast<std::uint32_t>(readBehind.size());
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const OpUse& op = ops[index(steps[i].op)];
    const bool isBehind = steps[i].again || !op.isForward;
    for (std::uint32_t u = op.reads; u < op.writes; ++u) values[isBehind ? readBehind[used[u]] : used[u]].last = i;
    const std::uint32_t shift = steps[i].again ? count : 0;
    for (std::uint32_t u = op.writes; u < op.end; ++u) values[used[u] + shift].last = i;
  }
  for (const std::uint32_t s : kept) values[s].last = static_cast<std::uint32_t>(steps.size());
}

RecomputeModel::Cost RecomputeModel::cost(const std::vector<bool>& keep, std::uint64_t limit) {
  const std::vector<graph::Repeat>& steps = repeater.run(keep);
  const auto count = static_cast<std::uint32_t>(readBehind.size());
  for (const std::uint32_t s : changeable) readBehind[s] = keep[s] ? s : s + count;
  for (const std::uint32_t s : kept) values[s].live = false;  // all others died by the end of the question before
  findLastUses(steps);
  Cost cost;
  std::uint64_t now = persistent;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const OpUse& op = ops[index(steps[i].op)];
    const bool isBehind = steps[i].again || !op.isForward;
    const std::uint32_t shift = steps[i].again ? count : 0;
    const auto read = [&](std::uint32_t u) -> Value& { return values[isBehind ? readBehind[used[u]] : used[u]]; };
    if (steps[i].again) cost.flops += op.flops;
    std::uint64_t inPlace = 0;
    for (std::uint32_t u = op.writes; u < op.end; ++u) {
      Value& value = values[used[u] + shift];
      if (value.live) continue;
      value.live = true;
      now += value.bytes;
      if (!op.isLoop || inPlace != 0) continue;
      for (std::uint32_t r = op.reads; r < op.writes; ++r) {
        const Value& source = read(r);
        if (source.last == i && source.live && source.bytes == value.bytes) inPlace = value.bytes;
      }
    }
    const std::uint64_t here = now + op.workspace - inPlace;
    cost.peak = std::max(cost.peak, here);
    if (here > limit) cost.excess += static_cast<double>(here - limit);
    const auto release = [&](Value& value) {
      if (value.last != i || !value.live) return;
      value.live = false;
      now -= value.bytes;
    };
    for (std::uint32_t u = op.reads; u < op.writes; ++u) release(read(u));
    for (std::uint32_t u = op.writes; u < op.end; ++u) release(values[used[u] + shift]);
  }
  return cost;
}

}  // namespace tbem::estimate
