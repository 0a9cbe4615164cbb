// Calls: what is called, how arguments meet parameters, functions.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>

namespace tbem::sema {

namespace {
bool isTensorLike(const Value& value, const ast::Parameter* wanted) {
  if (value.isRuntime() || value.is(ValueKind::None)) return true;
  if (wanted == nullptr || wanted->type->kind != ast::NodeKind::ListType || !value.is(ValueKind::List)) return false;
  return std::all_of(value.items.begin(), value.items.end(), [](const Value& one) { return one.isRuntime(); });
}

bool wantsList(std::span<const ast::Parameter> tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const ast::Parameter& p) { return p.type->kind == ast::NodeKind::ListType; });
}

/// What is no tensor in a list that has some; null where all are or none is.
const Value* strayAmongTensors(const Value& value) {
  if (!value.is(ValueKind::List)) return nullptr;
  const auto isTensor = [](const Value& one) { return one.isRuntime(); };
  const auto stray = std::find_if_not(value.items.begin(), value.items.end(), isTensor);
  return stray != value.items.end() && std::any_of(value.items.begin(), value.items.end(), isTensor) ? &*stray : nullptr;
}

std::span<const ast::Parameter> parametersOf(const ast::Decl* decl) {
  if (const auto* callable = ast::dynCast<ast::Callable>(decl)) return callable->parameters;
  if (const auto* function = ast::dynCast<ast::Function>(decl)) return function->parameters;
  return {};
}

std::string countText(std::size_t count, const char* word) {
  return count == 0 ? std::string("no ") + word + "s" : std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}
}  // namespace

Arguments Evaluator::evaluateArguments(const ast::Call& call, const Value* piped) {
  Arguments arguments;
  arguments.use = call.range;
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
    if (isBuiltin(word->name.text)) {
      // A name that is both an elaboration function and an operator is the operator where its first argument is a tensor.
      Arguments arguments = evaluateArguments(expr, piped);
      for (const BoundArgument& one : arguments.list) {
        if (one.value.isPoison()) return {};
      }
      const Resolved found = program.resolve(*frame->module, word->name.text);
      const bool onTensor = !arguments.list.empty() &&
                            (arguments.list.front().value.isRuntime() || arguments.list.front().value.is(ValueKind::Instance));
      const bool own = found.decl != nullptr && !found.module->isStandard;
      const bool bare =
          found.decl != nullptr && !arguments.list.empty() &&
          std::all_of(arguments.list.begin(), arguments.list.end(), [](const BoundArgument& a) { return !a.name.empty(); });
      if (found.decl != nullptr && (onTensor || own || bare)) return apply(expr, Value::declaration(found), std::move(arguments));
      return charged(callBuiltin(word->name.text, arguments));
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
      return fail(diag::unknown_at_compile_time, target.range, "the argument of `" + callee.text + "`");
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
    const Resolved hidden = program.resolve(*frame->module, word->name.text);
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
      return charged(callBuiltin(callee.text, arguments));
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
  if (result.isPoison() || function.result == nullptr) return result;
  const std::optional<Value> typed =
      coerce(*function.result, std::move(result), "the result of `" + function.name.text + "`", arguments.use);
  return typed ? *typed : Value{};
}

/// `...`: the enclosing declaration's parameters of the same name, where they are not given.
bool Evaluator::passRest(const Signature& signature, Arguments& arguments) {
  std::size_t byPosition = 0;
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    const bool inTensors = arguments.separator ? i < *arguments.separator : isTensorLike(arguments.list[i].value, nullptr);
    if (arguments.list[i].name.empty() && !inTensors) ++byPosition;
  }
  const std::span<const ast::Parameter> own = parametersOf(frame->decl);
  for (std::size_t p = byPosition; p < signature.parameters.size(); ++p) {
    const std::string& name = signature.parameters[p].name.text;
    const bool declared = std::any_of(own.begin(), own.end(), [&](const ast::Parameter& one) { return one.name.text == name; });
    const bool given =
        std::any_of(arguments.list.begin(), arguments.list.end(), [&](const BoundArgument& one) { return one.name == name; });
    const Local* local = frame->find(name);
    if (declared && !given && local != nullptr && local->isParameter) {
      arguments.list.push_back({signature.parameters[p].name.text, local->value, arguments.use});
    }
  }
  return true;
}

