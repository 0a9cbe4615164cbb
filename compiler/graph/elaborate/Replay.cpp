#include "compiler/graph/elaborate/Replay.h"

#include "compiler/graph/elaborate/Elaborator.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

namespace tbem::graph {

namespace {

// ---- Keys ---------------------------------------------------------------------------------------------------------------

using Key = Replay::Key;

void add(Key& key, std::uint64_t number) { key.push_back(number); }
void add(Key& key, const void* pointer) { add(key, reinterpret_cast<std::uintptr_t>(pointer)); }
void add(Key& key, const std::string& text) {
  add(key, text.size());
  for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t letters = 0;
    std::memcpy(&letters, text.data() + at, std::min(sizeof letters, text.size() - at));
    add(key, letters);
  }
}

/// False where the value is something of the graph.
bool addParameter(Key& key, const Value& value) {
  if (value.isRuntime() || value.is(ValueKind::Instance)) return false;
  const bool isDeclared = value.decl != nullptr || value.module != nullptr, isList = !value.items.empty() || !value.words.empty();
  std::uint64_t small = static_cast<std::uint64_t>(value.kind) | (value.isReal ? 1U << 8U : 0U) |
                        (value.inclusive ? 1U << 9U : 0U) | (isDeclared ? 1U << 10U : 0U) | (isList ? 1U << 11U : 0U);
  for (const std::int8_t power : value.unit) small = small << 8U | static_cast<std::uint8_t>(power);
  add(key, small);
  add(key, static_cast<std::uint64_t>(value.expr) << 32U | value.id);
  if (isDeclared) {
    add(key, value.decl);
    add(key, value.module);
  }
  if (isList) add(key, value.items.size() << 32U | value.words.size());
  for (const std::string& word : value.words) add(key, word);
  return std::ranges::all_of(value.items, [&](const Value& item) { return addParameter(key, item); });
}

/// Of the tensors from `place` on, as many as the value has. A body sees a tensor's type, shape and name, and which of its
/// tensors are the same or share a storage.
bool addTensors(Key& key, const Graph& graph, const Value& value, const std::vector<TensorId>& all, std::size_t& place) {
  add(key, static_cast<std::uint64_t>(value.kind));
  if (value.is(ValueKind::None)) return true;
  if (value.is(ValueKind::List)) {
    add(key, value.items.size());
    return std::ranges::all_of(value.items, [&](const Value& item) { return addTensors(key, graph, item, all, place); });
  }
  if (!value.is(ValueKind::Tensor)) return false;
  const Tensor& tensor = graph[all[place++]];
  const auto same = [&](TensorId other) { return other == static_cast<TensorId>(value.id); };
  const auto shares = [&](TensorId other) { return graph[other].storage == tensor.storage; };
  add(key, static_cast<std::uint64_t>(std::ranges::find_if(all, same) - all.begin()));
  add(key, static_cast<std::uint64_t>(std::ranges::find_if(all, shares) - all.begin()));
  add(key, static_cast<std::uint64_t>(tensor.dtype) << 8U | static_cast<std::uint64_t>(graph[tensor.storage].kind));
  add(key, tensor.name);
  add(key, tensor.shape.size());
  for (const ExprId dim : tensor.shape) add(key, static_cast<std::uint64_t>(dim));
  return true;
}

// ---- Places -------------------------------------------------------------------------------------------------------------

bool isUnder(const std::string& path, const std::string& place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '.' || path[place.size()] == '[');
}

bool forEachValue(const Value& value, const std::function<bool(const Value&)>& visit) {
  return visit(value) && std::ranges::all_of(value.items, [&](const Value& item) { return forEachValue(item, visit); });
}

}  // namespace

std::size_t Replay::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.size();
  for (const std::uint64_t number : key) {
    hash = (hash ^ number) * 0x9E3779B97F4A7C15U;  // 2^64 by the golden ratio
    hash ^= hash >> 32U;
  }
  return hash;
}

/// What an application added, as another one adds it.
class Replay::Copier {
public:
  Copier(const Kept& from, const Place& to, const Extent& at) : from(from), to(to), at(at) {}

