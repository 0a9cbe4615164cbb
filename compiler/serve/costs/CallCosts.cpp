#include "compiler/serve/costs/CallCosts.h"

#include "compiler/count/Layout.h"
#include "compiler/serve/costs/CallPlaces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tbem::serve {

namespace {

using estimate::Count;
using graph::index;
using graph::OpId;
using graph::TensorId;

/// One time that a call is made: an operator, or an instance of a block with all that stands in it.
struct Turn {
  std::vector<TensorId> results;
};

class Attributor {
public:
  Attributor(const driver::Workspace& workspace, const graph::Row& row)
      : graph(row.structure->graph), pool(row.structure->pool), values(row.values), places(callPlaces(workspace.file())) {
    base = workspace.file().source->base;
    for (std::size_t i = 0; i < places.size(); ++i) byRange.emplace(std::pair(places[i].range.begin, places[i].range.end), i);
    calls.resize(places.size());
  }

  std::vector<CallCosts> all() {
    placeScopes();
    findReaders();
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
      const graph::Op& op = graph.ops[i];
      if (op.phase == graph::Phase::Forward) forward(static_cast<OpId>(i), op);
      if (op.phase == graph::Phase::Backward) backward(static_cast<OpId>(i), op);
    }
    std::vector<CallCosts> list;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (std::optional<CallCosts> one = finished(i)) list.push_back(std::move(*one));
    }
    return list;
  }

