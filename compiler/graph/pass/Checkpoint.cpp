#include "compiler/graph/pass/Checkpoint.h"

#include "compiler/graph/ir/Walk.h"
#include "compiler/graph/pass/Mutation.h"

#include <algorithm>

namespace tbem::graph {

namespace {

bool isOfStep(const Graph& graph, TensorId tensor) {
  const Storage& storage = graph[graph[tensor].storage];
  return storage.kind == StorageClass::Activation && !storage.carried;
}

/// Doing it twice does what doing it once does: it writes nothing that outlives the step, and reads nothing that the step
/// overwrites before the backward pass. An operator's own code promises neither.
bool isPure(const Graph& graph, const Op& op) {
  const bool known = op.kind == OpKind::Elementwise || op.primitive != TBEM_PRIMITIVE_COUNT;
  if (!known || op.phase != Phase::Forward) return false;
  const bool writes = std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId t) { return !isOfStep(graph, t); });
  const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) {
    if (t == kNoTensor) return false;
    const Storage& storage = graph[graph[t].storage];
    return storage.kind == StorageClass::Buffer || storage.kind == StorageClass::State || storage.carried;
  });
  return !writes && !reads;
}

}  // namespace

Repeatable repeatable(const Graph& graph) {
  Repeatable which;
  which.can.assign(graph.storages.size(), false);
  which.saved.assign(graph.storages.size(), false);
  std::vector<int> writers(graph.storages.size(), 0);
  for (const Op& op : graph.ops) {
    const bool pure = isPure(graph, op);
    for (const TensorId tensor : op.outputs) {
      const std::uint32_t storage = index(graph[tensor].storage);
      if (op.kind != OpKind::View) which.can[storage] = ++writers[storage] == 1 && pure;
    }
    if (op.phase == Phase::Forward) continue;
    for (const TensorId tensor : op.inputs) {
      if (tensor == kNoTensor || graph[tensor].producer == kNoOp) continue;
      which.saved[index(graph[tensor].storage)] = true;
    }
  }
  for (const TensorId output : graph.outputs) which.can[index(graph[output].storage)] = false;
  if (graph.loss != kNoTensor) which.can[index(graph[graph.loss].storage)] = false;
  for (std::size_t s = 0; s < which.can.size(); ++s) which.saved[s] = which.saved[s] && which.can[s];
  return which;
}

Repeater::Repeater(const Graph& graph, const std::vector<OpId>& order, const Repeatable& which) : done(order.size()) {
  std::vector<std::uint32_t> placeOf(graph.ops.size(), 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) placeOf[index(order[i])] = i;
  for (const OpId id : order) {
    Place place{id, graph[id].phase == Phase::Forward, static_cast<std::uint32_t>(needs.size()), 0};
    for (const TensorId tensor : graph[id].inputs) {
      if (tensor == kNoTensor || graph[tensor].producer == kNoOp) continue;
      const std::uint32_t storage = index(graph[tensor].storage);
      // A view may be made in the backward pass, of a forward value.
      const bool isForward = graph[graph[tensor].producer].phase == Phase::Forward;
      if (which.can[storage] && isForward) needs.push_back({storage, placeOf[index(graph[tensor].producer)]});
    }
    place.endNeed = static_cast<std::uint32_t>(needs.size());
    places.push_back(place);
  }
}

const std::vector<Repeat>& Repeater::run(const std::vector<bool>& keep) {
  steps.clear();
  std::fill(done.begin(), done.end(), 0);
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (!places[i].isForward) repeatBefore(i, keep);
    steps.push_back({places[i].op, false});
  }
  return steps;
}

void Repeater::repeatBefore(std::uint32_t reader, const std::vector<bool>& keep) {
  found.clear();
  open.assign(1, reader);
  while (!open.empty()) {
    const Place& place = places[open.back()];
    open.pop_back();
    for (std::uint32_t n = place.firstNeed; n < place.endNeed; ++n) {
      const auto [storage, producer] = needs[n];
      if (keep[storage] || done[producer] != 0) continue;
      done[producer] = 1;
      found.push_back(producer);
      open.push_back(producer);
    }
  }
  std::sort(found.begin(), found.end());
  for (const std::uint32_t again : found) steps.push_back({places[again].op, true});
}