  std::string path(const std::string& old) const {
    if (old.empty()) return old;
    const std::string_view rest = std::string_view(old).substr(from.place.path.size());
    std::string path;
    path.reserve(to.path.size() + rest.size());
    path += to.path;
    path += rest;
    return path;
  }
  SrcRange range(SrcRange old) const { return old == from.place.range ? to.range : old == from.place.use ? to.use : old; }
  OpId op(OpId old) const { return old == kNoOp ? old : static_cast<OpId>(index(old) - from.first.ops + at.ops); }
  ScopeId scope(ScopeId old) const {
    return old == from.place.scope ? to.scope : static_cast<ScopeId>(index(old) - from.first.scopes + at.scopes);
  }
  RegionId region(RegionId old) const {
    return old == from.place.region ? to.region : static_cast<RegionId>(index(old) - from.first.regions + at.regions);
  }
  /// Of those given to it; what neither it made nor was given are shared weights.
  TensorId tensor(TensorId old) const {
    if (old == kNoTensor) return old;
    if (index(old) >= from.first.tensors) return static_cast<TensorId>(index(old) - from.first.tensors + at.tensors);
    const auto given = std::ranges::find(from.place.tensors, old);
    return given == from.place.tensors.end() ? old : to.tensors[static_cast<std::size_t>(given - from.place.tensors.begin())];
  }
  void value(Value& changed) const {
    if (changed.is(ValueKind::Tensor)) changed.id = index(tensor(static_cast<TensorId>(changed.id)));
    if (changed.is(ValueKind::Instance) && changed.id >= from.first.instances)
      changed.id = static_cast<std::uint32_t>(changed.id - from.first.instances + at.instances);
    const auto isOfGraph = [](const Value& one) {
      return one.is(ValueKind::Tensor) || one.is(ValueKind::Instance) || !one.items.empty();
    };
    if (std::ranges::any_of(changed.items, isOfGraph))
      for (Value& item : changed.items.own()) value(item);
  }

  void copyStorages(Graph& graph) const {
    for (std::size_t i = from.first.storages; i < from.last.storages; ++i) {
      const Storage& storage = graph.storages[i];
      graph.storages.push_back(Storage{storage.kind, path(storage.path), storage.init, range(storage.range), storage.carried});
    }
    for (std::size_t i = from.first.tensors; i < from.last.tensors; ++i) {
      Tensor tensor = graph.tensors[i];
      tensor.storage = storage(graph, tensor.storage);
      tensor.producer = op(tensor.producer);
      tensor.range = range(tensor.range);
      graph.tensors.push_back(std::move(tensor));
    }
    for (std::size_t i = from.first.weights; i < from.last.weights; ++i)
      graph.weights.push_back({tensor(graph.weights[i].value), kNoTensor, kNoTensor});
    for (std::size_t i = from.first.buffers; i < from.last.buffers; ++i) graph.buffers.push_back(tensor(graph.buffers[i]));
  }

  void copyOperators(Graph& graph) const {
    for (std::size_t i = from.first.scopes; i < from.last.scopes; ++i) {
      const Scope& old = graph.scopes[i];
      graph.scopes.push_back(Scope{path(old.path), old.declaration, scope(old.parent), range(old.range)});
    }
    for (std::size_t i = from.first.regions; i < from.last.regions; ++i)
      graph.regions.push_back({{}, op(graph.regions[i].owner)});
    for (std::size_t i = from.first.ops; i < from.last.ops; ++i) {
      Op made = graph.ops[i];
      for (TensorId& input : made.inputs) input = tensor(input);
      for (TensorId& output : made.outputs) output = tensor(output);
      made.scope = scope(made.scope);
      made.region = region(made.region);
      for (RegionId& owned : made.regions) owned = region(owned);
      made.gate = op(made.gate);
      made.path = path(made.path);
      made.range = range(made.range);
      made.use = range(made.use);
      graph[made.region].ops.push_back(static_cast<OpId>(graph.ops.size()));
      graph.ops.push_back(std::move(made));
    }
    for (std::size_t i = from.first.obligations; i < from.last.obligations; ++i) {
      Obligation made = graph.obligations[i];
      made.range = range(made.range);
      made.use = range(made.use);
      made.culprit = tensor(made.culprit);
      graph.obligations.push_back(std::move(made));
    }
  }

