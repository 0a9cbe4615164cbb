#include "compiler/graph/elaborate/Gates.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <utility>

namespace tbem::graph {

namespace {

Value tensorValue(TensorId id) { return Value::indexed(ValueKind::Tensor, index(id)); }

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

/// False after a report.
bool armsAreTensors(Elaborator& e, const ast::Skip& expr, const Value& computed, const Value& left) {
  if (computed.isPoison() || left.isPoison()) return false;
  if (!computed.is(ValueKind::Tensor)) {
    e.wrongKind(expr.computed->range, "an arm of `skip`", "a tensor", computed);
    return false;
  }
  if (!left.is(ValueKind::Tensor)) e.wrongKind(expr.leaving->range, "an arm of `skip`", "a tensor", left);
  return left.is(ValueKind::Tensor);
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
  if (e.options.differentiates) return trainedSkip(e, expr);
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
  if (!armsAreTensors(e, expr, computed, left)) return {};
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
  const bool searches = e.options.search != nullptr;
  if (searches && !keepMargin(e, *statement.condition, "exit")) return false;
  std::optional<TensorId> condition;
  if (!searches && !(condition = exitCondition(e, statement, score))) return false;
  const Value value = e.evaluate(*statement.value);
  if (value.isPoison()) return false;
  if (!value.is(ValueKind::Tensor) || e.graph.tensors[value.id].shape.empty()) {
    e.wrongKind(statement.value->range, "`exit`", "a tensor with samples", value);
    return false;
  }
  const auto result = static_cast<TensorId>(value.id);
  exits.push_back(result);
  if (searches) return true;
  const ExprId samples = e.graph[*condition].shape[0];
  if (!e.agree(samples, e.graph[result].shape[0], "samples", statement.condition->range, statement.value->range)) return false;
  if (e.options.differentiates) return true;  // its loss, and not its condition, is what counts
  if (score && !keepBest(e, *score, result, statement.range)) return false;
  Op op;
  op.kind = OpKind::Exit;
  op.declaration = "exit";
  op.path = e.paths.under(e.paths.fresh("exit"));
  op.inputs = {*condition, result};
  e.addOp(std::move(op), *e.now.current);
  return true;
}

Value Gates::joinExits(Elaborator& e, const Activation& network, Value last) {
  const ast::Callable& decl = *network.decl;
  if (exits.empty() || !isRoot(e, decl)) return last;
  const bool keepsBest = decl.fallback.text == "best";
  if (keepsBest && !last.is(ValueKind::None))
    return e.fail(diag::fallback_without_score, decl.name.range, "it ends in an `exit`, without a `return` behind it");
  if (!keepsBest && !last.is(ValueKind::Tensor))
    return e.wrongKind(decl.name.range, "the result of a network with exits", "a tensor", last);
  std::vector<TensorId> results = std::move(exits);
  exits.clear();
  if (!keepsBest)
    results.push_back(static_cast<TensorId>(last.id));
  else if (!e.options.differentiates)
    results.push_back(best.value);
  best = {};
  const Graph& graph = e.graph;
  const TensorId first = results.front();
  for (const TensorId result : results) {
    if (graph[result].shape.size() != graph[first].shape.size())
      return e.fail(diag::arms_differ, decl.name.range, shapeText(e.pool, graph, first), shapeText(e.pool, graph, result));
    for (std::size_t k = 0; k < graph[result].shape.size(); ++k) {
      if (!e.agree(graph[result].shape[k], graph[first].shape[k], "exit[" + std::to_string(k) + "]", network.use,
                   decl.name.range))
        return {};
    }
  }
  if (!e.options.differentiates) return join(e, kNoOp, results, first, decl.name.range);
  trained = std::move(results);
  return tensorValue(trained.back());
}

// ---- Gates of a network that trains ------------------------------------------------------------------------------------

namespace {

struct Score {
  Value value;         ///< a tensor; none where the condition compares nothing
  bool opens = false;  ///< a larger score computes the arm
};

/// What `left OP right` compares, as one tensor that grows with the left side.
Score scoreOf(Elaborator& e, const ast::Binary& comparison, const Value& left, const Value& right) {
  const bool opens = comparison.op == ast::BinaryOp::Less || comparison.op == ast::BinaryOp::LessEqual;
  if (left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor))
    return {e.callNamed("sub", {left, right}, {}, comparison.range), opens};
  return left.is(ValueKind::Tensor) ? Score{left, opens} : Score{right, !opens};
}

/// a - b, of which one at least is a tensor.
Value difference(Elaborator& e, const Value& a, const Value& b, SrcRange range) {
  if (a.is(ValueKind::Tensor) && b.is(ValueKind::Tensor)) return e.callNamed("sub", {a, b}, {}, range);
  return a.is(ValueKind::Tensor) ? e.callNamed("sub_scalar", {a}, {{"value", b}}, range)
                                 : e.callNamed("scalar_sub", {b}, {{"value", a}}, range);
}

bool isOrder(ast::BinaryOp op) {
  return op == ast::BinaryOp::Less || op == ast::BinaryOp::LessEqual || op == ast::BinaryOp::Greater ||
         op == ast::BinaryOp::GreaterEqual;
}

bool isFloating(const Elaborator& e, const Value& tensor) {
  return tensor.is(ValueKind::Tensor) && tbem_is_floating(e.graph.tensors[tensor.id].dtype);
}

}  // namespace

/// The condition of a skip, and the share of the computed arm; poison after a report.
std::pair<Value, Value> Gates::trainedShare(Elaborator& e, const ast::Expr& condition) {
  const auto* comparison = ast::dynCast<ast::Binary>(&condition);
  const bool compares = comparison != nullptr && isOrder(comparison->op);
  Score score;
  Value truth;
  if (compares) {
    const Value left = e.evaluate(*comparison->left);
    const Value right = e.evaluate(*comparison->right);
    if (left.isPoison() || right.isPoison()) return {};
    truth = e.runtimeBinary(*comparison, left, right);
    score = scoreOf(e, *comparison, left, right);
    if (e.options.search != nullptr && !addMargin(e, *comparison, left, right)) return {};
  } else {
    truth = e.evaluate(condition);
    if (e.options.search != nullptr) found.emplace_back();
  }
  if (!checkCondition(e, truth, condition.range, "skip")) return {};
  if (isDecided) {
    Value share = e.callNamed("closed_where", {truth}, {}, condition.range);
    if (!share.isPoison()) decisions.push_back({static_cast<TensorId>(share.id), kNoTensor, condition.range});
    return {truth, share};
  }
  using Mode = GateTraining::Mode;
  const GateTraining& how = e.options.gates;
  const SrcRange range = condition.range;
  if (!isFloating(e, score.value)) {
    if (how.mode == Mode::StraightThrough) return {truth, e.callNamed("closed_where", {truth}, {}, range)};
    const char* const clause = how.mode == Mode::Soft     ? "gates soft"
                               : how.mode == Mode::Gumbel ? "gates gumbel"
                                                          : "gates reinforce";
    e.fail(diag::design_clause_value, range, clause, "a condition that compares a score with a threshold",
           "`" + std::string(e.session.sources.text(range)) + "`");
    return {};
  }
  const std::pair<std::string_view, Value> opens{"opens", Value::boolean(e.pool.constant(score.opens ? 1 : 0))};
  if (how.mode == Mode::Soft) return {truth, e.callNamed("soft_share", {score.value}, {opens}, range)};
  if (how.mode == Mode::StraightThrough) return {truth, e.callNamed("hard_share", {score.value, truth}, {opens}, range)};
  if (how.mode == Mode::Reinforce) return {truth, drawShare(e, score.value, opens.second, range)};
  const Value temperature = Value::number(e.pool.constant(how.temperature), true);
  return {truth, e.callNamed("gumbel_share", {score.value}, {opens, {"temperature", temperature}}, range)};
}

/// What REINFORCE draws of a score: the share of the computed arm; poison after a report.
Value Gates::drawShare(Elaborator& e, const Value& score, const Value& opens, SrcRange range) {
  const Value chance = e.callNamed("soft_share", {score}, {{"opens", opens}}, range);
  Value share = chance.isPoison() ? chance : e.callNamed("drawn_share", {chance}, {}, range);
  const Value logarithm = share.isPoison() ? share : e.callNamed("log_chance", {chance, share}, {}, range);
  if (logarithm.isPoison()) return {};
  decisions.push_back({static_cast<TensorId>(share.id), static_cast<TensorId>(logarithm.id), range});
  return share;
}

Value Gates::trainedSkip(Elaborator& e, const ast::Skip& expr) {
  const auto [condition, share] = trainedShare(e, *expr.condition);
  if (condition.isPoison() || share.isPoison()) return {};
  const TensorId outside = reach, passing = found.empty() ? kNoTensor : found.back().reach;
  if (passing != kNoTensor) reach = passing;
  const Value computed = e.evaluate(*expr.computed);
  reach = outside;
  // A name has no gates of its own.
  if (passing != kNoTensor && ast::dynCast<ast::NameRef>(expr.leaving) == nullptr) {
    const Value all = outside != kNoTensor ? tensorValue(outside) : Value::number(e.pool.constant(1), true);
    const Value leaving = difference(e, all, tensorValue(passing), expr.leaving->range);
    if (leaving.isPoison()) return {};
    reach = static_cast<TensorId>(leaving.id);
  }
  const Value left = e.evaluate(*expr.leaving);
  reach = outside;
  if (!armsAreTensors(e, expr, computed, left)) return {};
  if (!armsAgree(e, expr, static_cast<TensorId>(condition.id), static_cast<TensorId>(computed.id),
                 static_cast<TensorId>(left.id)))
    return {};
  return e.callNamed("mix_rows", {share, computed, left}, {}, expr.range);
}

// ---- Gates in a search for slow inputs -----------------------------------------------------------------------------------

namespace {

/// How likely a sample goes the way that costs more, with a logistic distribution in place of the decision. Poison after a
/// report.
Value likelihood(Elaborator& e, const Value& margin, SrcRange range) {
  const Value temperature = Value::number(e.pool.constant(e.options.search->temperature), true);
  return e.callNamed("passing", {margin}, {{"temperature", temperature}}, range);
}

/// Whether it is a number between 0 and 1, as thresholds of probabilities are.
bool isShare(Elaborator& e, const Value& value) {
  const auto number = value.is(ValueKind::Number) ? e.peek(value.expr) : std::nullopt;
  return number && number->num > 0 && compare(*number, {1}) < 0;
}

/// How likely a gate itself says that `more` - `less` is above 0: of a score that is compared with a share, the score, or what it
/// lacks to 1.
Value likelihoodOf(Elaborator& e, const Value& more, const Value& less, SrcRange range) {
  if (isShare(e, less)) return more;
  if (isShare(e, more)) return e.callNamed("scalar_sub", {less}, {{"value", Value::number(e.pool.constant(1), true)}}, range);
  const Value margin = difference(e, more, less, range);
  return margin.isPoison() ? margin : likelihood(e, margin, range);
}

}  // namespace

/// Of a comparison that was evaluated: its margin, and how likely a sample comes behind it. False after a report.
bool Gates::addMargin(Elaborator& e, const ast::Binary& comparison, const Value& left, const Value& right) {
  Margin& gate = found.emplace_back();
  const bool opens = comparison.op == ast::BinaryOp::Less || comparison.op == ast::BinaryOp::LessEqual;
  const SrcRange range = comparison.range;
  if (!isFloating(e, left) && !isFloating(e, right)) return true;  // whole numbers have no gradient
  const Value margin = opens ? difference(e, left, right, range) : difference(e, right, left, range);
  if (margin.isPoison()) return false;
  gate.margin = static_cast<TensorId>(margin.id);
  const Objective objective = e.options.search->objective;
  if (objective == Objective::Flops) {
    gate.reach = onTheWay(e, likelihood(e, margin, range), range);
    return gate.reach != kNoTensor;
  }
  if (objective != Objective::Gates) return true;
  const std::vector<Rational>& shares = e.options.search->shares;
  const bool costsMore = found.size() > shares.size() || shares[found.size() - 1].num >= 0;  // with a margin above 0
  const Value likely = opens == costsMore ? likelihoodOf(e, left, right, range) : likelihoodOf(e, right, left, range);
  if (likely.isPoison()) return false;
  gate.surprise = onTheWay(e, e.callNamed("surprise", {likely}, {}, range), range);
  gate.reach = onTheWay(e, e.callNamed("passes", {margin}, {}, range), range);
  return gate.surprise != kNoTensor && gate.reach != kNoTensor;
}

/// A number of each sample, of those that come here. kNoTensor after a report.
TensorId Gates::onTheWay(Elaborator& e, Value number, SrcRange range) const {
  if (!number.isPoison() && reach != kNoTensor) number = e.callNamed("mul", {tensorValue(reach), number}, {}, range);
  return number.isPoison() ? kNoTensor : static_cast<TensorId>(number.id);
}

/// Of an exit, which is not decided: what follows is for those that are likely to go on.
bool Gates::keepMargin(Elaborator& e, const ast::Expr& condition, const char* gate) {
  const auto* comparison = ast::dynCast<ast::Binary>(&condition);
  if (comparison == nullptr || !isOrder(comparison->op)) {
    found.emplace_back();
    return checkCondition(e, e.evaluate(condition), condition.range, gate).has_value();
  }
  const Value left = e.evaluate(*comparison->left);
  const Value right = e.evaluate(*comparison->right);
  if (left.isPoison() || right.isPoison()) return false;
  if (!checkCondition(e, e.runtimeBinary(*comparison, left, right), condition.range, gate)) return false;
  if (!addMargin(e, *comparison, left, right)) return false;
  if (found.back().reach != kNoTensor) reach = found.back().reach;
  return true;
}

}  // namespace tbem::graph