private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  /// What is known of a call of the text.
  struct Call {
    CallCosts costs;
    std::map<std::uint32_t, Turn> turns;  ///< by scope, or by operator where it makes no scope
    std::set<std::uint32_t> weights;      ///< storages
    bool scoped = false;
  };

  std::size_t placeOf(SrcRange range) const {
    const auto found = byRange.find({range.begin, range.end});
    return found == byRange.end() ? kNowhere : found->second;
  }

  /// Scope 0 is the network, which no call of a body makes.
  void placeScopes() {
    ofScope.assign(graph.scopes.size(), kNowhere);
    for (std::size_t s = 1; s < graph.scopes.size(); ++s) {
      ofScope[s] = placeOf(graph.scopes[s].range);
      if (ofScope[s] == kNowhere) continue;
      calls[ofScope[s]].scoped = true;
      calls[ofScope[s]].costs.name = graph.scopes[s].declaration;
    }
  }

  void findReaders() {
    readers.resize(graph.tensors.size());
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
      if (graph.ops[i].phase != graph::Phase::Forward) continue;
      for (const TensorId input : graph.ops[i].inputs) {
        if (input != graph::kNoTensor) readers[index(input)].push_back(i);
      }
    }
    isOutput.assign(graph.tensors.size(), false);
    for (const TensorId output : graph.outputs) isOutput[index(output)] = true;
  }

  /// Calls `visit(place, scope)` for each call of the text in whose instance the operator stands, inner ones first.
  template <class Visit>
  void eachScope(const graph::Op& op, Visit&& visit) const {
    for (std::uint32_t scope = index(op.scope); scope != 0 && scope < graph.scopes.size();
         scope = index(graph.scopes[scope].parent)) {
      if (ofScope[scope] != kNowhere) visit(ofScope[scope], scope);
    }
  }

  bool isInside(std::uint32_t scope, std::uint32_t outer) const {
    while (scope > outer) scope = index(graph.scopes[scope].parent);  // a parent before its children
    return scope == outer;
  }

  /// The call that makes this one operator.
  std::size_t leafOf(const graph::Op& op) const {
    using enum graph::OpKind;
    if (op.kind == Skip || op.kind == Exit || op.kind == Join) return kNowhere;
    const std::size_t place = placeOf(op.use);
    return place == kNowhere || calls[place].scoped ? kNowhere : place;
  }

  Count flopsOf(OpId id) const { return estimate::countFlops(graph, values, {&id, 1}).value_or(0); }

  std::uint64_t bytesOf(TensorId tensor) const {
    const auto dims = estimate::dimsOf(graph, values, tensor);
    if (!dims) return 0;
    std::uint64_t bytes = estimate::elementBytes(graph[tensor].dtype);
    for (const std::int64_t dim : *dims) bytes *= static_cast<std::uint64_t>(dim);  // dimsOf has checked that this fits
    return bytes;
  }

  void add(Call& call, const graph::Op& op, Count flops) {
    call.costs.forward += flops;
    for (const TensorId input : op.inputs) {
      if (input == graph::kNoTensor) continue;
      const graph::StorageId storage = graph[input].storage;
      if (graph[storage].kind == graph::StorageClass::Weight) call.weights.insert(index(storage));
    }
  }

  void forward(OpId id, const graph::Op& op) {
    const Count flops = flopsOf(id);
    if (const std::size_t place = leafOf(op); place != kNowhere) {
      Call& call = calls[place];
      add(call, op, flops);
      // Mixed precision inserts casts at the place of their reader.
      const bool isOther = op.declaration == "cast" && !call.costs.name.empty() && call.costs.name != "cast";
      if (call.costs.name == "cast" && op.declaration != "cast") call.turns.clear();
      if (!isOther) {
        call.costs.name = op.declaration;
        takeResults(call.turns[index(id)], op, [&](std::uint32_t reader) { return reader == index(id); });
        // Nobody reads it: its first result is what is asked for.
        Turn& turn = call.turns[index(id)];
        if (turn.results.empty() && !op.outputs.empty()) turn.results.push_back(op.outputs.front());
      }
    }
    eachScope(op, [&](std::size_t place, std::uint32_t scope) {
      add(calls[place], op, flops);
      takeResults(calls[place].turns[scope], op,
                  [&](std::uint32_t reader) { return isInside(index(graph.ops[reader].scope), scope); });
    });
  }

  /// Those of the operator's results that are read by others than `isOwn`.
  template <class IsOwn>
  void takeResults(Turn& turn, const graph::Op& op, const IsOwn& isOwn) const {
    for (const TensorId result : op.outputs) {
      if (result == graph::kNoTensor) continue;
      const std::vector<std::uint32_t>& read = readers[index(result)];
      if (isOutput[index(result)] || !std::ranges::all_of(read, isOwn)) turn.results.push_back(result);
    }
  }

  /// A gradient counts where its operator stands.
  void backward(OpId id, const graph::Op& op) {
    OpId forward = op.forward;
    while (forward != graph::kNoOp && graph[forward].phase == graph::Phase::Backward) forward = graph[forward].forward;
    if (forward == graph::kNoOp) return;
    const Count flops = flopsOf(id);
    const graph::Op& whose = graph[forward];
    if (const std::size_t place = leafOf(whose); place != kNowhere) calls[place].costs.backward += flops;
    eachScope(whose, [&](std::size_t place, std::uint32_t) { calls[place].costs.backward += flops; });
  }

  template <class TextOf>
  static std::string joined(const std::vector<TensorId>& tensors, const TextOf& textOf) {
    std::string text;
    for (const TensorId tensor : tensors) text += (text.empty() ? "" : ", ") + textOf(tensor);
    return text;
  }

  std::optional<CallCosts> finished(std::size_t place) {
    Call& call = calls[place];
    std::erase_if(call.turns, [](const auto& turn) { return turn.second.results.empty(); });
    if (call.turns.empty()) return std::nullopt;
    CallCosts costs = std::move(call.costs);
    const CallPlace& there = places[place];
    costs.place = {there.range.begin - base, there.range.end - base};
    costs.callee = {there.callee.begin - base, there.callee.end - base};
    costs.times = call.turns.size();
    const auto numbers = [&](const Turn& turn) {
      return joined(turn.results, [&](TensorId tensor) { return graph::shapeText(graph, tensor, values); });
    };
    const Turn& first = call.turns.begin()->second;
    costs.shape = numbers(first);
    costs.lastShape = numbers(call.turns.rbegin()->second);
    costs.symbolic = joined(first.results, [&](TensorId tensor) { return graph::shapeText(pool, graph, tensor); });
    for (const auto& [when, turn] : call.turns) {
      for (const TensorId result : turn.results) costs.results += bytesOf(result);
    }
    for (const graph::Graph::Weight& weight : graph.weights) {
      if (call.weights.contains(index(graph[weight.value].storage))) costs.weights += bytesOf(weight.value);
    }
    return costs;
  }

  const graph::Graph& graph;
  const sema::ExprPool& pool;
  const sema::Values& values;
  std::vector<CallPlace> places;
  Loc base = 0;
  std::map<std::pair<Loc, Loc>, std::size_t> byRange;  ///< into `places`
  std::vector<Call> calls;                             ///< by place
  std::vector<std::size_t> ofScope;                    ///< by scope: the call that makes it
  std::vector<std::vector<std::uint32_t>> readers;     ///< by tensor: operators of the forward pass
  std::vector<bool> isOutput;                          ///< by tensor: of the network
};

}  // namespace

std::vector<CallCosts> callCosts(const driver::Workspace& workspace, const graph::Row& row) {
  return Attributor(workspace, row).all();
}

}  // namespace tbem::serve