  void copyTape(Tape& tape) const {
    const auto context = [&](OpContext made) {
      for (Local& local : made.locals) value(local.value);
      made.path = path(made.path);
      return made;
    };
    for (std::size_t i = from.first.ops; i < std::min(from.last.ops, tape.contexts.size()); ++i) {
      if (tape.contexts[i].decl != nullptr) tape.note(op(static_cast<OpId>(i)), context(tape.contexts[i]));
    }
    for (std::size_t i = from.first.ownGradients; i < from.last.ownGradients; ++i) {
      OwnGradient made = tape.ownGradients[i];
      made.first += at.ops - from.first.ops;
      made.last += at.ops - from.first.ops;
      made.context = context(std::move(made.context));
      for (TensorId& input : made.inputs) input = tensor(input);
      for (TensorId& output : made.outputs) output = tensor(output);
      tape.ownGradients.push_back(std::move(made));
    }
  }

  /// A view of a tensor that was given shares its storage.
  StorageId storage(const Graph& graph, StorageId old) const {
    if (index(old) >= from.first.storages) return static_cast<StorageId>(index(old) - from.first.storages + at.storages);
    const auto given = std::ranges::find_if(from.place.tensors, [&](TensorId tensor) { return graph[tensor].storage == old; });
    return given == from.place.tensors.end()
               ? old
               : graph[to.tensors[static_cast<std::size_t>(given - from.place.tensors.begin())]].storage;
  }

private:
  const Kept& from;
  const Place& to;
  const Extent& at;
};

Replay::Extent Replay::extentOf(const Elaborator& e) {
  const Graph& g = e.graph;
  return {g.ops.size(),         g.tensors.size(), g.storages.size(), g.regions.size(),         g.scopes.size(),
          g.obligations.size(), g.weights.size(), g.buffers.size(),  e.owned.instances.size(), e.tape.ownGradients.size()};
}

Replay::Begun Replay::begin(const Elaborator& e, const Application& application, Place place, int rank) {
  declarations.push_back(&application.decl);
  Begun begun{.place = std::move(place)};
  const bool isInGradient = e.now.current != nullptr && e.now.current->gradient;
  const bool isWatched = e.isMutable() || e.options.recordCalls || e.options.search != nullptr;
  if (e.phase() != Phase::Forward || isInGradient || isWatched || begun.place.path.empty()) return begun;
  Key& key = scratch;
  key.clear();
  add(key, &application.decl);
  add(key, &application.module);
  add(key, static_cast<std::uint64_t>(rank) << 8U | (begun.place.isInherited ? 2U : 0U) | (e.inTraining ? 1U : 0U));
  for (const Local& parameter : application.parameters) {
    if (!addParameter(key, parameter.value)) return begun;
  }
  std::vector<TensorId>& tensors = begun.place.tensors;
  const auto collect = [&](const Value& value) {
    if (value.is(ValueKind::Tensor)) tensors.push_back(static_cast<TensorId>(value.id));
    return true;
  };
  for (const Value& tensor : application.tensors) forEachValue(tensor, collect);
  std::size_t next = 0;
  for (const Value& tensor : application.tensors) {
    if (!addTensors(key, e.graph, tensor, tensors, next)) return begun;
  }
  begun.key = key;
  begun.first = extentOf(e);
  begun.diagnostics = e.session.sink.all().size();
  begun.drawn = e.drawnGates().size();
  begun.shared = shared;
  begun.declarations = declarations.size() - 1;
  begun.written = written.size();
  begun.named = e.named.value;
  return begun;
}

