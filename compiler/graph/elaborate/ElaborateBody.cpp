// What a declaration says: the conditions around it (`pre`, `requires`, and `post`, which also defines names), its body, a
// gradient of its own, its results.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"
#include "compiler/sema/Walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::graph {

// ---- Conditions -------------------------------------------------------------------------------------------------------

bool Elaborator::requireCondition(Activation& a, sema::Requirement kind, const ast::Expr& condition) {
  // What an optimiser asks of a rate holds for a number; a schedule, which is a tensor by now, has conditions of its own.
  const auto isSchedule = [](const Local& local) { return local.isParameter && local.value.is(ValueKind::Tensor); };
  const auto namesSchedule = [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    const Local* local = name != nullptr ? frame->find(name->name.text) : nullptr;
    return local != nullptr && isSchedule(*local);
  };
  if (phase() == Phase::Optimizer && std::ranges::any_of(frame->locals, isSchedule) && sema::anyInside(condition, namesSchedule))
    return true;
  const Value value = evaluate(condition);
  if (value.isPoison()) return false;
  if (value.is(ValueKind::Bool)) return require(kind, value.expr, condition, a.range, a.decl->name.text, "");
  wrongKind(condition.range, kind == sema::Requirement::Pre ? "`pre`" : "`post`", "a bool", value);
  return false;
}

bool Elaborator::checkConditions(Activation& a) {
  for (const ast::Expr* clause : a.decl->pre) {
    for (const ast::Expr* part : conjunctsOf(*clause)) {
      if (!requireCondition(a, sema::Requirement::Pre, *part)) return false;
    }
  }
  return std::all_of(a.decl->requirements.begin(), a.decl->requirements.end(), [&](const ast::Expr* requirement) {
    return sema::namesResults(*a.decl, *requirement) || checkRequirement(a, *requirement, sema::Requirement::Requires);
  });
}

/// `requires P(arguments)`: the process's `pre`, and its `post` with the outputs that are given.
bool Elaborator::checkRequirement(Activation& a, const ast::Expr& expr, sema::Requirement kind) {
  return forEachRequired(expr, [&](ExprId condition) { return require(kind, condition, expr, a.range, a.decl->name.text, ""); });
}

bool Elaborator::definePosts(Activation& a, std::vector<const ast::Expr*>& remaining) {
  for (const ast::Expr* clause : a.decl->post) {
    for (const ast::Expr* part : conjunctsOf(*clause)) {
      const auto* equation = ast::dynCast<ast::Binary>(part);
      const auto* name =
          equation != nullptr && equation->op == ast::BinaryOp::Equal ? ast::dynCast<ast::NameRef>(equation->left) : nullptr;
      if (name == nullptr || a.frame.find(name->name.text) != nullptr) {
        remaining.push_back(part);
        continue;
      }
      Value value = evaluate(*equation->right);
      if (value.isPoison()) return false;
      a.frame.define(name->name.text, std::move(value), name->range);
    }
  }
  return true;
}

/// `post`, then what `requires` says of `results`, which are tensors or lists of them.
bool Elaborator::checkPosts(Activation& a, const std::vector<const ast::Expr*>& remaining, const std::vector<Value>& results) {
  const bool good = std::all_of(remaining.begin(), remaining.end(),
                                [&](const ast::Expr* part) { return requireCondition(a, sema::Requirement::Post, *part); });
  if (!good) return false;
  const std::size_t mark = a.frame.locals.size();
  if (a.decl->results.size() == 1 && a.decl->results.front().name.empty() && results.size() == 1)
    a.frame.define("result", results.front(), a.decl->results.front().range);
  const bool met = std::all_of(a.decl->requirements.begin(), a.decl->requirements.end(), [&](const ast::Expr* requirement) {
    return !sema::namesResults(*a.decl, *requirement) || checkRequirement(a, *requirement, sema::Requirement::RequiresOfResult);
  });
  a.frame.locals.resize(mark);
  return met;
}

// ---- Bodies -----------------------------------------------------------------------------------------------------------

/// The same values in a storage of their own.
Value Elaborator::copyOf(TensorId tensor, SrcRange range) {
  const ScopeId scope = now.current != nullptr ? now.current->scope : static_cast<ScopeId>(0);
  return Value::indexed(ValueKind::Tensor, index(builder.copy(tensor, range, scope)));
}

Value Elaborator::runBody(Activation& a) {
  const std::size_t errors = mistakeCount();
  executeBlock(a.decl->body);
  if (!a.frame.returned && mistakeCount() == errors && a.decl->fallback.text == "best" && gates.hasExits()) {
    a.frame.returned = true;  // every sample leaves by an exit: the one whose condition has the largest left side
    a.frame.result = Value::none();
  }
  if (!a.frame.returned) {
    if (mistakeCount() == errors) fail(diag::no_return, a.decl->name.range, a.decl->name.text);
    return {};
  }
  Value result = std::move(a.frame.result);
  a.frame.result = {};
  if (result.isPoison()) return {};
  result = gates.joinExits(*this, a, std::move(result));
  return result.isPoison() ? Value{} : bindResults(a, result);
}

