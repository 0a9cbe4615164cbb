// Gates, per sample: `skip` computes one of two arms, `exit` ends the network for the samples whose condition holds.
//
// `skip` becomes a Skip operator {condition} that owns a region an arm (0: computed, where the condition is false; 1: left, where
// it is true), and a Join {condition, computed, left} behind it. `exit` becomes an Exit {condition, value}; where exits were met,
// the network's result is a Join of all their values and of the last one.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborator.h"

namespace tbem::graph {

namespace {
bool isCondition(const Tensor& tensor) { return tensor.dtype == TBEM_BOOL && tensor.shape.size() == 1; }
}  // namespace

/// The condition of a gate: one truth value a sample.
std::optional<TensorId> Elaborator::gateCondition(const ast::Expr& expr, const char* gate) {
  return checkCondition(evaluate(expr), expr.range, gate);
}

std::optional<TensorId> Elaborator::checkCondition(const Value& value, SrcRange range, const char* gate) {
  if (value.isPoison()) return std::nullopt;
  if (!value.is(ValueKind::Tensor) || !isCondition(graph.tensors[value.id])) {
    const std::string found = value.is(ValueKind::Tensor)
                                  ? std::string(sema::kDTypeNames[static_cast<std::size_t>(graph.tensors[value.id].dtype)]) +
                                        shapeText(pool, graph, static_cast<TensorId>(value.id))
                                  : kindName(value);
    fail(diag::wrong_tensor, range, "the condition of `" + std::string(gate) + "`",
         "one truth value a sample (`bool[n]`), found " + found);
    return std::nullopt;
  }
  return static_cast<TensorId>(value.id);
}

/// One arm, in a region of its own.
Value Elaborator::gateArm(const ast::Expr& expr, OpId owner) {
  const auto id = static_cast<RegionId>(graph.regions.size());
  graph.regions.emplace_back();
  graph[id].owner = owner;
  graph[owner].regions.push_back(id);
  const Detour detour(*this);
  builder.stamp.region = id;
  return evaluate(expr);
}

Value Elaborator::join(OpId gate, const std::vector<TensorId>& inputs, TensorId model, SrcRange range) {
  const TensorId result = builder.addTensor("joined", graph[model].dtype, graph[model].shape, range);
  Op op;
  op.kind = OpKind::Join;
  op.declaration = "join";
  op.gate = gate;
  op.inputs = inputs;
  op.outputs = {result};
  addOp(std::move(op), *now.current);
  return Value::indexed(ValueKind::Tensor, index(result));
}

Value Elaborator::skip(const ast::Skip& expr) {
  if (now.current == nullptr || frame->elementwise || now.current->gradient) return Evaluator::skip(expr);
  const std::optional<TensorId> condition = gateCondition(*expr.condition, "skip");
  if (!condition) return {};
  Op gate;
  gate.kind = OpKind::Skip;
  gate.declaration = "skip";
  gate.path = pathOf(freshName("skip"));
  gate.inputs = {*condition};
  const OpId owner = addOp(std::move(gate), *now.current);
  const Value computed = gateArm(*expr.computed, owner);
  const Value left = gateArm(*expr.leaving, owner);
  if (computed.isPoison() || left.isPoison()) return {};
  if (!computed.is(ValueKind::Tensor)) return wrongKind(expr.computed->range, "an arm of `skip`", "a tensor", computed);
  if (!left.is(ValueKind::Tensor)) return wrongKind(expr.leaving->range, "an arm of `skip`", "a tensor", left);
  const auto a = static_cast<TensorId>(computed.id), b = static_cast<TensorId>(left.id);
  bool same = graph[a].dtype == graph[b].dtype && graph[a].shape.size() == graph[b].shape.size() && !graph[a].shape.empty();
  for (std::size_t k = 0; same && k < graph[a].shape.size(); ++k) {
    const auto here = peek(pool.make(ExprOp::Equal, graph[a].shape[k], graph[b].shape[k]));
    same = here && here->num != 0;
  }
  if (!same) return fail(diag::arms_differ, expr.range, shapeText(pool, graph, a), shapeText(pool, graph, b));
  for (std::size_t k = 0; k < graph[a].shape.size(); ++k) {
    if (!agree(graph[a].shape[k], graph[b].shape[k], "arm[" + std::to_string(k) + "]", expr.range, expr.leaving->range))
      return {};
  }
  if (!agree(graph[*condition].shape[0], graph[a].shape[0], "samples", expr.condition->range, expr.computed->range)) return {};
  return join(owner, {*condition, a, b}, a, expr.range);
}

/// The condition of an exit, and under `fallback best` the score that it compares: the left side of `score >= threshold`.
std::optional<TensorId> Elaborator::exitCondition(const ast::Exit& statement, std::optional<TensorId>& score) {
  if (now.current->decl->fallback.text != "best") return gateCondition(*statement.condition, "exit");
  const auto* comparison = ast::dynCast<ast::Binary>(statement.condition);
  if (comparison == nullptr || (comparison->op != ast::BinaryOp::Greater && comparison->op != ast::BinaryOp::GreaterEqual)) {
    fail(diag::fallback_without_score, statement.condition->range, "an exit's condition is `score > threshold` or `>=`");
    return std::nullopt;
  }
  const Value left = evaluate(*comparison->left);
  const Value right = evaluate(*comparison->right);
  if (left.isPoison() || right.isPoison()) return std::nullopt;
  if (!left.is(ValueKind::Tensor) || graph.tensors[left.id].shape.size() != 1) {
    fail(diag::fallback_without_score, comparison->left->range, "the score is a tensor with one number a sample");
    return std::nullopt;
  }
  score = static_cast<TensorId>(left.id);
  return checkCondition(runtimeBinary(*comparison, left, right), statement.condition->range, "exit");
}

/// Keeps the value with the largest score of the exits met so far. A score that is not a number never replaces one that is.
bool Elaborator::keepBest(TensorId score, TensorId value, SrcRange range) {
  const auto tensor = [](TensorId id) { return Value::indexed(ValueKind::Tensor, index(id)); };
  if (best.value == kNoTensor) {
    best = {score, value};
    return true;
  }
  const Value better = callNamed("better", {tensor(score), tensor(best.score)}, {}, range);
  const Value newScore =
      better.isPoison() ? Value{} : callNamed("choose_rows", {better, tensor(score), tensor(best.score)}, {}, range);
  const Value newValue =
      better.isPoison() ? Value{} : callNamed("choose_rows", {better, tensor(value), tensor(best.value)}, {}, range);
  if (newScore.isPoison() || newValue.isPoison()) return false;
  best = {static_cast<TensorId>(newScore.id), static_cast<TensorId>(newValue.id)};
  return true;
}

bool Elaborator::exitStatement(const ast::Exit& statement) {
  if (now.current == nullptr) return Evaluator::exitStatement(statement);
  if (now.current->decl->callable != ast::CallableKind::Network || applying.size() != 1 || builder.stamp.region != kMainRegion) {
    fail(diag::not_in_body, statement.range, "`exit`", "the network that a design builds");
    return false;
  }
  std::optional<TensorId> score;
  const std::optional<TensorId> condition = exitCondition(statement, score);
  if (!condition) return false;
  const Value value = evaluate(*statement.value);
  if (value.isPoison()) return false;
  if (!value.is(ValueKind::Tensor) || graph.tensors[value.id].shape.empty()) {
    wrongKind(statement.value->range, "`exit`", "a tensor with samples", value);
    return false;
  }
  const auto result = static_cast<TensorId>(value.id);
  if (!agree(graph[*condition].shape[0], graph[result].shape[0], "samples", statement.condition->range, statement.value->range))
    return false;
  if (score && !keepBest(*score, result, statement.range)) return false;
  Op op;
  op.kind = OpKind::Exit;
  op.declaration = "exit";
  op.path = pathOf(freshName("exit"));
  op.inputs = {*condition, result};
  addOp(std::move(op), *now.current);
  exits.push_back(result);
  return true;
}

/// The result of a network with exits: every exit's value and the last one, put together again. Under `fallback best` the last
/// one is the best of the exits' values.
Value Elaborator::joinExits(Activation& a, Value last) {
  if (exits.empty() || a.decl->callable != ast::CallableKind::Network || applying.size() != 1) return last;
  std::vector<TensorId> inputs = std::move(exits);
  exits.clear();
  if (best.value != kNoTensor) {
    if (!last.is(ValueKind::None))
      return fail(diag::fallback_without_score, a.decl->name.range, "it ends in an `exit`, without a `return` behind it");
    last = Value::indexed(ValueKind::Tensor, index(best.value));
    best = {};
  }
  if (!last.is(ValueKind::Tensor)) return wrongKind(a.decl->name.range, "the result of a network with exits", "a tensor", last);
  inputs.push_back(static_cast<TensorId>(last.id));
  for (const TensorId one : inputs) {
    if (graph[one].shape.size() != graph[inputs.front()].shape.size()) {
      return fail(diag::arms_differ, a.decl->name.range, shapeText(pool, graph, inputs.front()), shapeText(pool, graph, one));
    }
    for (std::size_t k = 0; k < graph[one].shape.size(); ++k) {
      if (!agree(graph[one].shape[k], graph[inputs.front()].shape[k], "exit[" + std::to_string(k) + "]", a.use,
                 a.decl->name.range))
        return {};
    }
  }
  return join(kNoOp, inputs, inputs.front(), a.decl->name.range);
}

}  // namespace tbem::graph
