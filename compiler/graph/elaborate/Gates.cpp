#include "compiler/graph/elaborate/Gates.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Detour.h"

#include <utility>

namespace tbem::graph {

namespace {

Value tensorValue(TensorId id) { return Value::indexed(ValueKind::Tensor, index(id)); }

/// The condition of a gate: one truth value a sample.
std::optional<TensorId> checkCondition(Elaborator& e, const Value& value, SrcRange range, const char* gate) {
  if (value.isPoison()) return std::nullopt;
  const Tensor* tensor = value.is(ValueKind::Tensor) ? &e.graph.tensors[value.id] : nullptr;
  if (tensor == nullptr || tensor->dtype != TBEM_BOOL || tensor->shape.size() != 1) {
    const std::string found = tensor != nullptr
                                  ? dtypeName(tensor->dtype) + shapeText(e.pool, e.graph, static_cast<TensorId>(value.id))
                                  : kindName(value);
    e.fail(diag::wrong_tensor, range, "the condition of `" + std::string(gate) + "`",
           "one truth value a sample (`bool[n]`), found " + found);
    return std::nullopt;
  }
  return static_cast<TensorId>(value.id);
}

/// One arm, in a region of its own.
Value evaluateArm(Elaborator& e, const ast::Expr& expr, OpId owner) {
  Graph& graph = e.graph;
  const auto id = static_cast<RegionId>(graph.regions.size());
  graph.regions.emplace_back();
  graph[id].owner = owner;
  graph[owner].regions.push_back(id);
  const Elaborator::Detour detour(e);
  e.builder.stamp.region = id;
  return e.evaluate(expr);
}

/// Two arms of one type and shape, with as many samples as the condition; false after a report.
bool armsAgree(Elaborator& e, const ast::Skip& expr, TensorId condition, TensorId computed, TensorId left) {
  const Graph& graph = e.graph;
  const std::vector<ExprId> here = graph[computed].shape, there = graph[left].shape;
  bool same = graph[computed].dtype == graph[left].dtype && here.size() == there.size() && !here.empty();
  for (std::size_t k = 0; same && k < here.size(); ++k) {
    const auto equal = e.peek(e.pool.make(ExprOp::Equal, here[k], there[k]));
    same = equal && equal->num != 0;
  }
  if (!same) {
    e.fail(diag::arms_differ, expr.range, shapeText(e.pool, graph, computed), shapeText(e.pool, graph, left));
    return false;
  }
  for (std::size_t k = 0; k < here.size(); ++k) {
    if (!e.agree(here[k], there[k], "arm[" + std::to_string(k) + "]", expr.range, expr.leaving->range)) return false;
  }
  return e.agree(graph[condition].shape[0], here[0], "samples", expr.condition->range, expr.computed->range);
}

Value join(Elaborator& e, OpId gate, const std::vector<TensorId>& inputs, TensorId model, SrcRange range) {
  const TensorId result = e.builder.addTensor("joined", e.graph[model].dtype, e.graph[model].shape, range);
  Op op;
  op.kind = OpKind::Join;
  op.declaration = "join";
  op.gate = gate;
  op.inputs = inputs;
  op.outputs = {result};
  e.addOp(std::move(op), *e.now.current);
  return tensorValue(result);
}

/// Whether the activation is that of the network which a design builds.
bool isRoot(const Elaborator& e, const ast::Callable& decl) {
  return decl.callable == ast::CallableKind::Network && e.applying.size() == 1;
}

}  // namespace

Value Gates::skip(Elaborator& e, const ast::Skip& expr) {
  const std::optional<TensorId> condition = checkCondition(e, e.evaluate(*expr.condition), expr.condition->range, "skip");
  if (!condition) return {};
  Op gate;
  gate.kind = OpKind::Skip;
  gate.declaration = "skip";
  gate.path = e.paths.under(e.paths.fresh("skip"));
  gate.inputs = {*condition};
  const OpId owner = e.addOp(std::move(gate), *e.now.current);
  const Value computed = evaluateArm(e, *expr.computed, owner);
  const Value left = evaluateArm(e, *expr.leaving, owner);
  if (computed.isPoison() || left.isPoison()) return {};
  if (!computed.is(ValueKind::Tensor)) return e.wrongKind(expr.computed->range, "an arm of `skip`", "a tensor", computed);
  if (!left.is(ValueKind::Tensor)) return e.wrongKind(expr.leaving->range, "an arm of `skip`", "a tensor", left);
  const auto a = static_cast<TensorId>(computed.id), b = static_cast<TensorId>(left.id);
  if (!armsAgree(e, expr, *condition, a, b)) return {};
  return join(e, owner, {*condition, a, b}, a, expr.range);
}

// ---- Exits ------------------------------------------------------------------------------------------------------------

/// The condition of an exit, and under `fallback best` the score that it compares: the left side of `score >= threshold`.
std::optional<TensorId> Gates::exitCondition(Elaborator& e, const ast::Exit& statement, std::optional<TensorId>& score) {
  const SrcRange range = statement.condition->range;
  if (e.now.current->decl->fallback.text != "best") return checkCondition(e, e.evaluate(*statement.condition), range, "exit");
  const auto* comparison = ast::dynCast<ast::Binary>(statement.condition);
  if (comparison == nullptr || (comparison->op != ast::BinaryOp::Greater && comparison->op != ast::BinaryOp::GreaterEqual)) {
    e.fail(diag::fallback_without_score, range, "an exit's condition is `score > threshold` or `>=`");
    return std::nullopt;
  }
  const Value left = e.evaluate(*comparison->left);
  const Value right = e.evaluate(*comparison->right);
  if (left.isPoison() || right.isPoison()) return std::nullopt;
  if (!left.is(ValueKind::Tensor) || e.graph.tensors[left.id].shape.size() != 1) {
    e.fail(diag::fallback_without_score, comparison->left->range, "the score is a tensor with one number a sample");
    return std::nullopt;
  }
  score = static_cast<TensorId>(left.id);
  return checkCondition(e, e.runtimeBinary(*comparison, left, right), range, "exit");
}

/// Keeps the value with the largest score of the exits met so far. A score that is not a number never replaces one that is.
bool Gates::keepBest(Elaborator& e, TensorId score, TensorId value, SrcRange range) {
  if (best.value == kNoTensor) {
    best = {score, value};
    return true;
  }
  const Value better = e.callNamed("better", {tensorValue(score), tensorValue(best.score)}, {}, range);
  const auto chosen = [&](TensorId here, TensorId before) {
    return better.isPoison() ? Value{} : e.callNamed("choose_rows", {better, tensorValue(here), tensorValue(before)}, {}, range);
  };
  const Value newScore = chosen(score, best.score);
  const Value newValue = chosen(value, best.value);
  if (newScore.isPoison() || newValue.isPoison()) return false;
  best = {static_cast<TensorId>(newScore.id), static_cast<TensorId>(newValue.id)};
  return true;
}

bool Gates::exit(Elaborator& e, const ast::Exit& statement) {
  if (!isRoot(e, *e.now.current->decl) || e.builder.stamp.region != kMainRegion) {
    e.fail(diag::not_in_body, statement.range, "`exit`", "the network that a design builds");
    return false;
  }
  std::optional<TensorId> score;
  const std::optional<TensorId> condition = exitCondition(e, statement, score);
  if (!condition) return false;
  const Value value = e.evaluate(*statement.value);
  if (value.isPoison()) return false;
  if (!value.is(ValueKind::Tensor) || e.graph.tensors[value.id].shape.empty()) {
    e.wrongKind(statement.value->range, "`exit`", "a tensor with samples", value);
    return false;
  }
  const auto result = static_cast<TensorId>(value.id);
  const ExprId samples = e.graph[*condition].shape[0];
  if (!e.agree(samples, e.graph[result].shape[0], "samples", statement.condition->range, statement.value->range)) return false;
  if (score && !keepBest(e, *score, result, statement.range)) return false;
  Op op;
  op.kind = OpKind::Exit;
  op.declaration = "exit";
  op.path = e.paths.under(e.paths.fresh("exit"));
  op.inputs = {*condition, result};
  e.addOp(std::move(op), *e.now.current);
  exits.push_back(result);
  return true;
}

Value Gates::joinExits(Elaborator& e, const Activation& network, Value last) {
  const ast::Callable& decl = *network.decl;
  if (exits.empty() || !isRoot(e, decl)) return last;
  std::vector<TensorId> inputs = std::move(exits);
  exits.clear();
  if (best.value != kNoTensor) {
    if (!last.is(ValueKind::None))
      return e.fail(diag::fallback_without_score, decl.name.range, "it ends in an `exit`, without a `return` behind it");
    last = tensorValue(best.value);
    best = {};
  }
  if (!last.is(ValueKind::Tensor)) return e.wrongKind(decl.name.range, "the result of a network with exits", "a tensor", last);
  inputs.push_back(static_cast<TensorId>(last.id));
  const Graph& graph = e.graph;
  const TensorId first = inputs.front();
  for (const TensorId input : inputs) {
    if (graph[input].shape.size() != graph[first].shape.size())
      return e.fail(diag::arms_differ, decl.name.range, shapeText(e.pool, graph, first), shapeText(e.pool, graph, input));
    for (std::size_t k = 0; k < graph[input].shape.size(); ++k) {
      if (!e.agree(graph[input].shape[k], graph[first].shape[k], "exit[" + std::to_string(k) + "]", network.use, decl.name.range))
        return {};
    }
  }
  return join(e, kNoOp, inputs, first, decl.name.range);
}

}  // namespace tbem::graph
