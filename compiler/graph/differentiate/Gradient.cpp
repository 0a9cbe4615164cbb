// One part of a `backward` clause, and the optimiser's update.
#include "compiler/graph/differentiate/Differentiation.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/sema/Walk.h"

#include <algorithm>

namespace tbem::graph {

bool Elaborator::mentionsTensor(const ast::Expr& expr) const {
  bool found = false;
  sema::forEachInside(expr, [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    const Local* local = name != nullptr ? frame->find(name->name.text) : nullptr;
    if (local == nullptr) return;
    const Value& value = local->value;
    found = found || value.is(ValueKind::Tensor) ||
            (value.is(ValueKind::List) && !value.items.empty() && value.items.front().is(ValueKind::Tensor));
  });
  return found;
}

bool Elaborator::isElementwiseExpr(const ast::Expr& expr) const {
  bool good = true;
  sema::forEachInside(expr, [&](const ast::Expr& inner) {
    switch (inner.kind) {
      case ast::NodeKind::Call: {
        const auto* callee = ast::dynCast<ast::NameRef>(ast::cast<ast::Call>(inner).callee);
        const bool random = callee != nullptr && callee->name.text == "random";
        good = good && callee != nullptr && (isElementwiseWord(callee->name.text) || !mentionsTensor(inner));
        (void)random;
        break;
      }
      case ast::NodeKind::Pipe:
      case ast::NodeKind::List:
      case ast::NodeKind::Tuple:
      case ast::NodeKind::Member:
      case ast::NodeKind::Skip:
        good = false;
        break;
      case ast::NodeKind::Index:
        good = good && !mentionsTensor(inner);
        break;
      default:
        break;
    }
  });
  return good;
}

/// The gradient of a tensor so far; zeros where there is none.
Value Elaborator::gradientOf(Differentiation& d, TensorId tensor, const std::string& name, SrcRange range) {
  TensorId gradient = d.gradient[index(tensor)];
  if (gradient == kNoTensor) {
    gradient = constantTensor(name, graph[tensor].dtype, graph[tensor].shape, Rational::of(0), range);
    d.gradient[index(tensor)] = gradient;
  }
  return Value::indexed(ValueKind::Tensor, index(gradient));
}

/// Names `d<result>` for every result. A result whose gradient nobody supplies is zero: a number in an element-wise expression,
/// a tensor of zeros where an operator wants one.
bool Elaborator::defineGradients(Differentiation& d, Activation& a, const ast::Expr& expr, const Op& op) {
  const bool elementwise = isElementwiseExpr(expr) && expr.kind != ast::NodeKind::NameRef;
  for (std::size_t r = 0; r < op.outputs.size() && r < a.decl->results.size(); ++r) {
    const ast::Result& result = a.decl->results[r];
    const std::string name = "d" + result.name.text;
    bool mentioned = false;
    const ast::Name* word = nullptr;
    sema::forEachInside(expr, [&](const ast::Expr& inner) {
      const auto* reference = ast::dynCast<ast::NameRef>(&inner);
      if (reference == nullptr || reference->name.text != name) return;
      mentioned = true;
      word = &reference->name;
    });
    if (!mentioned) continue;
    Value value;
    if (result.type->kind == ast::NodeKind::ListType) {  // the only result
      std::vector<Value> all;
      for (const TensorId output : op.outputs) all.push_back(gradientOf(d, output, name, op.range));
      value = Value::list(std::move(all));
    } else if (d.gradient[index(op.outputs[r])] == kNoTensor && elementwise) {
      value = integerValue(0);
    } else {
      value = gradientOf(d, op.outputs[r], name, op.range);
    }
    if (Local* known = a.frame.find(name)) {
      known->value = value;
      continue;
    }
    a.frame.define(word->text, std::move(value), word->range);
    const Labels* labels = a.labelsOf(result.name.text);
    Labels copy = labels != nullptr ? *labels : Labels{};
    a.labels.emplace_back(word->text, std::move(copy));
  }
  return true;
}

std::vector<TensorId> Elaborator::gradientPart(Activation& a, const ast::Part& part, TensorId input, const Labels& labels) {
  TensorId made = kNoTensor;
  const ast::Expr& expr = *part.value;
  if (expr.kind != ast::NodeKind::NameRef && isElementwiseExpr(expr)) {
    made = addTensor("d" + part.name.text, graph[input].dtype, graph[input].shape, a.range);
    std::optional<Op> op = buildElementwise(a, {&expr}, {made}, labels);
    if (!op) return {};
    op->declaration = a.decl->name.text;
    addOp(std::move(*op), &a);
  } else {
    const Value value = evaluate(expr);
    if (value.isPoison()) return {};
    if (!value.is(ValueKind::Tensor)) {
      wrongKind(expr.range, "a gradient", "a tensor", value);
      return {};
    }
    made = static_cast<TensorId>(value.id);
  }
  if (!fitsGradient(a, part, input, made)) return {};
  return {made};
}

/// The gradient of a list of tensors is a list with one tensor an element; what no weight needs is computed by nobody.
std::vector<TensorId> Elaborator::gradientParts(Activation& a, const ast::Part& part, const std::vector<TensorId>& inputs) {
  const Value value = evaluate(*part.value);
  if (value.isPoison()) return {};
  const bool fits = value.is(ValueKind::List) && value.items.size() == inputs.size();
  const auto isTensor = [](const Value& one) { return one.is(ValueKind::Tensor); };
  if (!fits || !std::all_of(value.items.begin(), value.items.end(), isTensor)) {
    wrongKind(part.value->range, "a gradient", "a list of " + std::to_string(inputs.size()) + " tensors", value);
    return {};
  }
  std::vector<TensorId> made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    made.push_back(static_cast<TensorId>(value.items[i].id));
    if (inputs[i] != kNoTensor && !fitsGradient(a, part, inputs[i], made.back())) return {};
  }
  return made;
}

