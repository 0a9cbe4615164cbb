#include "compiler/count/Schedule.h"

#include "compiler/count/Static.h"
#include "compiler/graph/ir/Walk.h"

#include <algorithm>
#include <queue>

namespace tbem::estimate {

using graph::index;
using graph::Op;
using graph::OpId;
using graph::TensorId;

namespace {
bool writesPersistent(const graph::Graph& graph, const Op& op) {
  return op.kind != graph::OpKind::View && std::any_of(op.outputs.begin(), op.outputs.end(), [&graph](TensorId tensor) {
           return isPersistent(graph[graph[tensor].storage]);
         });
}

/// Operators whose results somebody wants.
std::vector<bool> needed(const graph::Graph& graph, const std::vector<OpId>& ops, const std::vector<TensorId>& wanted) {
  std::vector<bool> need(graph.ops.size(), false);
  std::vector<OpId> open;
  const auto ask = [&](TensorId tensor) {
    if (tensor == graph::kNoTensor) return;
    const OpId producer = graph[tensor].producer;
    if (producer == graph::kNoOp || need[index(producer)]) return;
    need[index(producer)] = true;
    open.push_back(producer);
  };
  for (const TensorId tensor : wanted) ask(tensor);
  for (const OpId id : ops) {  // a gate decides what else runs
    const bool gate = graph[id].kind == graph::OpKind::Skip || graph[id].kind == graph::OpKind::Exit;
    if ((!gate && !writesPersistent(graph, graph[id])) || need[index(id)]) continue;
    need[index(id)] = true;
    open.push_back(id);
  }
  while (!open.empty()) {
    const OpId id = open.back();
    open.pop_back();
    for (const TensorId tensor : graph[id].inputs) ask(tensor);
  }
  return need;
}

/// What must run before what: producers before readers, and readers of a persistent value before the operator that overwrites it.
class Order {
public:
  Order(const graph::Graph& g, std::vector<OpId> given)
      : graph(g), ops(std::move(given)), place(g.ops.size(), UINT32_MAX), users(ops.size()), waiting(ops.size(), 0) {
    for (std::uint32_t i = 0; i < ops.size(); ++i) place[index(ops[i])] = i;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      for (const TensorId tensor : graph[ops[i]].inputs) {
        if (tensor != graph::kNoTensor && graph[tensor].producer != graph::kNoOp) edge(place[index(graph[tensor].producer)], i);
      }
    }
    overwrites();
  }

  tl::expected<std::vector<OpId>, Overwritten> run() {
    using Queue = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
    Queue plain;
    Queue updates;  // what frees a gradient comes first
    const auto ready = [&](std::uint32_t i) { (graph[ops[i]].phase == graph::Phase::Optimizer ? updates : plain).push(i); };
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (waiting[i] == 0) ready(i);
    }
    std::vector<OpId> result;
    std::vector<bool> done(ops.size(), false);
    while (!plain.empty() || !updates.empty()) {
      Queue& queue = updates.empty() || (graph.microBatches > 1 && !plain.empty()) ? plain : updates;
      const std::uint32_t i = queue.top();
      queue.pop();
      result.push_back(ops[i]);
      done[i] = true;
      for (const std::uint32_t user : users[i]) {
        if (--waiting[user] == 0) ready(user);
      }
    }
    if (result.size() == ops.size()) return result;
    return tl::unexpected(stuck(done));
  }

  std::vector<std::vector<std::uint32_t>> takeUsers() { return std::move(users); }

private:
  void edge(std::uint32_t from, std::uint32_t to) {
    if (from == UINT32_MAX || from == to) return;
    users[from].push_back(to);
    ++waiting[to];
  }

