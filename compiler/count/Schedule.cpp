#include "compiler/count/Schedule.h"

#include "compiler/count/Static.h"
#include "compiler/graph/ir/Walk.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

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
      : graph(g), ops(std::move(given)), place(g.ops.size(), UINT32_MAX), waiting(ops.size(), 0) {
    for (std::uint32_t i = 0; i < ops.size(); ++i) place[index(ops[i])] = i;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      for (const TensorId tensor : graph[ops[i]].inputs) {
        if (tensor != graph::kNoTensor && graph[tensor].producer != graph::kNoOp) edge(place[index(graph[tensor].producer)], i);
      }
    }
    overwrites();
    sortEdges();
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
      for (const std::uint32_t user : usersOf(i)) {
        if (--waiting[user] == 0) ready(user);
      }
    }
    if (result.size() == ops.size()) return result;
    return tl::unexpected(stuck(done));
  }

  /// By operator.
  std::vector<std::vector<std::uint32_t>> allUsers() const {
    std::vector<std::vector<std::uint32_t>> all;
    for (std::uint32_t i = 0; i < ops.size(); ++i) all.emplace_back(usersOf(i).begin(), usersOf(i).end());
    return all;
  }

private:
  struct Edge {
    std::uint32_t from, to;
  };
  std::span<const std::uint32_t> usersOf(std::uint32_t i) const {
    return std::span(users).subspan(firstUser[i], firstUser[i + 1] - firstUser[i]);
  }
  void edge(std::uint32_t from, std::uint32_t to) {
    if (from == UINT32_MAX || from == to) return;
    edges.push_back({from, to});
    ++waiting[to];
  }

  /// Values of a persistent storage follow one another; all readers of one come before the writer of the next.
  void overwrites() {
    std::vector<TensorId> latest(graph.storages.size(), graph::kNoTensor);
    std::vector<std::uint32_t> writerOfNext(graph.tensors.size(), UINT32_MAX);
    std::vector<Edge> writers;  // of one storage, which keep their order
    const auto follow = [&](TensorId value) {
      const TensorId before = std::exchange(latest[index(graph[value].storage)], value);
      const OpId writer = graph[value].producer;
      if (before == graph::kNoTensor || writer == graph::kNoOp) return;
      writerOfNext[index(before)] = place[index(writer)];
      const OpId writerBefore = graph[before].producer;
      if (writerBefore != graph::kNoOp) writers.push_back({place[index(writerBefore)], place[index(writer)]});
    };
    std::vector<TensorId> rootOf(graph.tensors.size());
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const graph::Tensor& tensor = graph.tensors[t];
      rootOf[t] = static_cast<TensorId>(t);
      if (tensor.producer == graph::kNoOp && isPersistent(graph[tensor.storage])) follow(static_cast<TensorId>(t));
    }
    for (const OpId id : ops) {
      const Op& op = graph[id];
      for (const TensorId output : op.outputs) {
        if (op.kind == graph::OpKind::View) {
          rootOf[index(output)] = rootOf[index(op.inputs[0])];
        } else if (isPersistent(graph[graph[output].storage])) {
          follow(output);
        }
      }
    }
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      for (const TensorId input : graph[ops[i]].inputs) {
        if (input == graph::kNoTensor) continue;
        const std::uint32_t writer = writerOfNext[index(rootOf[index(input)])];
        if (writer != UINT32_MAX) edge(i, writer);
      }
    }
    for (const Edge& writer : writers) edge(writer.from, writer.to);
  }

  /// Edges by their first ends, in the order in which they came.
  void sortEdges() {
    firstUser.assign(ops.size() + 1, 0);
    for (const Edge& edge : edges) ++firstUser[edge.from + 1];
    std::partial_sum(firstUser.begin(), firstUser.end(), firstUser.begin());
    std::vector<std::uint32_t> next(firstUser.begin(), firstUser.end() - 1);
    users.resize(edges.size());
    for (const Edge& edge : edges) users[next[edge.from]++] = edge.to;
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
  std::vector<std::uint32_t> waiting;
  std::vector<Edge> edges;
  std::vector<std::uint32_t> users, firstUser;  ///< those of i: users[firstUser[i]] to before users[firstUser[i + 1]]
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
  return Order(graph, order).allUsers();
}

}  // namespace tbem::estimate