Graph recompute(const Graph& graph, const std::vector<bool>& keep) {
  Graph made = graph;
  std::vector<TensorId> now(graph.tensors.size());  // by tensor: what readers from here on read
  for (std::uint32_t t = 0; t < now.size(); ++t) now[t] = static_cast<TensorId>(t);
  std::vector<std::optional<StorageId>> storageOf(graph.storages.size());
  std::vector<OpId>& program = made[kMainRegion].ops;
  program.clear();
  const auto read = [&](std::vector<TensorId>& inputs) {
    for (TensorId& tensor : inputs) {
      if (tensor != kNoTensor) tensor = now[index(tensor)];
    }
  };
  const auto again = [&](OpId id) {
    Op op = graph[id];
    read(op.inputs);
    op.phase = Phase::Backward;
    op.forward = id;
    op.repeats = true;
    const auto copy = static_cast<OpId>(made.ops.size());
    for (TensorId& result : op.outputs) {
      Tensor tensor = graph[result];
      std::optional<StorageId>& storage = storageOf[index(tensor.storage)];
      if (!storage) {
        storage = static_cast<StorageId>(made.storages.size());
        made.storages.push_back(graph[tensor.storage]);
      }
      tensor.storage = *storage;
      tensor.producer = copy;
      const auto fresh = static_cast<TensorId>(made.tensors.size());
      made.tensors.push_back(std::move(tensor));
      now[index(result)] = fresh;
      result = fresh;
    }
    made.ops.push_back(std::move(op));
    program.push_back(copy);
  };
  const Repeatable which = repeatable(graph);
  // A result of a repeated operator whose first value is kept is read where it is.
  const auto restore = [&](OpId id) {
    for (const TensorId result : graph[id].outputs) {
      if (keep[index(graph[result].storage)]) now[index(result)] = result;
    }
  };
  Repeater repeater(graph, programOrder(graph), which);
  for (const auto& [id, isRepetition] : repeater.run(keep)) {
    if (isRepetition) {
      again(id);
      restore(id);
    } else {
      Op& op = made[id];
      if (op.phase != Phase::Forward) read(op.inputs);
      if (op.kind == OpKind::View) made[op.outputs.front()].storage = made[op.inputs.front()].storage;
      program.push_back(id);
    }
  }
  return made;
}

ScopeId outermost(const Graph& graph, ScopeId scope) {
  while (index(scope) != 0 && index(graph.scopes[index(scope)].parent) != 0) scope = graph.scopes[index(scope)].parent;
  return scope;
}

ScopeChoice scopesOf(const Graph& graph, const CheckpointSpec& spec) {
  ScopeChoice choice;
  choice.scopes.assign(graph.scopes.size(), spec.kind == CheckpointSpec::Kind::All);
  if (!choice.scopes.empty()) choice.scopes.front() = false;  // the network itself
  for (const std::string& text : spec.places) {
    const std::vector<PathPart> place = pathParts(text);
    bool met = false;
    for (std::size_t s = 1; s < graph.scopes.size(); ++s) {
      const Scope& scope = graph.scopes[s];
      if (fits(place, pathParts(scope.path), scope.declaration) == Fit::None) continue;
      choice.scopes[s] = met = true;
    }
    if (!met && choice.unmet.empty()) choice.unmet = text;
  }
  return choice;
}

std::vector<bool> keepOutside(const Graph& graph, const std::vector<bool>& scopes) {
  // By scope: the outermost chosen one around it; 0 outside all of them.
  std::vector<std::uint32_t> around(graph.scopes.size(), 0);
  for (std::uint32_t s = 1; s < graph.scopes.size(); ++s) {
    const std::uint32_t outer = around[index(graph.scopes[s].parent)];
    around[s] = outer != 0 ? outer : scopes[s] ? s : 0;
  }
  std::vector<std::uint32_t> madeIn(graph.storages.size(), 0);
  for (const Op& op : graph.ops) {
    if (op.phase != Phase::Forward || op.kind == OpKind::View) continue;
    for (const TensorId tensor : op.outputs) madeIn[index(graph[tensor].storage)] = around[index(op.scope)];
  }
  std::vector<bool> keep(graph.storages.size());
  for (std::size_t s = 0; s < keep.size(); ++s) keep[s] = madeIn[s] == 0;
  for (const Op& op : graph.ops) {
    if (op.phase != Phase::Forward || op.kind == OpKind::View) continue;
    for (const TensorId tensor : op.inputs) {
      if (tensor == kNoTensor) continue;
      const std::uint32_t storage = index(graph[tensor].storage);
      if (madeIn[storage] != around[index(op.scope)]) keep[storage] = true;
    }
  }
  return keep;
}

}  // namespace tbem::graph
