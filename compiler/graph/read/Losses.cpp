#include "compiler/graph/read/Losses.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/read/MicroBatches.h"

#include <optional>
#include <string>
#include <utility>

namespace tbem::graph {

namespace {

/// Inputs, weights and buffers are found by their paths, at run time and in files, and so is the target.
bool targetIsFree(DiagnosticSink& sink, const Graph& graph) {
  for (const Tensor& tensor : graph.tensors) {
    const Storage& storage = graph[tensor.storage];
    if (storage.path != "target" || tensor.producer != kNoOp) continue;
    sink.report(diag::target_taken, tensor.range, storage.kind == StorageClass::Input ? "input" : "weight or buffer");
    return false;
  }
  return true;
}

}  // namespace

std::vector<Value> addTarget(Elaborator& e, const Value& loss, SrcRange at, TensorId output) {
  if (!targetIsFree(e.sink, e.graph)) return {};
  const auto& decl = *static_cast<const ast::Callable*>(loss.decl);
  if (decl.tensors.size() != 2) {
    e.sink.report(diag::wrong_tensor, at, "a loss", "two tensors: the output and the target");
    return {};
  }
  const auto target = e.targetOf(loss, output, at);
  if (!target) return {};
  const ast::Parameter& declared = decl.tensors[1];
  const std::int64_t parts = e.graph.microBatches;
  const std::vector<ExprId>& shape = target->second;
  if (parts > 1 && shape.empty()) {
    e.sink.report(diag::samples_differ, declared.range, "target", "none", "split").label(at, "the loss");
    return {};
  }
  const InputTensor part{"target", target->first, shape, declared.range};
  const TensorId id = parts > 1 ? addInputInParts(e, part, shapeOfBatch(e, shape))
                                : e.builder.addInput(part.name, part.dtype, part.shape, part.range);
  return {Value::indexed(ValueKind::Tensor, index(output)), Value::indexed(ValueKind::Tensor, index(id))};
}

Value sumOfLosses(Elaborator& e, const GateTraining& gates, const Value& loss, const std::vector<Value>& pair, SrcRange at) {
  const std::string& name = static_cast<const ast::Callable*>(loss.decl)->name.text;
  std::vector<TensorId> results = e.trainedResults();
  const std::vector<Rational>& weights = gates.exits;
  if (!weights.empty() && weights.size() != results.size()) {
    e.sink.report(
        diag::design_clause_value, gates.exitsRange, "exits",
        results.empty() ? "a network with exits" : "a weight for each of " + std::to_string(results.size()) + " results",
        results.empty() ? "none" : std::to_string(weights.size()));
    return {};
  }
  if (results.empty()) results.push_back(static_cast<TensorId>(pair.front().id));
  Value sum;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (!weights.empty() && weights[k].num == 0) continue;
    std::optional<std::vector<Local>> parameters = e.networkParameters(loss, {}, at);
    if (!parameters) return {};
    Value number =
        e.applyRoot(loss, std::move(*parameters), {Value::indexed(ValueKind::Tensor, index(results[k])), pair.back()}, name, at);
    if (!number.is(ValueKind::Tensor)) return number;
    if (!weights.empty() && !(weights[k] == Rational{1}))
      number = e.callNamed("mul_scalar", {number}, {{"value", Value::number(e.pool.constant(weights[k]), true)}}, at);
    sum = sum.isPoison() ? number : e.callNamed("add", {sum, number}, {}, at);
    if (sum.isPoison()) return {};
  }
  return sum;
}

}  // namespace tbem::graph
