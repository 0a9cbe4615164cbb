// The optimiser: its parameters, the words of its updates, and one update a weight.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <utility>

namespace tbem::graph {

std::optional<UpdateRule> Elaborator::updateRule(const Value& optimizer, SrcRange use) {
  UpdateRule rule;
  rule.decl = static_cast<const ast::Callable*>(optimizer.decl);
  rule.module = optimizer.module;
  rule.use = use;
  const std::string& name = rule.decl->name.text;
  if (rule.decl->updates.empty() || rule.decl->tensors.size() != 2) {
    fail(diag::bad_optimizer, use, name,
         rule.decl->updates.empty() ? "it has no `updates`" : "it must take two tensors, the weight and its gradient");
    return std::nullopt;
  }
  std::optional<std::vector<Local>> parameters = networkParameters(optimizer, {}, use);
  if (!parameters) return std::nullopt;
  rule.parameters = std::move(*parameters);
  // A schedule is an operator that makes a number from `step`: applied once, for all weights.
  const Detour detour(*this, Phase::Optimizer);
  for (Local& local : rule.parameters) {
    const bool callable = local.value.is(ValueKind::Partial) || local.value.is(ValueKind::Declaration);
    if (!callable || !local.value.decl || local.value.decl->kind != ast::NodeKind::Callable) continue;
    std::optional<std::vector<Local>> own = networkParameters(local.value, {}, use);
    if (!own) return std::nullopt;
    const auto& schedule = *static_cast<const ast::Callable*>(local.value.decl);
    local.value = apply({schedule, *local.value.module, std::move(*own), {}, "optimizer", use});
    if (local.value.isPoison()) return std::nullopt;
    if (!local.value.is(ValueKind::Tensor) || !graph.tensors[local.value.id].shape.empty()) {
      wrongKind(use, "`" + std::string(local.name) + "` of `" + name + "`", "a schedule whose result is a scalar", local.value);
      return std::nullopt;
    }
  }
  Graph::Optimizer& known = graph.optimizers.emplace_back(Graph::Optimizer{name, {}});
  for (const Local& local : rule.parameters) {
    if (local.value.is(ValueKind::Number) || local.value.is(ValueKind::Bool))
      known.numbers.emplace_back(local.name, local.value.expr);
  }
  if (options.recordCalls) {
    Call& call = out.optimizers.emplace_back(Call{rule.decl, rule.module->isStandard, "", {}, {}, {}, kNoCall, 0, 0, use});
    for (const Local& local : rule.parameters) call.parameters.emplace_back(local.name, local.value);
  }
  return rule;
}

std::optional<TensorId> Elaborator::update(UpdateRule& rule, TensorId weight, TensorId gradient) {
  const Detour detour(*this, Phase::Optimizer);
  writesUpdates = !std::exchange(rule.applied, true) || options.updates == Updates::All;
  std::vector<Value> tensors{Value::indexed(ValueKind::Tensor, index(weight)),
                             Value::indexed(ValueKind::Tensor, index(gradient))};
  const StorageId storage = graph[weight].storage;
  if (apply({*rule.decl, *rule.module, rule.parameters, std::move(tensors), graph[storage].path, rule.use}).isPoison())
    return std::nullopt;
  const auto newest = owned.latest.find(index(storage));
  return newest != owned.latest.end() ? newest->second : kNoTensor;
}

Value Elaborator::gradientNorm() {
  if (normOfGradients == kNoTensor) {
    const Detour detour(*this);
    Frame bare;
    bare.module = frame->module;
    now.elem = nullptr;
    frame = &bare;
    const SrcRange use = now.current->use;
    Value total;
    for (const Graph::Weight& weight : std::vector<Graph::Weight>(graph.weights)) {
      if (weight.gradient == kNoTensor) continue;
      const Value squares = callNamed("sum_squares", {Value::indexed(ValueKind::Tensor, index(weight.gradient))}, {}, use);
      total = total.isPoison() ? squares : callNamed("add", {total, squares}, {}, use);
      if (squares.isPoison() || total.isPoison()) break;
    }
    const Value norm = total.isPoison() ? total : callNamed("sqrt", {total}, {}, use);
    if (norm.isPoison()) return {};
    normOfGradients = static_cast<TensorId>(norm.id);
  }
  return readTensor(normOfGradients, {}, "gradient_norm");
}

}  // namespace tbem::graph