/// A body whose declaration says its gradient. A result that it only passes on gets a value of its own, where the gradient of
/// what is inside ends.
Value Elaborator::runBodyWithGradient(Activation& a) {
  OwnGradient own;
  own.first = graph.ops.size();
  Value result = runBody(a);
  if (result.isPoison()) return {};
  const bool several = result.is(ValueKind::Tuple);
  for (std::size_t i = 0; i < (several ? result.items.size() : 1); ++i) {
    Value& whole = several ? result.items.own()[i] : result;
    const bool isList = whole.is(ValueKind::List);
    if (isList && several)
      return wrongKind(a.decl->name.range, "a result of `" + a.decl->name.text + "`, whose gradient is given,", "a tensor",
                       whole);
    for (std::size_t k = 0; k < (isList ? whole.items.size() : 1); ++k) {
      Value& part = isList ? whole.items.own()[k] : whole;
      const OpId producer = graph.tensors[part.id].producer;
      if (producer == kNoOp || index(producer) < own.first) part = copyOf(static_cast<TensorId>(part.id), a.range);
      own.outputs.push_back(static_cast<TensorId>(part.id));
    }
    if (Local* named = a.frame.find(a.decl->results[i].name.text)) {
      named->value = whole;
    } else if (!a.decl->results[i].name.empty()) {
      a.frame.define(a.decl->results[i].name.text, whole, a.decl->results[i].range);
    }
  }
  own.last = graph.ops.size() - 1;
  for (const ast::Part& part : a.decl->backward) {
    const Local* local = a.frame.find(part.name.text);
    if (local == nullptr) continue;
    for (const Value& one : local->value.is(ValueKind::List) ? local->value.items : sema::SharedVector<Value>{local->value}) {
      if (one.is(ValueKind::Tensor)) own.inputs.push_back(static_cast<TensorId>(one.id));
    }
  }
  own.context = {a.decl, a.frame.module, a.frame.locals, a.labels, a.path};
  tape.ownGradients.push_back(std::move(own));
  return result;
}

/// A result that does not fit is the body's fault: its `return` is shown, where that is no deeper in the library than the call.
bool Elaborator::bindResult(Activation& a, const ast::Result& declared, const ast::TensorType& type, TensorId tensor,
                            std::size_t position) {
  const SrcRange call = a.range;
  const TensorId given = a.culprit;
  if (a.frame.returnedText != nullptr && textRank(*a.frame.module) >= a.rank) {
    const auto* tuple = ast::dynCast<ast::Tuple>(a.frame.returnedText);
    const bool one = tuple != nullptr && tuple->items.size() == a.decl->results.size();
    a.range = one ? tuple->items[position]->range : a.frame.returnedText->range;
  }
  a.culprit = tensor;
  Labels labels;
  const bool good = bindShape(a, type, tensor, declared.name.empty() ? "result" : declared.name.text, labels);
  a.range = call;
  a.culprit = given;
  if (good && !declared.name.empty())
    a.frame.define(declared.name.text, Value::indexed(ValueKind::Tensor, index(tensor)), declared.range);
  return good;
}

/// The results of a body meet their declared types; names first met there bind; then `post` holds.
Value Elaborator::bindResults(Activation& a, const Value& result) {
  const std::vector<ast::Result>& declared = a.decl->results;
  sema::SharedVector<Value> parts = result.is(ValueKind::Tuple) ? result.items : sema::SharedVector<Value>{result};
  const SrcRange at = a.frame.returnedText != nullptr ? a.frame.returnedText->range : a.decl->name.range;
  const auto notTensors = [&](const char* wants, const Value& found) {
    wrongKind(at, "the result of `" + a.decl->name.text + "`", wants, found);
    Diagnostic* const d = told(diag::wrong_kind, at);
    const bool isUnapplied = found.is(ValueKind::Declaration) || found.is(ValueKind::Partial) || found.is(ValueKind::Instance);
    if (d != nullptr && isUnapplied && d->notes.empty()) d->note("an operator is applied to a tensor: `y(x)` or `x |> y`");
    return Value{};
  };
  if (declared.empty() && a.decl->callable == ast::CallableKind::Network) {
    for (const Value& part : parts) {
      const sema::SharedVector<Value> tensors = part.is(ValueKind::List) ? part.items : sema::SharedVector<Value>{part};
      if (tensors.empty()) return notTensors("tensors", part);
      for (const Value& one : tensors) {
        if (!one.is(ValueKind::Tensor)) return notTensors("tensors", one);
      }
    }
  }
  if (!declared.empty() && parts.size() != declared.size()) {
    fail(diag::parts_differ, at, declared.size(), parts.size());
    if (Diagnostic* const d = told(diag::parts_differ, at); d != nullptr && result.is(ValueKind::Tuple) && d->notes.empty()) {
      d->note(fmt::format("`{}` declares {}, and this is a tuple of {}: `let (a, b) = ...` takes one apart", a.decl->name.text,
                          declared.size() == 1 ? "1 result" : std::to_string(declared.size()) + " results", parts.size()));
    }
    return {};
  }
  std::vector<const ast::Expr*> remaining;
  if (a.decl->callable == ast::CallableKind::Operator && !definePosts(a, remaining)) return {};
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const auto* list = ast::dynCast<ast::ListType>(declared[i].type);
    if (list != nullptr && !parts[i].is(ValueKind::List)) return notTensors("a list of tensors", parts[i]);
    const ast::Type* wanted = list != nullptr ? list->element : declared[i].type;
    const auto* type = ast::dynCast<ast::TensorType>(wanted);
    if (type == nullptr && !isAnyTensor(wanted)) continue;
    for (const Value& tensor : list != nullptr ? parts[i].items : sema::SharedVector<Value>{parts[i]}) {
      if (!tensor.is(ValueKind::Tensor)) return notTensors("a tensor", tensor);
      if (type != nullptr && !bindResult(a, declared[i], *type, static_cast<TensorId>(tensor.id), i)) return {};
    }
  }
  if (a.decl->callable != ast::CallableKind::Operator) {
    for (const ast::Expr* clause : a.decl->post) {
      const std::vector<const ast::Expr*>& conditions = conjunctsOf(*clause);
      remaining.insert(remaining.end(), conditions.begin(), conditions.end());
    }
  }
  return checkPosts(a, remaining, parts) ? result : Value{};
}

}  // namespace tbem::graph