bool Elaborator::fitsGradient(Activation& a, const ast::Part& part, TensorId input, TensorId made) {
  const ast::Expr& expr = *part.value;
  const std::vector<ExprId> wanted = graph[input].shape;
  bool same = graph[made].shape.size() == wanted.size();
  for (std::size_t k = 0; same && k < wanted.size(); ++k) {
    const auto here = peek(pool.make(ExprOp::Equal, graph[made].shape[k], wanted[k]));
    same = here && here->num != 0;
  }
  if (!same) {
    fail(diag::gradient_shape, expr.range, part.name.text, a.decl->name.text, shapeText(pool, graph, made), part.name.text,
         shapeText(pool, graph, input));
    return false;
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!agree(graph[made].shape[k], wanted[k], "d" + part.name.text + "[" + std::to_string(k) + "]", a.range, expr.range))
      return false;
  }
  return true;
}

/// An argument within a gradient may be an element-wise expression of tensors: one operator of the shape of its largest operand.
Value Elaborator::evaluateArgument(const ast::Expr& expr) {
  if (current == nullptr || !current->gradient || frame != &current->frame || frame->elementwise || !mentionsTensor(expr))
    return evaluate(expr);
  if (const auto* choice = ast::dynCast<ast::IfExpr>(&expr); choice != nullptr && !mentionsTensor(*choice->condition)) {
    const auto known = forceBool(evaluate(*choice->condition), "a condition", choice->condition->range);
    if (!known) return {};
    if (*known) return evaluateArgument(*choice->then);
    return choice->otherwise != nullptr ? evaluateArgument(*choice->otherwise) : integerValue(0);
  }
  const bool operation =
      expr.kind == ast::NodeKind::Binary || expr.kind == ast::NodeKind::Unary || expr.kind == ast::NodeKind::IfExpr;
  if (!operation || !isElementwiseExpr(expr)) return evaluate(expr);
  Activation& a = *current;
  const Local* widest = nullptr;
  sema::forEachInside(expr, [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    const Local* local = name != nullptr ? frame->find(name->name.text) : nullptr;
    if (local == nullptr || !local->value.is(ValueKind::Tensor)) return;
    if (widest == nullptr || graph.tensors[local->value.id].shape.size() > graph.tensors[widest->value.id].shape.size())
      widest = local;
  });
  if (widest == nullptr) return evaluate(expr);  // lists of tensors are joined, not computed with
  const Tensor model = graph.tensors[widest->value.id];
  const Labels* labels = a.labelsOf(widest->name);
  const Labels resultLabels = labels != nullptr ? *labels : Labels{};
  const TensorId result = addTensor("part", model.dtype, model.shape, a.range);
  std::optional<Op> op = buildElementwise(a, {&expr}, {result}, resultLabels);
  if (!op) return {};
  op->declaration = a.decl->name.text;
  addOp(std::move(*op), &a);
  return Value::indexed(ValueKind::Tensor, index(result));
}

