// The root of an elaboration: operators and tensors of the graph, names that mean something in it.
#include "compiler/graph/elaborate/Elaborator.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Suggest.h"
#include "compiler/support/Bug.h"

#include <algorithm>

namespace tbem::graph {

const Labels* Activation::labelsOf(std::string_view name) const {
  for (auto it = labels.rbegin(); it != labels.rend(); ++it) {
    if (it->first == name) return &it->second;
  }
  return nullptr;
}

Elaborator::Elaborator(Session& session, const sema::Program& program, Structure& out, const ElaborateOptions& options)
    : Evaluator(program, out.pool, session.sink),
      session(session),
      out(out),
      graph(out.graph),
      options(options),
      builder(out.graph, out.pool,
              [this](const Op& op) { fail(diag::too_many_operators, op.range, graph.network, graph.ops.size() - 1); }) {
  inTraining = options.training;
  graph.training = options.training;
  graph.regions.emplace_back();
  graph.scopes.emplace_back();
}

// ---- Paths ------------------------------------------------------------------------------------------------------------

std::size_t Elaborator::enterTurn(const ast::For& loop, std::size_t turn) {
  paths.enterTurn(loop, turn);
  if (isRecording()) beginCall({nullptr, false, paths.here(), {}, {}, {}, kNoCall, 0, 0, loop.range});
  return isMutable() ? mutations.beginTurn(*this, loop) : 1;
}

bool Elaborator::leaveTurn(const ast::For& loop) {
  const bool good = !isMutable() || mutations.endTurn(*this, loop);
  if (isRecording()) endCall(Value::none());
  paths.leave();
  return good;
}

void Elaborator::naming(const ast::Expr& value, std::string name) { named = {&value, std::move(name)}; }

std::string Elaborator::givenName(const ast::Expr& value) const { return named.value == &value ? named.name : std::string(); }

// ---- Graph ------------------------------------------------------------------------------------------------------------

OpId Elaborator::addOp(Op op, const Activation& a) {
  op.scope = a.scope;
  op.range = a.range;
  op.use = a.use;
  return builder.addOp(std::move(op));
}

void Elaborator::addLeaf(Op op, Activation& a) {
  const bool isRandom = std::ranges::any_of(op.elementwise.nodes, [](const ElemNode& node) { return node.op == ElemOp::Random; });
  const OpId id = addOp(std::move(op), a);
  if (isRandom) replay.noteRandom(id, a.path);
  if (phase() == Phase::Forward && options.differentiates)
    tape.note(id, {a.decl, a.frame.module, std::move(a.frame.locals), std::move(a.labels), a.path});
}

/// A mistake in the library's text is shown with the call in the user's that led there.
void Elaborator::annotate(Diagnostic& diagnostic) {
  if (now.current == nullptr || !now.current->range.valid()) return;
  const Source* where = session.sources.find(diagnostic.range.begin);
  const Source* call = session.sources.find(now.current->range.begin);
  if (where != nullptr && where != call && where->name.starts_with("<std>")) diagnostic.label(now.current->range, "in this call");
}

// ---- Gates ------------------------------------------------------------------------------------------------------------

Value Elaborator::skip(const ast::Skip& expr) {
  if (now.current == nullptr || frame->elementwise || now.current->gradient) return Evaluator::skip(expr);
  return gates.skip(*this, expr);
}

bool Elaborator::exitStatement(const ast::Exit& statement) {
  return now.current == nullptr ? Evaluator::exitStatement(statement) : gates.exit(*this, statement);
}

// ---- Names and members ------------------------------------------------------------------------------------------------

std::optional<Value> Elaborator::specialName(std::string_view name) {
  if (name == "training") return truth(inTraining);
  if (name == "step" && frame->elementwise && now.elem != nullptr && now.isUpdate && tape.lossScale) {
    const Value before = readTensor(tape.lossScale->taken, {}, name);
    return Value::indexed(ValueKind::Elem, now.elem->operation(ElemOp::Add, before.id, now.elem->constant(Rational::of(1))));
  }
  if (name == "step" && frame->elementwise && now.elem != nullptr) {
    return Value::indexed(ValueKind::Elem, now.elem->scalar(pool.step()));
  }
  if (name == "gradient_norm" && frame->elementwise && now.elem != nullptr && phase() == Phase::Optimizer)
    return readGradientNorm();
  return std::nullopt;
}

std::optional<std::vector<Value>> Elaborator::shapeOf(const Value& tensor) {
  if (!tensor.is(ValueKind::Tensor)) return std::nullopt;
  const std::vector<ExprId>& dims = graph.tensors[tensor.id].shape;
  std::vector<Value> shape;
  shape.reserve(dims.size());
  for (const ExprId dim : dims) shape.push_back(Value::number(dim));
  return shape;
}

Value Elaborator::runtimeMember(const ast::Member& expr, const Value& object) {
  if (object.is(ValueKind::Tensor)) {
    const std::string& word = expr.member.text;
    Diagnostic& d = sink.report(diag::no_member, expr.member.range, kindName(object), word);
    if (word == "shape" || word == "size") {
      d.note("the names in its declared shape are its dimensions, and `shape(x)` is the list of them");
    } else if (const std::string ours(program.resolve(*frame->module, word) ? word : sema::elsewhere(word)); !ours.empty()) {
      d.note("an operator is applied as `x |> " + ours + "` or `" + ours + "(x)`");
    }
    return {};
  }
  if (!object.is(ValueKind::Instance)) return fail(diag::no_member, expr.member.range, kindName(object), expr.member.text);
  const Instance& instance = owned.instances[object.id];
  const std::string path = instance.path.empty() ? expr.member.text : instance.path + "." + expr.member.text;
  if (const auto it = owned.weightByPath.find(path); it != owned.weightByPath.end()) {
    const auto newest = owned.latest.find(index(graph[it->second].storage));
    return Value::indexed(ValueKind::Tensor, index(newest != owned.latest.end() ? newest->second : it->second));
  }
  for (const ast::WeightStmt* weight : instance.decl->weights) {
    if (weight->name.text == expr.member.text) {
      Diagnostic& d = sink.report(diag::no_member, expr.member.range, "`" + instance.path + "`", expr.member.text);
      d.note("its weights exist from its first use on: apply it before");
      return {};
    }
  }
  return fail(diag::no_member, expr.member.range, "`" + instance.decl->name.text + "`", expr.member.text);
}

// ---- Roots ------------------------------------------------------------------------------------------------------------

Value Elaborator::applyRoot(const Value& callee, std::vector<Local> parameters, std::vector<Value> tensors,
                            const std::string& name, SrcRange use) {
  const auto& decl = *static_cast<const ast::Callable*>(callee.decl);
  if (name.empty()) {
    graph.network = decl.name.text;
    graph.scopes.front().declaration = decl.name.text;
    graph.scopes.front().range = use;
  }
  return apply({decl, *callee.module, std::move(parameters), std::move(tensors), name.empty() ? "" : paths.fresh(name), use});
}

std::optional<std::vector<Local>> Elaborator::networkParameters(const Value& callee, const std::vector<Local>& factors,
                                                                SrcRange use) {
  const auto& decl = *static_cast<const ast::Callable*>(callee.decl);
  sema::Arguments arguments;
  arguments.use = use;
  for (std::size_t i = 0; i < callee.items.size(); ++i) arguments.list.push_back({callee.words[i], callee.items[i], use});
  for (const Local& factor : factors) {
    const auto has = [&](const auto& all, const auto& nameOf) {
      return std::any_of(all.begin(), all.end(), [&](const auto& one) { return nameOf(one) == factor.name; });
    };
    const bool declared = has(decl.parameters, [](const ast::Parameter& p) { return std::string_view(p.name.text); });
    const bool given = has(arguments.list, [](const sema::BoundArgument& a) { return a.name; });
    if (declared && !given) arguments.list.push_back({factor.name, factor.value, factor.range});
  }
  Frame scratch;
  scratch.module = callee.module;
  scratch.decl = &decl;
  std::vector<Value> none;
  const sema::Signature signature{decl.name.text, callee.module, &decl, {}, decl.parameters};
  if (!bind(signature, arguments, scratch, none)) return std::nullopt;
  return std::move(scratch.locals);
}

std::optional<tbem_dtype> Elaborator::inputType(const ast::Parameter& tensor) {
  const auto* list = ast::dynCast<ast::ListType>(tensor.type);
  const ast::Type* declared = list != nullptr ? list->element : tensor.type;
  if (list != nullptr && isAnyTensor(declared)) return options.dtype;
  const auto* type = ast::dynCast<ast::TensorType>(declared);
  if (type == nullptr) {
    fail(diag::wrong_tensor, tensor.range, "an input of a network", "a tensor type");
    return std::nullopt;
  }
  Activation scratch;
  scratch.dtype = options.dtype;
  return dtypeFromType(scratch, *type);
}

std::optional<std::vector<TargetType>> Elaborator::targetsOf(const Value& given, const std::vector<TensorId>& results,
                                                             SrcRange use) {
  const auto& loss = *static_cast<const ast::Callable*>(given.decl);
  std::vector<const ast::TensorType*> types;
  for (const ast::Parameter& tensor : loss.tensors) {
    types.push_back(ast::dynCast<ast::TensorType>(tensor.type));
    if (types.back() != nullptr) continue;
    session.sink.report(diag::wrong_tensor, tensor.range, "a loss", "tensors, and no list of them").label(use, "the loss");
    return std::nullopt;
  }
  std::optional<std::vector<Local>> parameters = networkParameters(given, {}, use);
  if (!parameters) return std::nullopt;
  Activation a;
  a.frame.module = given.module;
  a.frame.decl = &loss;
  a.frame.locals = std::move(*parameters);
  a.decl = &loss;
  a.use = a.range = use;
  a.rank = 2;
  a.culprit = results.front();
  a.dtype = graph[results.front()].dtype;
  const Detour detour(*this);
  frame = &a.frame;
  now.current = &a;
  Labels labels;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (!bindShape(a, *types[k], results[k], loss.tensors[k].name.text, labels)) return std::nullopt;
  }
  std::vector<TargetType> targets;
  for (std::size_t k = results.size(); k < types.size(); ++k) {
    const auto what = [&] { return "the target of `" + loss.name.text + "`"; };
    std::optional<std::vector<ExprId>> shape = shapeFromType(a, *types[k], labels, what);
    const std::optional<tbem_dtype> dtype = shape ? dtypeFromType(a, *types[k]) : std::nullopt;
    if (!dtype) return std::nullopt;
    targets.push_back({*dtype, std::move(*shape)});
  }
  return targets;
}

}  // namespace tbem::graph
