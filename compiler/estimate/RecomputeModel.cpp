#include "compiler/estimate/RecomputeModel.h"

#include "compiler/estimate/OrderOf.h"
#include "compiler/estimate/Static.h"

#include <algorithm>

namespace tbem::estimate {

using graph::index;

namespace {
void addOnce(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// Live values of a program of repetitions: by storage its first value, and behind them all repeated ones.
struct Lives {
  std::vector<std::uint32_t> last;  ///< step of the last use
  std::vector<bool> crosses;        ///< by storage: its first value is read behind the forward pass
};
}  // namespace

RecomputeModel::RecomputeModel(const graph::Graph& graph, const Program& program, std::vector<graph::OpId> scheduled,
                               const std::vector<graph::TensorId>& kept, std::vector<double> flops)
    : network(graph),
      order(std::move(scheduled)),
      repeatable(graph::repeatable(graph)),
      ops(graph.ops.size()),
      storages(graph.storages.size()) {
  for (std::size_t s = 0; s < storages.size(); ++s) {
    storages[s].persistent = isPersistent(graph.storages[s]);
  }
  for (const Allocation& allocation : program.allocations) persistent += allocation.persistent ? allocation.bytes : 0;
  const std::vector<std::uint64_t> bytes = storedBytes(graph, program);
  for (std::size_t s = 0; s < storages.size(); ++s) {
    storages[s].bytes = bytes[s];
    storages[s].fused = bytes[s] == 0;
  }
  for (const graph::TensorId tensor : kept) storages[index(graph[tensor].storage)].kept = true;
  for (const graph::OpId id : order) {
    const graph::Op& op = graph[id];
    OpUse& use = ops[index(id)];
    use.flops = flops[index(id)];
    use.isLoop = op.kind == graph::OpKind::Elementwise;
    use.isForward = op.phase == graph::Phase::Forward;
    for (const graph::TensorId tensor : op.inputs) {
      if (tensor != graph::kNoTensor) addOnce(use.reads, index(graph[tensor].storage));
    }
    for (const graph::TensorId tensor : op.outputs) addOnce(use.writes, index(graph[tensor].storage));
  }
  const std::vector<std::uint64_t> workspaces = workspaceOf(graph, program);
  for (const graph::OpId id : order) ops[index(id)].workspace = workspaces[index(id)];
}

RecomputeModel::Cost RecomputeModel::cost(const std::vector<bool>& keep, std::uint64_t limit) const {
  const std::vector<graph::Repeat> steps = graph::repeats(network, order, repeatable, keep);
  const auto count = static_cast<std::uint32_t>(storages.size());
  Lives lives{std::vector<std::uint32_t>(std::size_t{2} * count, UINT32_MAX), std::vector<bool>(count, false)};
  // Which value of a storage an operator reads: the first one, or the repeated one behind them.
  const auto read = [&](std::uint32_t storage, bool behind) {
    return behind && repeatable.can[storage] && !keep[storage] ? storage + count : storage;
  };
  const auto end = static_cast<std::uint32_t>(steps.size());
  for (std::uint32_t i = 0; i < end; ++i) {
    const OpUse& op = ops[index(steps[i].op)];
    const bool behind = steps[i].again || !op.isForward;
    for (const std::uint32_t s : op.reads) {
      const std::uint32_t value = read(s, behind);
      lives.last[value] = i;
      if (behind && value < count) lives.crosses[s] = true;
    }
    for (const std::uint32_t s : op.writes) lives.last[steps[i].again ? s + count : s] = i;
  }
  for (std::uint32_t s = 0; s < count; ++s) {
    if (storages[s].kept) lives.last[s] = end;
  }
  const auto bytesOf = [&](std::uint32_t value) -> std::uint64_t {
    const StorageUse& storage = storages[value % count];
    if (storage.persistent || (storage.fused && (value >= count || !lives.crosses[value]))) return 0;
    return storage.bytes;
  };
  Cost cost;
  std::vector<bool> live(std::size_t{2} * count, false);
  std::uint64_t now = persistent;
  for (std::uint32_t i = 0; i < end; ++i) {
    const OpUse& op = ops[index(steps[i].op)];
    const bool behind = steps[i].again || !op.isForward;
    if (steps[i].again) cost.flops += op.flops;
    std::uint64_t inPlace = 0;
    for (const std::uint32_t s : op.writes) {
      const std::uint32_t value = steps[i].again ? s + count : s;
      if (live[value]) continue;
      live[value] = true;
      now += bytesOf(value);
      if (!op.isLoop || inPlace != 0) continue;
      for (const std::uint32_t r : op.reads) {
        const std::uint32_t source = read(r, behind);
        if (lives.last[source] == i && live[source] && bytesOf(source) == bytesOf(value)) inPlace = bytesOf(value);
      }
    }
    const std::uint64_t here = now + op.workspace - inPlace;
    cost.peak = std::max(cost.peak, here);
    if (here > limit) cost.excess += static_cast<double>(here - limit);
    const auto release = [&](std::uint32_t value) {
      if (lives.last[value] != i || !live[value]) return;
      live[value] = false;
      now -= bytesOf(value);
    };
    for (const std::uint32_t s : op.reads) release(read(s, behind));
    for (const std::uint32_t s : op.writes) release(steps[i].again ? s + count : s);
  }
  return cost;
}

}  // namespace tbem::estimate
