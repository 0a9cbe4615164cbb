// Applying a declaration: instances, names of dimensions, bodies, results.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <algorithm>

namespace tbem::graph {

bool isAnyTensor(const ast::Type* type) {
  const auto* named = ast::dynCast<ast::NamedType>(type);
  return named != nullptr && named->name.text == "tensor";
}

namespace {
/// A parameter without a default is not among the arguments, none of which is a tensor.
bool lacksParameter(const ast::Callable& decl, const sema::Arguments& arguments) {
  std::size_t byPosition = 0;
  for (const sema::BoundArgument& one : arguments.list) {
    if (one.value.isRuntime() || (one.name.empty() && one.value.is(ValueKind::List))) return false;
    if (one.name.empty()) ++byPosition;
  }
  for (std::size_t p = byPosition; p < decl.parameters.size(); ++p) {
    const std::string& name = decl.parameters[p].name.text;
    const bool given =
        std::any_of(arguments.list.begin(), arguments.list.end(), [&](const auto& one) { return one.name == name; });
    if (!given && decl.parameters[p].defaultValue == nullptr) return true;
  }
  return false;
}
int textRank(const sema::Module& module) { return !module.isStandard ? 2 : module.name != "std.nn" ? 1 : 0; }
}  // namespace

Value Elaborator::applyCallable(const ast::Expr& use, const Value& called, sema::Arguments arguments) {
  const bool isInstance = called.is(ValueKind::Instance);
  const bool named = namedValue == &use;
  const bool changed = !isInstance && !mutations.empty() && phase() == Phase::Forward && now.current != nullptr;
  const Value callee =
      changed ? swapped(called, named ? pendingName : std::string_view(called.decl->name.text), arguments) : called;
  const ast::Callable* decl = isInstance ? instances[callee.id].decl : static_cast<const ast::Callable*>(callee.decl);
  const sema::Module* module = isInstance ? instances[callee.id].module : callee.module;
  if (decl->callable == ast::CallableKind::Dataset) return fail(diag::not_callable, use.range, "in a network, a dataset");
  for (std::size_t i = 0; i < callee.items.size(); ++i) {  // of a partial application
    const bool given =
        std::any_of(arguments.list.begin(), arguments.list.end(), [&](const auto& one) { return one.name == callee.names[i]; });
    if (!given) arguments.list.push_back({callee.names[i], callee.items[i], use.range});
  }
  // Outside of any network, what is still missing may come from factors, or from what a `swap` replaces.
  if (now.current == nullptr && !isInstance && lacksParameter(*decl, arguments))
    return Evaluator::applyCallable(use, callee, std::move(arguments));
  const std::string_view wantedName = named ? pendingName : std::string_view(decl->name.text);
  if (inPyTorchOrder(*decl, *module, arguments, isInstance ? instances[callee.id].byPosition : arguments.list)) return {};

  Frame scratch;
  scratch.module = module;
  scratch.decl = decl;
  std::vector<Value> tensors;
  if (isInstance) {
    const sema::Signature signature{decl->name.text, module, decl, decl->tensors, {}};
    if (!bind(signature, arguments, scratch, tensors)) return {};
    scratch.locals = instances[callee.id].parameters;
  } else {
    const sema::Signature signature{decl->name.text, module, decl, decl->tensors, decl->parameters};
    if (!bind(signature, arguments, scratch, tensors)) return {};
  }
  const auto givenTensors =
      static_cast<std::size_t>(std::count_if(tensors.begin(), tensors.end(), [](const Value& t) { return !t.isPoison(); }));
  if (!isInstance && givenTensors == 0 && (!tensors.empty() || now.current == nullptr)) {
    if (now.current == nullptr) return Evaluator::applyCallable(use, callee, std::move(arguments));
    const std::uint32_t made = makeInstance(*decl, *module, std::move(scratch.locals), wantedName, use.range);
    for (const sema::BoundArgument& one : arguments.list) {
      if (one.name.empty()) instances[made].byPosition.push_back(one);
    }
    return Value::indexed(ValueKind::Instance, made);
  }
  if (givenTensors != tensors.size()) {
    std::string names;
    for (std::size_t i = 0; i < decl->tensors.size(); ++i) names += (i == 0 ? "" : ", ") + decl->tensors[i].name.text;
    return fail(diag::missing_tensor, use.range, decl->name.text, tensors.size(), names, givenTensors);
  }
  if (isInstance) return applyTo(*decl, *module, std::move(scratch.locals), tensors, instances[callee.id].path, use.range);

  std::string key;
  if (now.memo != nullptr && now.current != nullptr && now.current->gradient) {
    key = decl->name.text + "@" + module->name;
    for (const Value& tensor : tensors) {
      key += ",";
      for (const Value& one : tensor.is(ValueKind::List) ? tensor.items : std::vector<Value>{tensor})
        key += std::to_string(one.id) + (tensor.is(ValueKind::List) ? "+" : "");
    }
    for (const Local& local : scratch.locals) {
      key += "|";
      if (local.value.is(ValueKind::Number))
        key += std::to_string(static_cast<std::uint32_t>(local.value.expr));
      else
        key += sema::print(pool, local.value);
    }
    if (const auto it = now.memo->find(key); it != now.memo->end()) return it->second;
  }
  const std::string path = phase() == Phase::Forward ? pathOf(freshName(decl->name.text)) : std::string(decl->name.text);
  Value result = applyTo(*decl, *module, std::move(scratch.locals), tensors, path, use.range);
  if (!key.empty()) now.memo->emplace(std::move(key), result);
  return result;
}

std::uint32_t Elaborator::makeInstance(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                                       std::string_view name, SrcRange range) {
  const std::string path = pathOf(freshName(name));
  // A shared block applied again makes the same instances again.
  if (const auto it = instanceByPath.find(path); it != instanceByPath.end() && instances[it->second].decl == &decl)
    return it->second;
  const auto id = static_cast<std::uint32_t>(instances.size());
  instances.push_back({&decl, &module, std::move(parameters), path, range});
  instanceByPath.emplace(path, id);
  return id;
}

/// Levels and defaults that are callables become instances of the activation that takes them.
void Elaborator::instantiateParameters(Activation& a) {
  const auto make = [&](Value& value) {
    if (!value.is(ValueKind::Partial)) return;
    const auto& decl = *static_cast<const ast::Callable*>(value.decl);
    sema::Arguments arguments;
    arguments.use = a.use;
    for (std::size_t i = 0; i < value.items.size(); ++i) arguments.list.push_back({value.names[i], value.items[i], a.use});
    Frame scratch;
    scratch.module = value.module;
    scratch.decl = &decl;
    std::vector<Value> none;
    const sema::Signature signature{decl.name.text, value.module, &decl, decl.tensors, decl.parameters};
    if (!bind(signature, arguments, scratch, none)) {
      value = {};
      return;
    }
    value =
        Value::indexed(ValueKind::Instance, makeInstance(decl, *value.module, std::move(scratch.locals), decl.name.text, a.use));
  };
  for (Local& local : a.frame.locals) {
    if (!local.isParameter) continue;
    make(local.value);
    if (local.value.is(ValueKind::List))
      for (Value& item : local.value.items) make(item);
  }
}

/// Negative numbers of `axes` count from the end of the first tensor; those outside of it, and levels of factors, stay as they
/// are.
void Elaborator::countAxesFromEnd(Activation& a, const std::vector<Value>& tensors) {
  if (tensors.empty()) return;
  const bool isList = tensors.front().is(ValueKind::List) && !tensors.front().items.empty();
  const Value& first = isList ? tensors.front().items.front() : tensors.front();
  if (!first.is(ValueKind::Tensor)) return;
  const auto rank = static_cast<std::int64_t>(graph[static_cast<TensorId>(first.id)].shape.size());
  for (const ast::Parameter& declared : a.decl->parameters) {
    const auto* type = ast::dynCast<ast::NamedType>(declared.type);
    if (type == nullptr || type->name.text != "axes") continue;
    for (Local& local : a.frame.locals) {
      if (!local.isParameter || local.name != declared.name.text) continue;
      for (Value& item : local.value.items) {
        const auto known = pool.constantValue(item.expr);
        if (known && known->num < 0 && known->num >= -rank) item = integerValue(known->num + rank);
      }
    }
  }
}

Value Elaborator::applyTo(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                          std::vector<Value>& tensors, const std::string& path, SrcRange use) {
  if (mutations.empty() || phase() != Phase::Forward || path.empty())
    return applyOnce(decl, module, std::move(parameters), tensors, path, use);
  return applyChanged(decl, module, std::move(parameters), tensors, path, use);
}

Value Elaborator::applyOnce(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                            std::vector<Value>& tensors, const std::string& path, SrcRange use) {
  if (builder.isFull()) return {};
  for (const ast::Callable* outer : applying) {
    if (outer != &decl) continue;
    std::string chain;
    for (const ast::Callable* one : applying) chain += one->name.text + " -> ";
    return fail(diag::recursive_network, use, decl.name.text, chain + decl.name.text);
  }
  Activation a;
  const std::size_t mutationsBefore = mutations.size();
  if (!beginMutations(decl, parameters, path)) {
    endMutations(mutationsBefore, false);
    return {};
  }
  a.frame.module = program.homeOf(&decl, &module);
  a.frame.decl = &decl;
  a.frame.locals = std::move(parameters);
  a.decl = &decl;
  a.path = path;
  a.use = use;
  a.dtype = options.dtype;
  a.scope = now.current != nullptr ? now.current->scope : static_cast<ScopeId>(0);
  const int rank = frame != nullptr && frame->module != nullptr ? textRank(*frame->module) : 2;
  const bool outerWins = now.current != nullptr && now.current->rank > rank;
  a.range = outerWins ? now.current->range : use;
  a.rank = outerWins ? now.current->rank : rank;
  if (decl.hasBody && phase() == Phase::Forward && !path.empty()) {
    graph.scopes.push_back({path, decl.name.text, a.scope, use});
    a.scope = static_cast<ScopeId>(graph.scopes.size() - 1);
  }
  const Detour detour(*this);
  frame = &a.frame;
  now.current = &a;
  applying.push_back(&decl);
  Place place;
  place.prefix = path;
  places.push_back(std::move(place));
  Value result = runActivation(a, tensors);
  endMutations(mutationsBefore, !result.isPoison());
  return result;
}

Value Elaborator::runActivation(Activation& a, std::vector<Value>& tensors) {
  instantiateParameters(a);
  countAxesFromEnd(a, tensors);
  if (!bindTensors(a, tensors) || !checkConditions(a)) return {};
  for (const ast::WeightStmt* weight : a.decl->weights) {
    if (!makeWeight(a, *weight)) return {};
  }
  const bool ownGradient = !a.decl->backward.empty() && options.training && phase() == Phase::Forward;
  if (a.decl->hasBody) return ownGradient ? runBodyWithGradient(a) : runBody(a);
  return runLeaf(a);
}

// ---- Binding ----------------------------------------------------------------------------------------------------------

bool Elaborator::bindTensors(Activation& a, std::vector<Value>& tensors) {
  bool typed = false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ast::Type* declared = a.decl->tensors[i].type;
    const Value* first = &tensors[i];
    if (const auto* list = ast::dynCast<ast::ListType>(declared)) {
      declared = list->element;
      first = tensors[i].items.empty() ? nullptr : &tensors[i].items.front();
    }
    if (first == nullptr || !first->is(ValueKind::Tensor)) continue;
    if (a.culprit == kNoTensor) a.culprit = static_cast<TensorId>(first->id);
    const auto* type = ast::dynCast<ast::TensorType>(declared);
    if (!typed && (isAnyTensor(declared) || (type != nullptr && type->dtype.empty()))) {
      a.dtype = graph.tensors[first->id].dtype;
      typed = true;
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!bindTensor(a, a.decl->tensors[i], tensors[i])) return false;
  }
  return true;
}