/// What stands at a place where only a tensor is left to be given. False.
bool Evaluator::notATensor(const Signature& signature, const ast::Parameter& wanted, const BoundArgument& found) {
  const std::string who = "`" + wanted.name.text + "` of `" + std::string(signature.name) + "`";
  wrongKind(found.range, who, "a tensor", found.value);
  Diagnostic* const d = told(diag::wrong_kind, found.range);
  if (d == nullptr || !d->notes.empty()) return false;
  const bool callable = (found.value.is(ValueKind::Declaration) || found.value.is(ValueKind::Partial)) &&
                        found.value.decl->kind == ast::NodeKind::Callable;
  if (callable)
    d->note("an operator is applied to a tensor: `x |> " + found.value.decl->name.text + "`");
  else if (found.value.is(ValueKind::Number))
    d->note("a number becomes a tensor by `constant([" + print(pool, found.value) +
            "])`, which is stretched where shapes are broadcast");
  return false;
}

bool Evaluator::bind(const Signature& signature, Arguments& arguments, Frame& callee, std::vector<Value>& tensors) {
  if (arguments.rest) passRest(signature, arguments);
  tensors.assign(signature.tensors.size(), Value{});
  std::vector<const BoundArgument*> given(signature.parameters.size(), nullptr);
  std::size_t nextTensor = 0, nextParameter = 0;
  bool good = true;
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    const BoundArgument& one = arguments.list[i];
    if (!one.name.empty()) {
      const auto parameter = std::find_if(signature.parameters.begin(), signature.parameters.end(),
                                          [&](const ast::Parameter& p) { return p.name.text == one.name; });
      const auto tensor = std::find_if(signature.tensors.begin(), signature.tensors.end(),
                                       [&](const ast::Parameter& p) { return p.name.text == one.name; });
      if (parameter != signature.parameters.end()) {
        const auto at = static_cast<std::size_t>(parameter - signature.parameters.begin());
        if (given[at] != nullptr) {
          fail(diag::argument_twice, one.range, one.name);
          good = false;
        }
        given[at] = &one;
      } else if (tensor != signature.tensors.end()) {
        tensors[static_cast<std::size_t>(tensor - signature.tensors.begin())] = one.value;
      } else {
        Diagnostic& d = sink.report(diag::unknown_argument, one.range, signature.name, one.name);
        std::vector<std::string> names;
        for (const ast::Parameter& p : signature.parameters) names.push_back(p.name.text);
        if (const std::string near = nearest(one.name, names); !near.empty()) d.note("did you mean `" + near + "`?");
        good = false;
      }
      continue;
    }
    const ast::Parameter* wanted = nextTensor < signature.tensors.size() ? &signature.tensors[nextTensor] : nullptr;
    if (const Value* stray = strayAmongTensors(one.value); wanted != nullptr && stray != nullptr) {
      fail(diag::wrong_kind, one.range, "`" + wanted->name.text + "` of `" + std::string(signature.name) + "`", "tensors",
           "a list with `" + print(pool, *stray) + "` in it");
      return false;
    }
    const bool asTensor = arguments.separator ? i < *arguments.separator : isTensorLike(one.value, wanted);
    if (asTensor && nextParameter != 0) {
      fail(diag::tensor_after_parameter, one.range, signature.name);
      return false;
    }
    if (asTensor) {
      while (nextTensor < tensors.size() && !tensors[nextTensor].isPoison()) ++nextTensor;
      if (nextTensor == tensors.size()) {
        Diagnostic& d = sink.report(diag::too_many_arguments, one.range, signature.name, countText(tensors.size(), "tensor"));
        if (wantsList(signature.tensors))
          d.note("tensors of a list stand in brackets: `" + std::string(signature.name) + "([x, y])`");
        return false;
      }
      tensors[nextTensor++] = one.value;
    } else {
      while (nextParameter < given.size() && given[nextParameter] != nullptr) ++nextParameter;
      if (nextParameter == given.size() && wanted != nullptr && !arguments.separator) return notATensor(signature, *wanted, one);
      if (nextParameter == given.size()) {
        fail(diag::too_many_arguments, one.range, signature.name, countText(given.size(), "parameter"));
        return false;
      }
      given[nextParameter++] = &one;
    }
  }
  if (!good) return false;
  for (std::size_t p = 0; p < given.size(); ++p) {
    // A default may read a parameter that has no value.
    if (!good && given[p] == nullptr && signature.parameters[p].defaultValue != nullptr) continue;
    if (bindOne(signature, signature.parameters[p], given[p], callee, arguments.use)) continue;
    good = false;
    const auto missing = static_cast<std::size_t>(std::ranges::find_if(tensors, &Value::isPoison) - tensors.begin());
    if (given[p] == nullptr || !given[p]->name.empty() || nextTensor == 0 || missing == tensors.size()) continue;
    if (Diagnostic* const d = told(diag::wrong_kind, given[p]->range))
      d->note("`" + signature.tensors[missing].name.text + "`, a tensor, is missing before it");
  }
  return good;
}

