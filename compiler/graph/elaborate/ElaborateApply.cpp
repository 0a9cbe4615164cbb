// Applying a declaration: instances, parameters, tensors.
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
}  // namespace

int textRank(const sema::Module& module) { return !module.isStandard ? 2 : module.name != "std.nn" ? 1 : 0; }

Value Elaborator::applyCallable(const ast::Expr& use, const Value& called, sema::Arguments arguments) {
  const bool isInstance = called.is(ValueKind::Instance);
  const bool isNamed = named.value == &use;
  const bool changed = !isInstance && isMutable() && now.current != nullptr;
  const std::string ownName = isNamed ? named.name : std::string();
  const auto calledName = [&] { return isNamed ? std::string_view(ownName) : std::string_view(called.decl->name.text); };
  const Value callee = changed ? mutations.swapped(*this, called, calledName(), arguments) : called;
  const ast::Callable* decl = isInstance ? owned.instances[callee.id].decl : static_cast<const ast::Callable*>(callee.decl);
  const sema::Module* module = isInstance ? owned.instances[callee.id].module : callee.module;
  if (decl->callable == ast::CallableKind::Dataset) return fail(diag::not_callable, use.range, "in a network, a dataset");
  for (std::size_t i = 0; i < callee.items.size(); ++i) {  // of a partial application
    const bool given =
        std::any_of(arguments.list.begin(), arguments.list.end(), [&](const auto& one) { return one.name == callee.words[i]; });
    if (!given) arguments.list.push_back({callee.words[i], callee.items[i], use.range});
  }
  // Outside of any network, what is still missing may come from factors, or from what a `swap` replaces.
  if (now.current == nullptr && !isInstance && lacksParameter(*decl, arguments))
    return Evaluator::applyCallable(use, callee, std::move(arguments));
  const std::string_view wantedName = isNamed ? std::string_view(ownName) : std::string_view(decl->name.text);
  if (inPyTorchOrder(*decl, *module, arguments, isInstance ? owned.instances[callee.id].byPosition : arguments.list)) return {};

  Frame scratch;
  scratch.module = module;
  scratch.decl = decl;
  std::vector<Value> tensors;
  if (isInstance) {
    const sema::Signature signature{decl->name.text, module, decl, decl->tensors, {}};
    if (!bind(signature, arguments, scratch, tensors)) return {};
    scratch.locals = owned.instances[callee.id].parameters;
  } else {
    const sema::Signature signature{decl->name.text, module, decl, decl->tensors, decl->parameters};
    if (!bind(signature, arguments, scratch, tensors)) return {};
  }
  const auto givenTensors =
      static_cast<std::size_t>(std::count_if(tensors.begin(), tensors.end(), [](const Value& t) { return !t.isPoison(); }));
  if (!isInstance && givenTensors == 0 && (!tensors.empty() || now.current == nullptr)) {
    if (now.current == nullptr) return Evaluator::applyCallable(use, callee, std::move(arguments));
    const std::uint32_t made = makeInstance(*decl, *module, std::move(scratch.locals), wantedName, use.range);
    owned.instances[made].byPosition.clear();  // of a shared block that is applied again
    for (const sema::BoundArgument& one : arguments.list) {
      if (one.name.empty()) owned.instances[made].byPosition.push_back(one);
    }
    return Value::indexed(ValueKind::Instance, made);
  }
  if (givenTensors != tensors.size()) {
    std::string names;
    for (std::size_t i = 0; i < decl->tensors.size(); ++i) names += (i == 0 ? "" : ", ") + decl->tensors[i].name.text;
    return fail(diag::missing_tensor, use.range, decl->name.text, tensors.size(), names, givenTensors);
  }
  Application call{*decl, *module, std::move(scratch.locals), std::move(tensors), "", use.range};
  if (isInstance) {
    call.path = owned.instances[callee.id].path;
    return apply(std::move(call));
  }
  call.path = phase() == Phase::Forward ? paths.under(paths.fresh(decl->name.text)) : decl->name.text;
  const bool isInGradient = now.calls != nullptr && now.current != nullptr && now.current->gradient;
  return isInGradient ? applyInGradient(std::move(call)) : apply(std::move(call));
}

/// Equal calls are made once.
Value Elaborator::applyInGradient(Application application) {
  std::vector<GradientCall>& calls = *now.calls;
  GradientCall call{&application.decl, application.tensors, {}, {}};
  for (const Local& local : application.parameters) call.parameters.push_back(local.value);
  const auto known = std::ranges::find_if(calls, [&](const GradientCall& other) {
    return other.decl == call.decl && other.tensors == call.tensors && other.parameters == call.parameters;
  });
  if (known != calls.end()) return known->result;
  call.result = apply(std::move(application));
  calls.push_back(std::move(call));
  return calls.back().result;
}

std::uint32_t Elaborator::makeInstance(const ast::Callable& decl, const sema::Module& module, std::vector<Local> parameters,
                                       std::string_view name, SrcRange range) {
  const std::string path = paths.under(paths.fresh(name));
  // A shared block applied again makes the same instances again.
  if (const auto it = owned.instanceByPath.find(path);
      it != owned.instanceByPath.end() && owned.instances[it->second].decl == &decl) {
    replay.noteShared();
    return it->second;
  }
  const auto id = static_cast<std::uint32_t>(owned.instances.size());
  owned.instances.push_back({&decl, &module, std::move(parameters), path, range});
  owned.instanceByPath.emplace(path, id);
  return id;
}