bool Elaborator::bindTensor(Activation& a, const ast::Parameter& declared, const Value& value) {
  if (value.is(ValueKind::None)) {
    a.frame.define(declared.name.text, value, declared.name.range);
    return true;
  }
  Labels labels;
  if (const auto* list = ast::dynCast<ast::ListType>(declared.type)) {
    if (!value.is(ValueKind::List)) {
      wrongKind(a.use, "`" + declared.name.text + "` of `" + a.decl->name.text + "`", "a list of tensors", value);
      return false;
    }
    for (const Value& one : value.items) {
      Labels ignored;
      if (!bindValue(a, *list->element, one, declared.name.text, ignored)) return false;
    }
  } else if (!bindValue(a, *declared.type, value, declared.name.text, labels)) {
    return false;
  }
  a.frame.define(declared.name.text, value, declared.name.range);
  a.labels.emplace_back(declared.name.text, std::move(labels));
  return true;
}

/// A tensor meets its declared type: the shape's names bind or agree; `tensor` without brackets takes any shape.
bool Elaborator::bindValue(Activation& a, const ast::Type& declared, const Value& value, std::string_view name, Labels& labels) {
  if (!value.is(ValueKind::Tensor)) {
    wrongKind(a.use, "`" + std::string(name) + "` of `" + a.decl->name.text + "`", "a tensor", value);
    Diagnostic* const report = value.is(ValueKind::Elem) ? told(diag::wrong_kind, a.use) : nullptr;
    if (report != nullptr)
      report->note(
          "`elementwise` computes with single elements, by its own words alone: an operator is called in a body, `{ ... }`");
    return false;
  }
  const auto tensor = static_cast<TensorId>(value.id);
  if (const auto* type = ast::dynCast<ast::TensorType>(&declared)) return bindShape(a, *type, tensor, name, labels);
  return checkType(a, a.dtype, tensor, name);
}