/// Whether the graph knows nothing of it but what can be copied.
bool Replay::isSelfContained(const Elaborator& e, const Kept& kept) const {
  const Graph& graph = e.graph;
  const auto isKnown = [&](TensorId tensor) {
    if (tensor == kNoTensor || index(tensor) >= kept.first.tensors) return true;
    if (std::ranges::find(kept.place.tensors, tensor) != kept.place.tensors.end()) return true;
    return kept.shares && graph[graph[tensor].storage].kind == StorageClass::Weight;
  };
  const auto isKnownValue = [&](const Value& value) {
    if (value.is(ValueKind::Instance)) return kept.shares || value.id >= kept.first.instances;
    return value.is(ValueKind::Tensor) ? isKnown(static_cast<TensorId>(value.id)) : !value.is(ValueKind::Elem);
  };
  const auto isHere = [&](const std::string& path) { return path.empty() || isUnder(path, kept.place.path); };
  const auto isKnownContext = [&](const OpContext& context) {
    return isHere(context.path) &&
           std::ranges::all_of(context.locals, [&](const Local& local) { return forEachValue(local.value, isKnownValue); });
  };
  for (std::size_t i = kept.first.ops; i < kept.last.ops; ++i) {
    const Op& op = graph.ops[i];
    if (!std::ranges::all_of(op.inputs, isKnown) || !isHere(op.path)) return false;
    if (i < e.tape.contexts.size() && !isKnownContext(e.tape.contexts[i])) return false;
  }
  for (std::size_t i = kept.first.tensors; i < kept.last.tensors; ++i) {
    const StorageId storage = graph.tensors[i].storage;
    const auto shares = [&](TensorId tensor) { return graph[tensor].storage == storage; };
    if (index(storage) < kept.first.storages && std::ranges::none_of(kept.place.tensors, shares)) return false;
  }
  for (std::size_t i = kept.first.storages; i < kept.last.storages; ++i) {
    if (!isHere(graph.storages[i].path)) return false;
  }
  for (std::size_t i = kept.first.instances; i < kept.last.instances; ++i) {
    if (!isHere(e.owned.instances[i].path)) return false;
  }
  for (std::size_t i = kept.first.obligations; i < kept.last.obligations; ++i) {
    if (!isKnown(graph.obligations[i].culprit)) return false;
  }
  const auto body = [&](std::size_t i) -> const OwnGradient& { return e.tape.ownGradients[i]; };
  for (std::size_t i = kept.first.ownGradients; i < kept.last.ownGradients; ++i) {
    if (!isKnownContext(body(i).context) || !std::ranges::all_of(body(i).inputs, isKnown)) return false;
  }
  return forEachValue(kept.result, isKnownValue);
}

void Replay::end(const Elaborator& e, Begun begun, const Value& result) {
  const bool isSilent = e.session.sink.all().size() == begun.diagnostics && e.drawnGates().size() == begun.drawn;
  if (begun.key.empty() || result.isPoison() || !isSilent) return;
  Kept made{std::move(begun.place), begun.first, extentOf(e), result, shared != begun.shared, false, {}, {}, {}};
  // What was written from outside: it depends on the place whether it was copied.
  const bool isWritten = std::any_of(written.begin() + static_cast<std::ptrdiff_t>(begun.written), written.end(),
                                     [&](TensorId tensor) { return index(tensor) < made.first.tensors; });
  // A block's own weights that it is given as well: a given one that is another elsewhere may be its own here.
  const bool isGivenWeights = made.shares && std::ranges::any_of(made.place.tensors, [&](TensorId tensor) {
                                return e.graph[e.graph[tensor].storage].kind == StorageClass::Weight;
                              });
  if (isWritten || isGivenWeights || !isSelfContained(e, made)) return;
  if (e.named.value != begun.named) made.named = e.named;
  made.declarations.assign(declarations.begin() + static_cast<std::ptrdiff_t>(begun.declarations), declarations.end());
  std::ranges::sort(made.declarations);
  made.declarations.erase(std::unique(made.declarations.begin(), made.declarations.end()), made.declarations.end());
  for (std::size_t i = made.first.buffers; i < made.last.buffers; ++i) {
    const StorageId storage = e.graph[e.graph.buffers[i]].storage;
    if (const auto newest = e.owned.latest.find(index(storage)); newest != e.owned.latest.end())
      made.newest.emplace_back(storage, newest->second);
  }
  byKey[std::move(begun.key)].push_back(static_cast<std::uint32_t>(kept.size()));
  kept.push_back(std::move(made));
}

