#include "compiler/count/Static.h"

#include "compiler/count/Layout.h"
#include "compiler/count/Schedule.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/support/Json.h"

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

std::string kindsJson(const std::uint64_t (&kinds)[kKinds], std::uint64_t gaps) {
  JsonWriter json;
  json.begin();
  for (std::size_t k = 0; k < kKinds; ++k) json.field(kindName(static_cast<Kind>(k)), kinds[k]);
  json.field("gaps", gaps).end();
  return json.str();
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

bool isPersistent(const graph::Storage& storage) {
  return storage.carried || (storage.kind != graph::StorageClass::Gradient && storage.kind != graph::StorageClass::Activation);
}

namespace {
/// The order of `schedule`. Where there is none (lowering says why), the program's.
std::vector<graph::OpId> opsOf(const graph::Graph& graph) {
  return schedule(graph, returnedBy(graph)).value_or(graph::programOrder(graph));
}

std::vector<Lifespan> livesOf(const graph::Graph& graph, const std::vector<graph::OpId>& ops) {
  std::vector<Lifespan> lives(graph.storages.size());
  for (std::size_t s = 0; s < lives.size(); ++s) {
    lives[s].persistent = isPersistent(graph.storages[s]);
    lives[s].kind = kindOf(graph.storages[s].kind);
  }
  const auto touch = [&](graph::TensorId tensor, std::uint32_t step) {
    if (tensor == graph::kNoTensor) return;
    Lifespan& life = lives[index(graph[tensor].storage)];
    life.first = std::min(life.first, step);
    life.last = std::max(life.last, step);
    life.used = true;
  };
  for (std::uint32_t step = 0; step < ops.size(); ++step) {
    const graph::Op& op = graph[ops[step]];
    for (const graph::TensorId tensor : op.inputs) touch(tensor, step);
    for (const graph::TensorId tensor : op.outputs) touch(tensor, step);
  }
  const auto end = static_cast<std::uint32_t>(ops.empty() ? 0 : ops.size() - 1);
  for (const graph::TensorId tensor : returnedBy(graph)) touch(tensor, end);
  return lives;
}

/// Bytes of each storage that counts.
tl::expected<std::vector<std::uint64_t>, NoValue> bytesOf(const graph::Graph& graph, const sema::Values& values,
                                                          const std::vector<Lifespan>& lives) {
  std::vector<std::uint64_t> bytes(lives.size(), 0);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const std::uint32_t storage = index(graph.tensors[t].storage);
    if (!lives[storage].counts()) continue;  // a value that no scheduled operator touches
    const auto dims = dimsOf(graph, values, static_cast<graph::TensorId>(t));
    if (!dims) return tl::unexpected(dims.error());
    const std::int64_t count = std::accumulate(dims->begin(), dims->end(), std::int64_t{1}, std::multiplies<>());
    bytes[storage] = std::max(bytes[storage], static_cast<std::uint64_t>(count) * elementBytes(graph.tensors[t].dtype));
  }
  // Sums over some of them are computed in 64 bits, also by plans, which pad: one storage has at most 2^54 bytes (readDims).
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
  std::uint64_t sum = 0;
  for (const std::uint64_t own : bytes) {
    sum += own;
    if (sum > kMost) return tl::unexpected(NoValue{"all its tensors together leave 2^60 bytes", {}});
  }
  return bytes;
}

/// The step with the largest sum, among those that `wanted` lets count; persistent storages count always.
struct Peak {
  std::uint64_t bytes = 0;
  std::uint32_t step = 0;
};
template <class Wanted>
Peak peakOf(const StaticOrder& order, const std::vector<std::uint64_t>& bytes, Wanted wanted) {
  std::vector<std::int64_t> change(order.ops.size() + 2, 0);
  std::uint64_t always = 0;
  for (std::size_t s = 0; s < bytes.size(); ++s) {
    const Lifespan& life = order.lives[s];
    if (life.persistent) {
      always += bytes[s];
    } else if (life.used) {
      change[life.first] += static_cast<std::int64_t>(bytes[s]);
      change[life.last + 1] -= static_cast<std::int64_t>(bytes[s]);
    }
  }
  Peak peak{always, 0};
  auto live = static_cast<std::int64_t>(always);
  for (std::uint32_t step = 0; step < order.ops.size(); ++step) {
    live += change[step];
    if (wanted(step) && static_cast<std::uint64_t>(live) > peak.bytes) peak = {static_cast<std::uint64_t>(live), step};
  }
  return peak;
}
}  // namespace

StaticOrder staticOrder(const graph::Graph& graph) {
  StaticOrder order;
  order.ops = opsOf(graph);
  std::vector<bool> optional(graph.ops.size(), false);
  for (const graph::Placed& placed : graph::inOrder(graph)) optional[index(placed.op)] = placed.isConditional;
  for (const graph::OpId id : order.ops) order.optional.push_back(optional[index(id)]);
  order.lives = livesOf(graph, order.ops);
  return order;
}

tl::expected<StaticMemory, NoValue> staticMemory(const graph::Graph& graph, const sema::Values& values,
                                                 const StaticOrder& order) {
  const auto bytes = bytesOf(graph, values, order.lives);
  if (!bytes) return tl::unexpected(bytes.error());
  const Peak peak = peakOf(order, *bytes, [](std::uint32_t) { return true; });
  const Peak least = peakOf(order, *bytes, [&order](std::uint32_t step) { return !order.optional[step]; });
  StaticMemory memory;
  memory.bytes = peak.bytes;
  memory.least = least.bytes;
  if (!order.ops.empty()) memory.peak = order.ops[peak.step];
  for (std::uint32_t s = 0; s < bytes->size(); ++s) {
    const Lifespan& life = order.lives[s];
    if (life.persistent || (life.used && life.first <= peak.step && peak.step <= life.last)) {
      memory.kinds[static_cast<std::size_t>(life.kind)] += (*bytes)[s];
      memory.live.push_back({static_cast<graph::StorageId>(s), (*bytes)[s]});
    }
  }
  return memory;
}

tl::expected<StaticMemory, NoValue> staticMemory(const graph::Graph& graph, const sema::Values& values) {
  return staticMemory(graph, values, staticOrder(graph));
}

}  // namespace tbem::estimate
