// One `backward` clause: its parts become operators, among the names of the operator whose gradient it says.
#include "compiler/graph/elaborate/BackwardClause.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/sema/Walk.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

BackwardClause::BackwardClause(Elaborator& elaborator, OpContext context, const Passage& through, OpId forward)
    : elaborator(elaborator), detour(elaborator) {
  activation.frame.module = context.module;
  activation.frame.decl = context.decl;
  activation.frame.locals = std::move(context.locals);
  activation.decl = context.decl;
  activation.labels = std::move(context.labels);
  activation.path = std::move(context.path);
  activation.scope = through.scope;
  activation.use = activation.range = through.range;
  activation.rank = 3;  // every operator made here bears the forward operator's range
  activation.gradient = true;
  activation.dtype = elaborator.graph[through.outputs.front()].dtype;
  elaborator.frame = &activation.frame;
  elaborator.now.current = &activation;
  elaborator.now.calls = &calls;
  elaborator.builder.stamp.forward = forward;
}

bool BackwardClause::isElementwise(const ast::Expr& expr) const {
  return expr.kind != ast::NodeKind::NameRef && elaborator.isElementwiseExpr(expr);
}

void BackwardClause::define(const ast::Name& word, Value gradient, const ast::Result& result) {
  if (Local* known = activation.frame.find(word.text)) {
    known->value = std::move(gradient);
    return;
  }
  activation.frame.define(word.text, std::move(gradient), word.range);
  const Labels* labels = activation.labelsOf(result.name.text);
  Labels copy = labels != nullptr ? *labels : Labels{};
  activation.labels.emplace_back(word.text, std::move(copy));
}

std::vector<TensorId> BackwardClause::evaluate(const ast::Part& part, const std::vector<TensorId>& inputs) {
  const bool isList = activation.frame.find(part.name.text)->value.is(ValueKind::List);
  return isList ? list(part, inputs) : one(part, inputs.front());
}

std::vector<TensorId> BackwardClause::one(const ast::Part& part, TensorId input) {
  TensorId gradient = kNoTensor;
  const ast::Expr& expr = *part.value;
  if (isElementwise(expr)) {
    const Tensor& model = elaborator.graph[input];
    gradient = elaborator.builder.addTensor("d" + part.name.text, model.dtype, model.shape, activation.range);
    const Labels* labels = activation.labelsOf(part.name.text);
    if (!elaborator.addGradientPart(activation, expr, gradient, labels != nullptr ? *labels : Labels{})) return {};
  } else {
    const Value value = elaborator.evaluate(expr);
    if (value.isPoison()) return {};
    if (!value.is(ValueKind::Tensor)) {
      elaborator.wrongKind(expr.range, "a gradient", "a tensor", value);
      return {};
    }
    gradient = static_cast<TensorId>(value.id);
  }
  if (!fits(part, input, gradient)) return {};
  return {gradient};
}

/// The gradient of a list of tensors is a list with one tensor an element; what nobody needs is not computed.
std::vector<TensorId> BackwardClause::list(const ast::Part& part, const std::vector<TensorId>& inputs) {
  const Value value = elaborator.evaluate(*part.value);
  if (value.isPoison()) return {};
  const bool isWhole = value.is(ValueKind::List) && value.items.size() == inputs.size();
  const auto isTensor = [](const Value& one) { return one.is(ValueKind::Tensor); };
  if (!isWhole || !std::all_of(value.items.begin(), value.items.end(), isTensor)) {
    elaborator.wrongKind(part.value->range, "a gradient", "a list of " + std::to_string(inputs.size()) + " tensors", value);
    return {};
  }
  std::vector<TensorId> gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    gradients.push_back(static_cast<TensorId>(value.items[i].id));
    if (inputs[i] != kNoTensor && !fits(part, inputs[i], gradients.back())) return {};
  }
  return gradients;
}

bool BackwardClause::fits(const ast::Part& part, TensorId input, TensorId gradient) {
  const ast::Expr& expr = *part.value;
  const Graph& graph = elaborator.graph;
  sema::ExprPool& pool = elaborator.pool;
  const std::vector<ExprId> wanted = graph[input].shape;
  bool same = graph[gradient].shape.size() == wanted.size();
  for (std::size_t k = 0; same && k < wanted.size(); ++k) {
    const auto here = elaborator.peek(pool.make(ExprOp::Equal, graph[gradient].shape[k], wanted[k]));
    same = here && here->num != 0;
  }
  if (!same) {
    elaborator.fail(diag::gradient_shape, expr.range, part.name.text, activation.decl->name.text,
                    shapeText(pool, graph, gradient), part.name.text, shapeText(pool, graph, input));
    return false;
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!elaborator.agree(graph[gradient].shape[k], wanted[k], "d" + part.name.text + "[" + std::to_string(k) + "]",
                          activation.range, expr.range))
      return false;
  }
  return true;
}

// ---- What an elaboration does else within a gradient ------------------------------------------------------------------

bool Elaborator::mentionsTensor(const ast::Expr& expr) const {
  return sema::anyInside(expr, [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    const Local* local = name != nullptr ? frame->find(name->name.text) : nullptr;
    if (local == nullptr) return false;
    const Value& value = local->value;
    return value.is(ValueKind::Tensor) ||
           (value.is(ValueKind::List) && !value.items.empty() && value.items.front().is(ValueKind::Tensor));
  });
}

bool Elaborator::isElementwiseExpr(const ast::Expr& expr) const {
  return !sema::anyInside(expr, [&](const ast::Expr& inner) {
    switch (inner.kind) {
      case ast::NodeKind::Call: {
        const auto* callee = ast::dynCast<ast::NameRef>(ast::cast<ast::Call>(inner).callee);
        return callee == nullptr || (!isElementwiseWord(callee->name.text) && mentionsTensor(inner));
      }
      case ast::NodeKind::Pipe:
      case ast::NodeKind::List:
      case ast::NodeKind::Tuple:
      case ast::NodeKind::Member:
      case ast::NodeKind::Skip:
        return true;
      case ast::NodeKind::Index:
        return mentionsTensor(inner);
      default:
        return false;
    }
  });
}

bool Elaborator::addGradientPart(Activation& a, const ast::Expr& expr, TensorId result, const Labels& labels) {
  std::optional<Op> op = buildElementwise(a, {&expr}, {result}, labels);
  if (!op) return false;
  op->declaration = a.decl->name.text;
  addOp(std::move(*op), a);
  return true;
}

/// An argument within a gradient may be an element-wise expression of tensors: one operator of the shape of its largest operand.
Value Elaborator::evaluateArgument(const ast::Expr& expr) {
  if (now.current == nullptr || !now.current->gradient || frame != &now.current->frame || frame->elementwise ||
      !mentionsTensor(expr))
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
  Activation& a = *now.current;
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
  const TensorId result = builder.addTensor("part", model.dtype, model.shape, a.range);
  if (!addGradientPart(a, expr, result, resultLabels)) return {};
  return Value::indexed(ValueKind::Tensor, index(result));
}

}  // namespace tbem::graph