void Replay::noteMoved(std::size_t operators) {
  for (auto ended = kept.rbegin(); ended != kept.rend() && ended->last.ops == operators; ++ended) ended->isStale = true;
}

/// Whether it can be copied there.
bool Replay::fits(const Elaborator& e, const Kept& known, const Place& place) const {
  if (known.isStale || (known.shares && known.place.path != place.path)) return false;
  if (!e.builder.hasRoomFor(known.last.ops - known.first.ops)) return false;
  const auto isApplying = [&](const ast::Callable* decl) { return std::ranges::find(e.applying, decl) != e.applying.end(); };
  if (std::ranges::any_of(known.declarations, isApplying)) return false;
  const Copier copier(known, place, known.last);
  for (std::size_t i = known.first.storages; i < known.last.storages; ++i) {
    const std::string& path = e.graph.storages[i].path;
    if (!path.empty() && e.owned.weightByPath.contains(copier.path(path))) return false;
  }
  return true;
}

void Replay::copyNames(Elaborator& e, const Kept& from, const Copier& copier) {
  for (std::size_t i = from.first.instances; i < from.last.instances; ++i) {
    Instance made = e.owned.instances[i];
    made.path = copier.path(made.path);
    made.range = copier.range(made.range);
    for (Local& parameter : made.parameters) copier.value(parameter.value);
    for (sema::BoundArgument& argument : made.byPosition) copier.value(argument.value);
    e.owned.instanceByPath.emplace(made.path, static_cast<std::uint32_t>(e.owned.instances.size()));
    e.owned.instances.push_back(std::move(made));
  }
  for (std::size_t i = from.first.tensors; i < from.last.tensors; ++i) {
    const auto old = static_cast<TensorId>(i);
    if (e.graph[old].producer == kNoOp)
      e.owned.weightByPath.emplace(copier.path(e.graph[e.graph[old].storage].path), copier.tensor(old));
  }
  for (const auto& [storage, tensor] : from.newest)
    e.owned.latest[index(copier.storage(e.graph, storage))] = copier.tensor(tensor);
}

/// Each application draws random numbers of its own.
void Replay::copyRandoms(Graph& graph, const Kept& from, const Copier& copier) {
  for (std::size_t i = from.first.ops; i < from.last.ops; ++i) {
    const auto random = randoms.find(static_cast<std::uint32_t>(i));
    if (random == randoms.end()) continue;
    std::string path = copier.path(random->second);
    const std::uint64_t shift = randomStream(path) - randomStream(random->second);
    const OpId op = copier.op(static_cast<OpId>(i));
    for (ElemNode& node : graph[op].elementwise.nodes.own()) {
      if (node.op == ElemOp::Random) node.stream += shift;
    }
    randoms.emplace(index(op), std::move(path));
  }
}

std::optional<Value> Replay::copy(Elaborator& e, const Begun& begun) {
  const auto known = begun.key.empty() ? byKey.end() : byKey.find(begun.key);
  if (known == byKey.end()) return std::nullopt;
  const auto position = std::ranges::find_if(known->second, [&](std::uint32_t i) { return fits(e, kept[i], begun.place); });
  if (position == known->second.end()) return std::nullopt;
  const Kept& from = kept[*position];
  const Copier copier(from, begun.place, begun.first);
  copier.copyStorages(e.graph);
  copier.copyOperators(e.graph);
  copier.copyTape(e.tape);
  copyNames(e, from, copier);
  copyRandoms(e.graph, from, copier);
  if (from.named) e.named = *from.named;
  declarations.insert(declarations.end(), from.declarations.begin(), from.declarations.end());
  Value result = from.result;
  copier.value(result);
  return result;
}

}  // namespace tbem::graph