// ---- The optimiser ----------------------------------------------------------------------------------------------------

bool Elaborator::bindOptimizer(Differentiation& d, const Value& optimizer, SrcRange use) {
  d.optimizer = static_cast<const ast::Callable*>(optimizer.decl);
  d.optimizerModule = optimizer.module;
  d.optimizerUse = use;
  const std::string& name = d.optimizer->name.text;
  if (d.optimizer->updates.empty() || d.optimizer->tensors.size() != 2) {
    fail(diag::bad_optimizer, use, name,
         d.optimizer->updates.empty() ? "it has no `updates`" : "it must take two tensors, the weight and its gradient");
    return false;
  }
  std::optional<std::vector<Local>> parameters = networkParameters(optimizer, {}, use);
  if (!parameters) return false;
  d.optimizerParameters = std::move(*parameters);
  // A schedule is an operator that makes a number from `step`: applied once, for all weights.
  phase = Phase::Optimizer;
  bool good = true;
  for (Local& local : d.optimizerParameters) {
    const bool callable = local.value.is(ValueKind::Partial) || local.value.is(ValueKind::Declaration);
    if (!good || !callable || !local.value.decl || local.value.decl->kind != ast::NodeKind::Callable) continue;
    std::optional<std::vector<Local>> own = networkParameters(local.value, {}, use);
    std::vector<Value> none;
    good = own.has_value();
    if (good)
      local.value = applyTo(*static_cast<const ast::Callable*>(local.value.decl), *local.value.module, std::move(*own), none,
                            "optimizer", use);
    good = good && !local.value.isPoison();
    if (good && (!local.value.is(ValueKind::Tensor) || !graph.tensors[local.value.id].shape.empty())) {
      wrongKind(use, "`" + std::string(local.name) + "` of `" + name + "`", "a schedule whose result is a scalar", local.value);
      good = false;
    }
  }
  phase = Phase::Forward;
  return good;
}

Value Elaborator::gradientNorm() {
  if (normOfGradients == kNoTensor) {
    ElemBuild* const outerElem = elem;
    Frame* const outerFrame = frame;
    Frame bare;
    bare.module = outerFrame->module;
    elem = nullptr;
    frame = &bare;
    const SrcRange use = current->use;
    Value total;
    for (const Graph::Weight& weight : std::vector<Graph::Weight>(graph.weights)) {
      if (weight.gradient == kNoTensor) continue;
      const Value squares = callNamed("sum_squares", {Value::indexed(ValueKind::Tensor, index(weight.gradient))}, {}, use);
      total = total.isPoison() ? squares : callNamed("add", {total, squares}, {}, use);
      if (squares.isPoison() || total.isPoison()) break;
    }
    const Value norm = total.isPoison() ? total : callNamed("sqrt", {total}, {}, use);
    elem = outerElem;
    frame = outerFrame;
    if (norm.isPoison()) return {};
    normOfGradients = static_cast<TensorId>(norm.id);
  }
  Value out;
  return addOperand(*elem, normOfGradients, {}, {}, "gradient_norm", out) ? out : Value{};
}

bool Elaborator::updateWeight(Differentiation& d, std::size_t weight) {
  const TensorId value = graph.weights[weight].value;
  const TensorId gradient = graph.weights[weight].gradient;
  std::vector<Value> tensors{Value::indexed(ValueKind::Tensor, index(value)), Value::indexed(ValueKind::Tensor, index(gradient))};
  const OpId before = forwardOp;
  phase = Phase::Optimizer;
  forwardOp = kNoOp;
  const Value done =
      applyTo(*d.optimizer, *d.optimizerModule, d.optimizerParameters, tensors, graph[graph[value].storage].path, d.optimizerUse);
  phase = Phase::Backward;
  forwardOp = before;
  if (done.isPoison()) return false;
  const auto newest = latest.find(index(graph[value].storage));
  if (newest != latest.end()) graph.weights[weight].after = newest->second;
  return true;
}

}  // namespace tbem::graph
