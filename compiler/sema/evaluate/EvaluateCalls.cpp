// Calls: what is called, and functions.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>

namespace tbem::sema {

Arguments Evaluator::evaluateArguments(const ast::Call& call, const Value* piped) {
  Arguments arguments;
  arguments.use = call.range;
  arguments.list.reserve(call.arguments.size() + 1);
  if (piped != nullptr) arguments.list.push_back({{}, *piped, call.range});
  if (call.separator) arguments.separator = *call.separator + (piped != nullptr ? 1 : 0);
  for (const ast::Argument& argument : call.arguments) {
    if (argument.rest) {
      arguments.rest = true;
      continue;
    }
    arguments.list.push_back({argument.name.text, evaluateArgument(*argument.value), argument.value->range});
  }
  return arguments;
}

Value Evaluator::evaluateCall(const ast::Call& expr, const Value* piped) {
  const auto* word = ast::dynCast<ast::NameRef>(expr.callee);
  if (word != nullptr && frame->find(word->name.text) == nullptr) {
    if (frame->elementwise && piped == nullptr) {
      if (std::optional<Value> made = elementwiseCall(word->name.text, expr)) return std::move(*made);
    }
    if (piped == nullptr) {
      if (std::optional<Value> made = specialCall(word->name.text, expr)) return std::move(*made);
    }
    if (const Builtin* const row = builtin(word->name.text)) {
      // A name that is both an elaboration function and an operator is the operator where its first argument is a tensor.
      Arguments arguments = evaluateArguments(expr, piped);
      for (const BoundArgument& one : arguments.list) {
        if (one.value.isPoison()) return {};
      }
      const Resolved found = resolve(*word);
      const bool onTensor = !arguments.list.empty() &&
                            (arguments.list.front().value.isRuntime() || arguments.list.front().value.is(ValueKind::Instance));
      const bool own = found.decl != nullptr && !found.module->isStandard;
      // `tanh()` is a layer, and so is `max(axis: 1)`: no function of elaboration time is called without a value.
      const bool bare =
          std::all_of(arguments.list.begin(), arguments.list.end(), [](const BoundArgument& a) { return !a.name.empty(); });
      if (found.decl != nullptr && (onTensor || own || bare)) return apply(expr, Value::declaration(found), std::move(arguments));
      return charged(callBuiltin(*row, arguments));
    }
  }
  const Value callee = evaluate(*expr.callee);
  Arguments arguments = evaluateArguments(expr, piped);
  if (callee.isPoison()) return {};
  return apply(expr, callee, std::move(arguments));
}

Value Evaluator::evaluatePipe(const ast::Pipe& expr) {
  // Pipes lean left; a long one is walked in a loop.
  std::vector<const ast::Pipe*> chain{&expr};
  while (const auto* inner = ast::dynCast<ast::Pipe>(chain.back()->input)) chain.push_back(inner);
  Value value = evaluate(*chain.back()->input);
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    if (value.isPoison()) return {};
    const ast::Expr& target = *(*it)->target;
    if (const auto* call = ast::dynCast<ast::Call>(&target)) {
      value = evaluateCall(*call, &value);
      continue;
    }
    Value callee = evaluate(target);
    if (callee.isPoison()) return {};
    if (callee.is(ValueKind::Builtin) && value.isRuntime()) {
      return fail(diag::unknown_at_compile_time, target.range, "the argument of `" + callee.text() + "`");
    }
    Arguments arguments;
    arguments.use = target.range;
    arguments.list.push_back({{}, std::move(value), (*it)->input->range});
    value = apply(target, callee, std::move(arguments));
  }
  return value;
}

/// What is no callable; a local may hide one.
Value Evaluator::notCallable(const ast::Expr& use, const Value& callee) {
  Diagnostic& d = sink.report(diag::not_callable, use.range, kindName(callee));
  const auto* call = ast::dynCast<ast::Call>(&use);
  const auto* word = call != nullptr ? ast::dynCast<ast::NameRef>(call->callee) : nullptr;
  if (word != nullptr && frame->find(word->name.text) != nullptr) {
    const Resolved hidden = resolve(*word);
    if (hidden.decl != nullptr && hidden.module->isStandard) {
      const std::string full = hidden.module->name + "." + word->name.text;
      d.note("`" + word->name.text + "` means a local here").fix(word->range, full);
    }
  }
  return {};
}

Value Evaluator::apply(const ast::Expr& use, const Value& callee, Arguments arguments) {
  for (const BoundArgument& one : arguments.list) {
    if (one.value.isPoison()) return {};
  }
  switch (callee.kind) {
    case ValueKind::Poison:
      return {};
    case ValueKind::Builtin:
      return charged(callBuiltin(callee.text(), arguments));
    case ValueKind::Sequence:
    case ValueKind::List:  // SOFL's element of a sequence, counted from 1
      if (callee.is(ValueKind::Sequence) || ast::dynCast<ast::Process>(frame->decl) != nullptr) {
        const Value position = arguments.list.size() == 1 ? arguments.list.front().value : Value::none();
        if (!position.is(ValueKind::Number)) return wrongKind(use.range, "an element", "the number of its place", position);
        return elementOf(callee, pool.make(ExprOp::Sub, position.expr, pool.constant(1)));
      }
      return notCallable(use, callee);
    case ValueKind::Partial:
    case ValueKind::Instance:
      return applyCallable(use, callee, std::move(arguments));
    case ValueKind::Declaration:
      if (const auto* function = ast::dynCast<ast::Function>(callee.decl))
        return callFunction(*function, *callee.module, std::move(arguments));
      if (callee.decl->kind == ast::NodeKind::Callable) return applyCallable(use, callee, std::move(arguments));
      if (callee.decl->kind == ast::NodeKind::Process) return applyProcess(use, callee, std::move(arguments));
      [[fallthrough]];
    default:
      return notCallable(use, callee);
  }
}

Value Evaluator::callFunction(const ast::Function& function, const Module& module, Arguments arguments) {
  for (const ast::Decl* running : active) {
    if (running == &function) {
      std::string chain;
      for (const ast::Decl* one : active) chain += one->name.text + " -> ";
      return fail(diag::recursive, arguments.use, function.name.text, chain + function.name.text);
    }
  }
  Frame callee;
  callee.module = &module;
  callee.decl = &function;
  std::vector<Value> tensors;
  const Signature signature{function.name.text, &module, &function, {}, function.parameters};
  if (!bind(signature, arguments, callee, tensors)) return {};
  active.push_back(&function);
  Frame* const before = frame;
  frame = &callee;
  const std::size_t errors = mistakeCount();
  executeBlock(function.body);
  Value result = std::move(callee.result);
  if (!callee.returned && mistakeCount() == errors) fail(diag::no_return, function.name.range, function.name.text);
  frame = before;
  active.pop_back();
  release(callee.locals);
  if (result.isPoison() || function.result == nullptr) return result;
  std::optional<Value> typed = coerce(*function.result, std::move(result), {{}, function.name.text}, arguments.use);
  return typed ? std::move(*typed) : Value{};
}

}  // namespace tbem::sema