/// Levels and defaults that are callables become instances of the activation that takes them.
void Elaborator::instantiateParameters(Activation& a) {
  const auto make = [&](Value& value) {
    if (!value.is(ValueKind::Partial)) return;
    const auto& decl = *static_cast<const ast::Callable*>(value.decl);
    sema::Arguments arguments;
    arguments.use = a.use;
    for (std::size_t i = 0; i < value.items.size(); ++i) arguments.list.push_back({value.words[i], value.items[i], a.use});
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
    const auto isPartial = [](const Value& item) { return item.is(ValueKind::Partial); };
    if (local.value.is(ValueKind::List) && std::ranges::any_of(local.value.items, isPartial))
      for (std::size_t i = 0; i < local.value.items.size(); ++i) make(local.value.items.own()[i]);
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
      for (std::size_t i = 0; i < local.value.items.size(); ++i) {
        const auto known = pool.constantValue(local.value.items[i].expr);
        if (known && known->num < 0 && known->num >= -rank) local.value.items.own()[i] = integerValue(known->num + rank);
      }
    }
  }
}

Value Elaborator::apply(Application application) {
  if (!isMutable() || application.path.empty()) return applyOnce(std::move(application));
  return mutations.apply(*this, std::move(application));
}

void Elaborator::beginCall(Call call) {
  call.parent = openCall;
  call.first = static_cast<std::uint32_t>(graph.ops.size());
  openCall = static_cast<std::uint32_t>(out.calls.size());
  out.calls.push_back(std::move(call));
}

void Elaborator::endCall(Value result) {
  Call& call = out.calls[openCall];
  call.result = std::move(result);
  call.end = static_cast<std::uint32_t>(graph.ops.size());
  openCall = call.parent;
}

Value Elaborator::applyOnce(Application application) {
  const ast::Callable& decl = application.decl;
  const SrcRange use = application.use;
  if (builder.isFull()) return {};
  for (const ast::Callable* outer : applying) {
    if (outer != &decl) continue;
    std::string chain;
    for (const ast::Callable* one : applying) chain += one->name.text + " -> ";
    return fail(diag::recursive_network, use, decl.name.text, chain + decl.name.text);
  }
  const std::size_t mutationsBefore = mutations.size();
  if (!mutations.begin(*this, decl, application.parameters, application.path)) {
    mutations.end(*this, mutationsBefore, false);
    return {};
  }
  int rank = frame != nullptr && frame->module != nullptr ? textRank(*frame->module) : 2;
  Replay::Place place{std::move(application.path), use, use, false, {}, builder.stamp.region, {}};
  if (now.current != nullptr) {
    place.scope = now.current->scope;
    place.isInherited = now.current->rank > rank;
    if (place.isInherited) place.range = now.current->range;
    rank = std::max(rank, now.current->rank);
  }
  Replay::Begun begun = replay.begin(*this, application, std::move(place), rank);
  if (std::optional<Value> copied = replay.copy(*this, begun)) {
    release(application.parameters);
    return std::move(*copied);
  }
  const bool recorded = isRecording();
  if (recorded) {
    Call call{&decl, application.module.isStandard, begun.place.path, {}, application.tensors, {}, kNoCall, 0, 0, use};
    for (const Local& parameter : application.parameters) call.parameters.emplace_back(parameter.name, parameter.value);
    beginCall(std::move(call));
  }
  Value result = applyHere(std::move(application), begun.place, rank);
  if (recorded) endCall(result);
  mutations.end(*this, mutationsBefore, !result.isPoison());
  replay.end(*this, std::move(begun), result);
  return result;
}

Value Elaborator::applyHere(Application application, const Replay::Place& place, int rank) {
  const ast::Callable& decl = application.decl;
  Activation a;
  a.frame.module = program.homeOf(&decl, &application.module);
  a.frame.decl = &decl;
  a.frame.locals = std::move(application.parameters);
  a.decl = &decl;
  a.path = place.path;
  a.use = place.use;
  a.range = place.range;
  a.rank = rank;
  a.scope = place.scope;
  a.dtype = options.dtype;
  if (decl.hasBody && phase() == Phase::Forward && !a.path.empty()) {
    graph.scopes.push_back({a.path, decl.name.text, a.scope, a.use});
    a.scope = static_cast<ScopeId>(graph.scopes.size() - 1);
  }
  const Detour detour(*this);
  frame = &a.frame;
  now.current = &a;
  applying.push_back(&decl);
  paths.enter(a.path);
  Value result = runActivation(a, application.tensors);
  release(a.frame.locals);
  return result;
}

Value Elaborator::runActivation(Activation& a, const std::vector<Value>& tensors) {
  instantiateParameters(a);
  countAxesFromEnd(a, tensors);
  if (!bindTensors(a, tensors) || !checkConditions(a)) return {};
  for (const ast::WeightStmt* weight : a.decl->weights) {
    if (!makeWeight(a, *weight)) return {};
  }
  const bool ownGradient = !a.decl->backward.empty() && options.differentiates && phase() == Phase::Forward;
  if (a.decl->hasBody) return ownGradient ? runBodyWithGradient(a) : runBody(a);
  return runLeaf(a);
}

// ---- Binding ----------------------------------------------------------------------------------------------------------

bool Elaborator::bindTensors(Activation& a, const std::vector<Value>& tensors) {
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

}  // namespace tbem::graph
