// The optimiser: its parameters, the words of its updates, and one update a weight.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <map>
#include <optional>
#include <string_view>
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
  now.isUpdate = true;
  writesUpdates = !std::exchange(rule.applied, true) || options.updates == Updates::All;
  std::vector<Value> tensors{Value::indexed(ValueKind::Tensor, index(weight)),
                             Value::indexed(ValueKind::Tensor, index(gradient))};
  const StorageId storage = graph[weight].storage;
  if (apply({*rule.decl, *rule.module, rule.parameters, std::move(tensors), graph[storage].path, rule.use}).isPoison())
    return std::nullopt;
  const auto newest = owned.latest.find(index(storage));
  return newest != owned.latest.end() ? newest->second : kNoTensor;
}

TensorId Elaborator::gradientNorm(SrcRange use) {
  if (normOfGradients == kNoTensor) {
    const Detour detour(*this);
    Frame bare;
    bare.module = frame != nullptr ? frame->module : nullptr;
    now.elem = nullptr;
    frame = &bare;
    Value total;
    for (const Graph::Weight& weight : std::vector<Graph::Weight>(graph.weights)) {
      if (weight.gradient == kNoTensor) continue;
      const Value squares = callNamed("sum_squares", {Value::indexed(ValueKind::Tensor, index(weight.gradient))}, {}, use);
      total = total.isPoison() ? squares : callNamed("add", {total, squares}, {}, use);
      if (squares.isPoison() || total.isPoison()) break;
    }
    const Value norm = total.isPoison() ? total : callNamed("sqrt", {total}, {}, use);
    if (!norm.isPoison()) normOfGradients = static_cast<TensorId>(norm.id);
  }
  return normOfGradients;
}

Value Elaborator::readGradientNorm() {
  const TensorId norm = gradientNorm(now.current->use);
  return norm == kNoTensor ? Value{} : readTensor(norm, {}, "gradient_norm");
}

/// The parts become roots of the expression, but for those that are values for the parts below.
bool Elaborator::evaluateUpdates(Activation& a, const std::vector<const ast::Part*>& parts, ElementwiseBuilder& build) {
  std::optional<std::vector<Operand>> operands = readOperands(a, [](const Local&) { return true; });
  if (!operands) return false;
  frame = &a.frame;
  const ElementNames names(a.frame, std::move(*operands));
  // Of a scaled loss: whether the gradients are finite, without which all stays as it was before the first part.
  std::optional<std::uint32_t> isFinite;
  std::map<std::string_view, std::uint32_t> before;
  if (now.isUpdate && tape.lossScale) {
    const Value norm = readGradientNorm();
    if (norm.isPoison()) return false;
    const auto inverse = build.operation(ElemOp::Div, build.constant(Rational::of(1)), norm.id);
    isFinite = build.operation(ElemOp::Less, build.constant(Rational::of(0)), inverse);
  }
  for (const ast::Part* part : parts) {
    const Value value = evaluate(*part->value);
    const std::optional<std::uint32_t> root = value.isPoison() ? std::nullopt : asElem(value, part->value->range);
    if (!root) return false;
    const Value made = Value::indexed(ValueKind::Elem, *root);
    if (Local* known = names.of(part->name.text)) {
      std::uint32_t written = *root;
      if (isFinite) {
        const std::uint32_t old = before.emplace(part->name.text, known->value.id).first->second;
        written = build.operation(ElemOp::Select, *isFinite, *root, old);
      }
      build.addRoot(written);
      known->value = made;
    } else {
      a.frame.define(part->name.text, made, part->name.range);
    }
  }
  return true;
}

/// An optimiser: each part writes the new value of a buffer or of the weight, all in one element-wise operator. A part with a new
/// name is a value for the parts below.
bool Elaborator::runUpdates(Activation& a) {
  std::vector<const ast::Part*> parts;
  std::vector<TensorId> old;
  for (const ast::Part& part : a.decl->updates) {
    const Local* local = a.frame.find(part.name.text);
    if (local == nullptr) {
      parts.push_back(&part);
      continue;
    }
    if (local->value.is(ValueKind::None)) continue;
    if (!local->value.is(ValueKind::Tensor)) {
      wrongKind(part.name.range, "an update", "a buffer or a tensor", local->value);
      return false;
    }
    parts.push_back(&part);
    old.push_back(static_cast<TensorId>(local->value.id));
  }
  if (old.empty() || !writesUpdates) return true;
  const Labels* labels = a.labelsOf(parts.back()->name.text);
  const Detour detour(*this);
  ElementwiseBuilder build(builder, pool, graph[old.back()].shape, labels != nullptr ? *labels : Labels{}, a.path);
  now.elem = &build;
  if (!evaluateUpdates(a, parts, build)) return false;
  std::vector<TensorId> results;
  for (const TensorId before : old) {
    Tensor after = graph[before];
    after.producer = kNoOp;
    graph.tensors.push_back(std::move(after));
    results.push_back(static_cast<TensorId>(graph.tensors.size() - 1));
    owned.latest[index(graph[before].storage)] = results.back();
  }
  Op op = build.finish(std::move(results));
  if (!holdsResults(a, op)) return false;
  op.declaration = a.decl->name.text;
  addLeaf(std::move(op), a);
  return true;
}

}  // namespace tbem::graph