bool Evaluator::bindOne(const Signature& signature, const ast::Parameter& parameter, const BoundArgument* given, Frame& callee,
                        SrcRange use) {
  Value value;
  SrcRange range = use;
  const Module* const home = program.homeOf(signature.decl, signature.module, parameter.name.text);
  const auto evaluateAtHome = [&](const ast::Expr& expr) {
    Frame* const before = std::exchange(frame, &callee);
    const Module* const own = std::exchange(callee.module, home);
    Value result = evaluate(expr);
    callee.module = own;
    frame = before;
    return result;
  };
  if (given != nullptr) {
    value = given->value;
    range = given->range;
  } else if (parameter.defaultValue != nullptr) {
    value = evaluateAtHome(*parameter.defaultValue);
  } else {
    Diagnostic& d = sink.report(diag::missing_argument, use, signature.name, parameter.name.text);
    d.label(parameter.range, "declared here without a default");
    return false;
  }
  if (value.isPoison()) return false;
  std::optional<Value> typed =
      coerce(*parameter.type, std::move(value), "`" + parameter.name.text + "` of `" + std::string(signature.name) + "`", range);
  if (!typed) {
    Diagnostic* const d = given != nullptr && given->name.empty() ? told(diag::wrong_kind, range) : nullptr;
    if (d != nullptr && d->labels.empty()) d->label(parameter.range, "this is the next parameter");
    return false;
  }
  callee.define(parameter.name.text, *typed, parameter.name.range);
  callee.locals.back().isParameter = true;
  if (parameter.domain == nullptr || given == nullptr) return true;
  return checkDomain(signature, parameter, evaluateAtHome(*parameter.domain), *typed, range);
}

bool Evaluator::checkDomain(const Signature& signature, const ast::Parameter& parameter, const Value& domain, const Value& value,
                            SrcRange range) {
  if (domain.isPoison()) return false;
  ExprId inside = pool.constant(0);
  if (domain.is(ValueKind::Range) && value.is(ValueKind::Number)) {
    inside = insideRange(domain, value.expr);
  } else {
    for (const Value& one : domain.items) {
      const ExprId same = equal(value, one);
      if (same != kNoExpr) inside = pool.make(ExprOp::Or, inside, same);
    }
  }
  const std::optional<Rational> here = peek(inside);
  if (here && here->num == 0) {
    std::string found = print(pool, value);
    if (const auto number = value.is(ValueKind::Number) ? peek(value.expr) : std::nullopt) found = number->str();
    Diagnostic& d = sink.report(diag::outside_domain, range, parameter.name.text, print(pool, domain), found);
    d.label(parameter.range, "declared here");
    addLevels(d, inside);
    return false;
  }
  return require(Requirement::Domain, inside, *parameter.domain, range, signature.name, "");
}

