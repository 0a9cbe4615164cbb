#include "compiler/graph/read/Losses.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/read/MicroBatches.h"

#include <optional>
#include <string>
#include <utility>

namespace tbem::graph {

namespace {

Value tensorValue(TensorId id) { return Value::indexed(ValueKind::Tensor, index(id)); }

/// Inputs, weights and buffers are found by their paths, at run time and in files, and so is a target.
bool targetIsFree(DiagnosticSink& sink, const Graph& graph, const std::string& name) {
  for (const Tensor& tensor : graph.tensors) {
    const Storage& storage = graph[tensor.storage];
    if (storage.path != name || tensor.producer != kNoOp) continue;
    sink.report(diag::target_taken, tensor.range, storage.kind == StorageClass::Input ? "input" : "weight or buffer");
    return false;
  }
  return true;
}

/// One target as an input; nothing after a report.
std::optional<Value> addTarget(Elaborator& e, const ast::Parameter& declared, const std::string& name, TargetType type,
                               SrcRange at) {
  if (!targetIsFree(e.sink, e.graph, name)) return std::nullopt;
  const std::int64_t parts = e.graph.microBatches;
  if (parts > 1 && type.shape.empty()) {
    e.sink.report(diag::samples_differ, declared.range, name, "none", "split").label(at, "the loss");
    return std::nullopt;
  }
  const InputTensor part{name, type.dtype, std::move(type.shape), declared.range};
  const TensorId id = parts > 1 ? addInputInParts(e, part, shapeOfBatch(e, part.shape))
                                : e.builder.addInput(part.name, part.dtype, part.shape, part.range);
  return tensorValue(id);
}

}  // namespace

std::optional<LossTensors> addTargets(Elaborator& e, const Value& loss, SrcRange at, const std::vector<TensorId>& results) {
  const auto& decl = *static_cast<const ast::Callable*>(loss.decl);
  const std::size_t count = results.size();
  if (decl.tensors.size() <= count) {
    const std::string first = count == 1 ? "the output" : "the network's " + std::to_string(count) + " results";
    Diagnostic& d = e.sink.report(diag::wrong_tensor, at, "a loss", first + " as its first tensors, and a target behind");
    if (count > 1) d.note("several losses are an operator that takes all results and adds them up");
    return std::nullopt;
  }
  std::optional<std::vector<TargetType>> types = e.targetsOf(loss, results, at);
  if (!types) return std::nullopt;
  e.graph.targets = static_cast<std::uint32_t>(types->size());
  LossTensors tensors;
  for (const TensorId result : results) tensors.results.push_back(tensorValue(result));
  for (std::size_t k = 0; k < types->size(); ++k) {
    const ast::Parameter& declared = decl.tensors[count + k];
    const std::string name = types->size() == 1 ? "target" : "target." + declared.name.text;
    const std::optional<Value> target = addTarget(e, declared, name, std::move((*types)[k]), at);
    if (!target) return std::nullopt;
    tensors.targets.push_back(*target);
  }
  return tensors;
}

Value sumOfLosses(Elaborator& e, const GateTraining& gates, const Value& loss, const LossTensors& tensors, SrcRange at) {
  const std::string& name = static_cast<const ast::Callable*>(loss.decl)->name.text;
  const std::vector<TensorId>& exits = e.trainedResults();
  const std::vector<Rational>& weights = gates.exits;
  if (!weights.empty() && weights.size() != exits.size()) {
    e.sink.report(diag::design_clause_value, gates.exitsRange, "exits",
                  exits.empty() ? "a network with exits" : "a weight for each of " + std::to_string(exits.size()) + " results",
                  exits.empty() ? "none" : std::to_string(weights.size()));
    return {};
  }
  std::vector<std::vector<Value>> all;  // of each loss: the results that it is given
  all.reserve(exits.size());
  for (const TensorId exit : exits) all.push_back({tensorValue(exit)});
  if (all.empty()) all.push_back(tensors.results);
  Value sum;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!weights.empty() && weights[k].num == 0) continue;
    std::optional<std::vector<Local>> parameters = e.networkParameters(loss, {}, at);
    if (!parameters) return {};
    std::vector<Value> given = std::move(all[k]);
    given.insert(given.end(), tensors.targets.begin(), tensors.targets.end());
    Value number = e.applyRoot(loss, std::move(*parameters), std::move(given), name, at);
    if (!number.is(ValueKind::Tensor)) return number;
    if (!weights.empty() && !(weights[k] == Rational{1}))
      number = e.callNamed("mul_scalar", {number}, {{"value", Value::number(e.pool.constant(weights[k]), true)}}, at);
    sum = sum.isPoison() ? number : e.callNamed("add", {sum, number}, {}, at);
    if (sum.isPoison()) return {};
  }
  return sum;
}

// ---- Rewards ------------------------------------------------------------------------------------------------------------