// ---- Bodies -----------------------------------------------------------------------------------------------------------

Value Elaborator::runBody(Activation& a) {
  const std::size_t errors = mistakeCount();
  executeBlock(a.decl->body);
  if (!a.frame.returned && mistakeCount() == errors && a.decl->fallback.text == "best" && !exits.empty()) {
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
  result = joinExits(a, std::move(result));
  return result.isPoison() ? Value{} : bindResults(a, std::move(result));
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
    Value& whole = several ? result.items[i] : result;
    const bool isList = whole.is(ValueKind::List);
    if (isList && several)
      return wrongKind(a.decl->name.range, "a result of `" + a.decl->name.text + "`, whose gradient is given,", "a tensor",
                       whole);
    for (std::size_t k = 0; k < (isList ? whole.items.size() : 1); ++k) {
      Value& part = isList ? whole.items[k] : whole;
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
    for (const Value& one : local->value.is(ValueKind::List) ? local->value.items : std::vector<Value>{local->value}) {
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
Value Elaborator::bindResults(Activation& a, Value result) {
  const std::vector<ast::Result>& declared = a.decl->results;
  std::vector<Value> parts = result.is(ValueKind::Tuple) ? result.items : std::vector<Value>{result};
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
      const std::vector<Value> tensors = part.is(ValueKind::List) ? part.items : std::vector<Value>{part};
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
    for (const Value& tensor : list != nullptr ? parts[i].items : std::vector<Value>{parts[i]}) {
      if (!tensor.is(ValueKind::Tensor)) return notTensors("a tensor", tensor);
      if (type != nullptr && !bindResult(a, declared[i], *type, static_cast<TensorId>(tensor.id), i)) return {};
    }
  }
  if (a.decl->callable != ast::CallableKind::Operator) {
    for (const ast::Expr* clause : a.decl->post) conjuncts(*clause, remaining);
  }
  return checkPosts(a, remaining, parts) ? result : Value{};
}

}  // namespace tbem::graph