/// What `nat`, `nat0` say of a number, or of each element.
bool Evaluator::forEachBound(const ast::Type& type, const Value& value, const std::function<bool(ExprId)>& visit) {
  if (const auto* list = ast::dynCast<ast::ListType>(&type))
    return std::all_of(value.items.begin(), value.items.end(),
                       [&](const Value& item) { return forEachBound(*list->element, item, visit); });
  if (!isNatural(type)) return true;
  const std::int64_t low = ast::cast<ast::NamedType>(type).name.text == "nat" ? 1 : 0;
  return visit(pool.make(ExprOp::LessEqual, pool.constant(low), value.expr));
}

/// A bool output that no argument gives is true; another one must be given.
bool Evaluator::fillOutputs(const ast::Process& process, std::span<const ast::Parameter> outputs, std::size_t inputs,
                            Arguments& arguments) {
  const auto isBool = [](const ast::Parameter& one) {
    const auto* type = ast::dynCast<ast::NamedType>(one.type);
    return type != nullptr && type->name.text == "bool";
  };
  const auto byPosition = static_cast<std::size_t>(
      std::count_if(arguments.list.begin(), arguments.list.end(), [](const BoundArgument& one) { return one.name.empty(); }));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool named = std::any_of(arguments.list.begin(), arguments.list.end(),
                                   [&](const BoundArgument& one) { return one.name == outputs[i].name.text; });
    if (named || inputs + i < byPosition) continue;
    if (!isBool(outputs[i])) {
      fail(diag::wrong_kind, arguments.use, "`requires`", "a value of each output of `" + process.name.text + "` but of a bool",
           "none of `" + outputs[i].name.text + "`");
      return false;
    }
    arguments.list.push_back({outputs[i].name.text, truth(true), arguments.use});
  }
  return true;
}

bool Evaluator::forEachRequired(const ast::Expr& expr, const std::function<bool(ExprId)>& visit) {
  const auto* call = ast::dynCast<ast::Call>(&expr);
  const Value callee = call != nullptr ? evaluate(*call->callee) : evaluate(expr);
  if (callee.isPoison()) return false;
  const auto* process = ast::dynCast<ast::Process>(callee.decl);
  if (process == nullptr || call == nullptr) {
    fail(diag::wrong_kind, expr.range, "`requires`", "a call of a process", kindName(callee));
    return false;
  }
  if (process->inputs.size() > 1 || process->outputs.size() != 1) {
    fail(diag::wrong_kind, expr.range, "`requires`", "a process with one group of inputs and one of outputs",
         "`" + process->name.text + "`");
    return false;
  }
  indexesShapes = true;
  Arguments arguments = evaluateArguments(*call, nullptr);
  indexesShapes = false;
  std::vector<ast::Parameter> all = process->inputs.empty() ? std::vector<ast::Parameter>{} : process->inputs.front();
  const std::size_t inputs = all.size();
  all.insert(all.end(), process->outputs.front().begin(), process->outputs.front().end());
  if (!fillOutputs(*process, std::span(all).subspan(inputs), inputs, arguments)) return false;
  Frame inside;
  inside.module = callee.module;
  inside.decl = process;
  std::vector<Value> none;
  const Signature signature{process->name.text, callee.module, process, {}, all};
  if (!bind(signature, arguments, inside, none)) return false;
  Frame* const before = frame;
  bool good = std::all_of(signature.parameters.begin(), signature.parameters.end(), [&](const ast::Parameter& one) {
    return forEachBound(*one.type, inside.find(one.name.text)->value, visit);
  });
  for (const ast::Expr* condition : {process->pre, process->post}) {
    if (condition == nullptr || !good) continue;
    frame = &inside;
    const Value value = evaluate(*condition);
    frame = before;
    good = value.is(ValueKind::Bool) && visit(value.expr);
  }
  return good;
}

}  // namespace tbem::sema