namespace {

/// Numbers of each gate [samples] as one tensor [samples, gates]; poison after a report. The gates have as many samples each.
Value besideOneAnother(Elaborator& e, const std::vector<Drawn>& gates, TensorId Drawn::*which, SrcRange at) {
  Value list;
  list.kind = ValueKind::List;
  for (const Drawn& gate : gates) list.items.push_back(tensorValue(gate.*which));
  return e.callNamed("stack", {std::move(list)}, {{"axis", Value::number(e.pool.constant(std::int64_t{1}))}}, at);
}

/// What decisions [samples, gates] and results earn: a number for each sample and gate. Poison after a report.
Value earned(Elaborator& e, const Value& reward, const Value& shares, const LossTensors& tensors, SrcRange at) {
  const auto& decl = *static_cast<const ast::Callable*>(reward.decl);
  std::optional<std::vector<Local>> parameters = e.networkParameters(reward, {}, at);
  if (!parameters) return {};
  std::vector<Value> given{shares};
  given.insert(given.end(), tensors.results.begin(), tensors.results.end());
  given.insert(given.end(), tensors.targets.begin(), tensors.targets.end());
  Value number = e.applyRoot(reward, std::move(*parameters), std::move(given), decl.name.text, at);
  if (number.isPoison()) return {};
  const auto shapeText = [&](const Value& tensor) { return graph::shapeText(e.pool, e.graph, static_cast<TensorId>(tensor.id)); };
  if (!number.is(ValueKind::Tensor) || e.graph.tensors[number.id].shape.size() != 2) {
    e.sink.report(diag::wrong_tensor, at, "a reward",
                  "a number for each sample and gate as its result, " + shapeText(shares) + ", found " +
                      (number.is(ValueKind::Tensor) ? shapeText(number) : kindName(number)));
    return {};
  }
  for (std::size_t k = 0; k < 2; ++k) {
    const ExprId here = e.graph.tensors[number.id].shape[k], there = e.graph.tensors[shares.id].shape[k];
    if (!e.agree(here, there, k == 0 ? "samples" : "gates", at, decl.name.range)) return {};
  }
  return number;
}

/// What the network earns as it is at inference. Poison after a report.
Value earnedAtInference(Elaborator& e, const Value& reward, const LossTensors& tensors, const AppliedNetwork& network,
                        SrcRange at) {
  e.beAtInference();
  const Value result = e.applyRoot(network.callee, network.parameters, network.inputs, "", network.use);
  e.inTraining = true;  // what follows is the step's again
  if (result.isPoison()) return {};
  const Value shares = besideOneAnother(e, e.drawnGates(), &Drawn::share, at);
  if (shares.isPoison()) return {};
  return earned(e, reward, shares,
                {result.is(ValueKind::Tensor) ? sema::SharedVector<Value>{result} : result.items, tensors.targets}, at);
}

}  // namespace

Value policyLoss(Elaborator& e, const GateTraining& gates, const Value& reward, const LossTensors& tensors,
                 const AppliedNetwork& network) {
  const std::vector<Drawn> drawn = e.drawnGates();
  const SrcRange at = gates.reward->range;
  if (drawn.empty()) {
    e.sink.report(diag::design_clause_value, at, "gates reinforce", "a network with a `skip`, whose decision it draws", "none");
    return {};
  }
  if (gates.isSelfCritical && !e.trainedResults().empty()) {
    e.sink.report(diag::design_clause_value, at, "baseline: likeliest", "a network without exits", "one with exits");
    return {};
  }
  for (const Drawn& gate : drawn) {
    const ExprId first = e.graph[drawn.front().share].shape[0];
    if (!e.agree(e.graph[gate.share].shape[0], first, "samples", gate.range, drawn.front().range)) return {};
  }
  const auto& decl = *static_cast<const ast::Callable*>(reward.decl);
  const std::size_t wanted = 1 + tensors.results.size() + tensors.targets.size();
  if (decl.tensors.size() != wanted) {
    e.sink.report(diag::wrong_tensor, at, "a reward",
                  std::to_string(wanted) + " tensors: the decisions [samples, gates], and then what the loss has");
    return {};
  }
  const Value shares = besideOneAnother(e, drawn, &Drawn::share, at);
  const Value chances = shares.isPoison() ? shares : besideOneAnother(e, drawn, &Drawn::chance, at);
  if (chances.isPoison()) return {};
  Value number = earned(e, reward, shares, tensors, at);
  if (gates.isSelfCritical && !number.isPoison()) {
    const Value usual = earnedAtInference(e, reward, tensors, network, at);
    number = usual.isPoison() ? usual : e.callNamed("sub", {number, usual}, {}, at);
  }
  if (number.isPoison()) return {};
  return e.callNamed("policy_loss", {chances, number}, {{"weight", Value::number(e.pool.constant(gates.weight), true)}}, at);
}

}  // namespace tbem::graph