  /// Values of a persistent storage follow one another; all readers of one come before the writer of the next.
  void overwrites() {
    std::vector<std::vector<TensorId>> values(graph.storages.size());  // by storage, in program order
    std::vector<TensorId> rootOf(graph.tensors.size());
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) rootOf[t] = static_cast<TensorId>(t);
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::Tensor& tensor = graph.tensors[t];
      if (tensor.producer == graph::kNoOp && isPersistent(graph[tensor.storage]))
        values[index(tensor.storage)].push_back(static_cast<TensorId>(t));
    }
    for (const OpId id : ops) {
      const Op& op = graph[id];
      for (const TensorId output : op.outputs) {
        if (op.kind == graph::OpKind::View) {
          rootOf[index(output)] = rootOf[index(op.inputs[0])];
        } else if (isPersistent(graph[graph[output].storage])) {
          values[index(graph[output].storage)].push_back(output);
        }
      }
    }
    std::vector<std::uint32_t> writerOfNext(graph.tensors.size(), UINT32_MAX);
    for (const std::vector<TensorId>& chain : values) {
      for (std::size_t k = 1; k < chain.size(); ++k) {
        if (graph[chain[k]].producer != graph::kNoOp) writerOfNext[index(chain[k - 1])] = place[index(graph[chain[k]].producer)];
      }
    }
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      for (const TensorId input : graph[ops[i]].inputs) {
        if (input == graph::kNoTensor) continue;
        const std::uint32_t writer = writerOfNext[index(rootOf[index(input)])];
        if (writer != UINT32_MAX) edge(i, writer);
      }
    }
    for (const std::vector<TensorId>& chain : values) {  // writers of one storage keep their order
      for (std::size_t k = 1; k < chain.size(); ++k) {
        const OpId before = graph[chain[k - 1]].producer;
        const OpId after = graph[chain[k]].producer;
        if (before != graph::kNoOp && after != graph::kNoOp) edge(place[index(before)], place[index(after)]);
      }
    }
  }

  Overwritten stuck(const std::vector<bool>& done) const {
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (done[i]) continue;
      for (const TensorId input : graph[ops[i]].inputs) {
        if (input != graph::kNoTensor && isPersistent(graph[graph[input].storage])) return {input, ops[i]};
      }
    }
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (!done[i]) return {graph[ops[i]].outputs.empty() ? graph::kNoTensor : graph[ops[i]].outputs[0], ops[i]};
    }
    return {graph::kNoTensor, graph::kNoOp};
  }

  const graph::Graph& graph;
  std::vector<OpId> ops;
  std::vector<std::uint32_t> place;  ///< by OpId: position in `ops`
  std::vector<std::vector<std::uint32_t>> users;
  std::vector<std::uint32_t> waiting;
};
}  // namespace

std::vector<TensorId> returnedBy(const graph::Graph& graph) {
  std::vector<TensorId> returned;
  if (!graph.training) returned = graph.outputs;
  if (graph.loss != graph::kNoTensor) returned.push_back(graph.loss);
  for (const graph::Graph::Wanted& wanted : graph.wanted) {
    if (wanted.gradient != graph::kNoTensor) returned.push_back(wanted.gradient);
  }
  return returned;
}

tl::expected<std::vector<OpId>, Overwritten> schedule(const graph::Graph& graph, const std::vector<TensorId>& wanted) {
  const std::vector<OpId> all = graph::programOrder(graph);
  const std::vector<bool> need = needed(graph, all, wanted);
  std::vector<OpId> ops;
  std::copy_if(all.begin(), all.end(), std::back_inserter(ops), [&need](OpId id) { return need[index(id)]; });
  return Order(graph, std::move(ops)).run();
}

std::size_t repeatedOps(const graph::Graph& graph, const std::vector<OpId>& order) {
  if (graph.microBatches == 1) return order.size();
  const auto once =
      std::find_if(order.begin(), order.end(), [&graph](OpId id) { return graph[id].phase == graph::Phase::Optimizer; });
  return static_cast<std::size_t>(once - order.begin());
}

std::vector<std::vector<std::uint32_t>> mustFollow(const graph::Graph& graph, const std::vector<OpId>& order) {
  return Order(graph, order).takeUsers();
}

}  // namespace tbem::estimate
