#include "compiler/estimate/Static.h"

#include "compiler/estimate/Layout.h"
#include "compiler/estimate/Schedule.h"
#include "compiler/graph/Branches.h"

#include <algorithm>
#include <numeric>

namespace tbem::estimate {

using graph::index;

std::string_view kindName(Kind kind) {
  switch (kind) {
    case Kind::Weights:
      return "weights";
    case Kind::Gradients:
      return "gradients";
    case Kind::Optimizer:
      return "optimizer";
    case Kind::Buffers:
      return "buffers";
    case Kind::Activations:
      return "activations";
    case Kind::Input:
      return "input";
    case Kind::Constants:
      return "constants";
    case Kind::Workspace:
      return "workspace";
  }
  return "";
}

Kind kindOf(graph::StorageClass storage) {
  switch (storage) {
    case graph::StorageClass::Weight:
      return Kind::Weights;
    case graph::StorageClass::Gradient:
      return Kind::Gradients;
    case graph::StorageClass::State:
      return Kind::Optimizer;
    case graph::StorageClass::Buffer:
      return Kind::Buffers;
    case graph::StorageClass::Activation:
      return Kind::Activations;
    case graph::StorageClass::Input:
      return Kind::Input;
    case graph::StorageClass::Constant:
      return Kind::Constants;
  }
  return Kind::Activations;
}

bool isPersistent(graph::StorageClass storage) {
  return storage != graph::StorageClass::Gradient && storage != graph::StorageClass::Activation;
}

namespace {
/// Operators in the order in which they run.
struct Steps {
  std::vector<graph::OpId> ops;
  std::vector<bool> optional;  ///< by step: in an arm of a gate, or behind an exit: some samples may never come there
};

void findOptional(const graph::Graph& graph, graph::RegionId region, bool optional, std::vector<bool>& found) {
  bool behindExit = false;
  for (const graph::OpId id : graph[region].ops) {
    found[index(id)] = optional || behindExit;
    for (const graph::RegionId arm : graph[id].regions) findOptional(graph, arm, true, found);
    if (graph[id].kind == graph::OpKind::Exit) behindExit = true;
  }
}

/// The order of `schedule`. Where there is none (lowering says why), the program's.
Steps stepsOf(const graph::Graph& graph) {
  std::vector<graph::TensorId> wanted;
  if (!graph.training) wanted = graph.outputs;
  if (graph.loss != graph::kNoTensor) wanted.push_back(graph.loss);
  Steps steps;
  steps.ops = schedule(graph, wanted).value_or(graph::programOrder(graph));
  std::vector<bool> optional(graph.ops.size(), false);
  findOptional(graph, graph::kMainRegion, false, optional);
  for (const graph::OpId id : steps.ops) steps.optional.push_back(optional[index(id)]);
  return steps;
}

struct Life {
  std::uint64_t bytes = 0;
  std::uint32_t first = UINT32_MAX, last = 0;
  bool used = false, persistent = false;
  Kind kind{};
  void at(std::uint32_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
    used = true;
  }
};

tl::expected<std::vector<Life>, NoValue> livesOf(const graph::Graph& graph, const sema::Values& values, const Steps& steps) {
  std::vector<Life> lives(graph.storages.size());
  for (std::size_t s = 0; s < lives.size(); ++s) {
    lives[s].persistent = isPersistent(graph.storages[s].kind);
    lives[s].kind = kindOf(graph.storages[s].kind);
  }
  const auto touch = [&](graph::TensorId tensor, std::uint32_t step) {
    if (tensor != graph::kNoTensor) lives[index(graph[tensor].storage)].at(step);
  };
  for (std::uint32_t step = 0; step < steps.ops.size(); ++step) {
    const graph::Op& op = graph[steps.ops[step]];
    for (const graph::TensorId tensor : op.inputs) touch(tensor, step);
    for (const graph::TensorId tensor : op.outputs) touch(tensor, step);
  }
  const auto end = static_cast<std::uint32_t>(steps.ops.empty() ? 0 : steps.ops.size() - 1);
  if (!graph.training) {
    for (const graph::TensorId tensor : graph.outputs) touch(tensor, end);
  }
  touch(graph.loss, end);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    Life& life = lives[index(graph.tensors[t].storage)];
    if (!life.used && !life.persistent) continue;  // a value that no scheduled operator touches
    const auto dims = dimsOf(graph, values, static_cast<graph::TensorId>(t));
    if (!dims) return tl::unexpected(dims.error());
    const std::int64_t count = std::accumulate(dims->begin(), dims->end(), std::int64_t{1}, std::multiplies<>());
    life.bytes = std::max(life.bytes, static_cast<std::uint64_t>(count) * elementBytes(graph.tensors[t].dtype));
  }
  return lives;
}

/// The step with the largest sum, among those that `wanted` lets count; persistent storages count always.
struct Peak {
  std::uint64_t bytes = 0;
  std::uint32_t step = 0;
};
template <class Wanted>
Peak peakOf(const std::vector<Life>& lives, std::size_t steps, Wanted wanted) {
  std::vector<std::int64_t> change(steps + 2, 0);
  std::uint64_t always = 0;
  for (const Life& life : lives) {
    if (life.persistent) {
      always += life.bytes;
    } else if (life.used) {
      change[life.first] += static_cast<std::int64_t>(life.bytes);
      change[life.last + 1] -= static_cast<std::int64_t>(life.bytes);
    }
  }
  Peak peak{always, 0};
  auto live = static_cast<std::int64_t>(always);
  for (std::uint32_t step = 0; step < steps; ++step) {
    live += change[step];
    if (wanted(step) && static_cast<std::uint64_t>(live) > peak.bytes) peak = {static_cast<std::uint64_t>(live), step};
  }
  return peak;
}
}  // namespace

tl::expected<StaticMemory, NoValue> staticMemory(const graph::Graph& graph, const sema::Values& values) {
  const Steps steps = stepsOf(graph);
  const tl::expected<std::vector<Life>, NoValue> lives = livesOf(graph, values, steps);
  if (!lives) return tl::unexpected(lives.error());
  const Peak peak = peakOf(*lives, steps.ops.size(), [](std::uint32_t) { return true; });
  const Peak least = peakOf(*lives, steps.ops.size(), [&steps](std::uint32_t step) { return !steps.optional[step]; });
  StaticMemory memory;
  memory.bytes = peak.bytes;
  memory.least = least.bytes;
  if (!steps.ops.empty()) memory.peak = steps.ops[peak.step];
  for (std::uint32_t s = 0; s < lives->size(); ++s) {
    const Life& life = (*lives)[s];
    if (life.persistent || (life.used && life.first <= peak.step && peak.step <= life.last)) {
      memory.kinds[static_cast<std::size_t>(life.kind)] += life.bytes;
      memory.live.push_back({static_cast<graph::StorageId>(s), life.bytes});
    }
  }
  return memory;
}

}  // namespace tbem::estimate
