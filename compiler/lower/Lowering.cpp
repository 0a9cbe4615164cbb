// Values, versions, memories and items of a lowering.
#include "compiler/lower/Lowering.h"

#include "compiler/count/Schedule.h"
#include "compiler/count/Static.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/order/LateUpdates.h"

#include <algorithm>
#include <bit>

namespace tbem::estimate {

using graph::index;
using graph::kNoOp;
using graph::kNoTensor;
using graph::Op;
using graph::TensorId;

std::vector<TensorId> keptValues(const graph::Graph& graph, const LowerOptions& options) {
  std::vector<TensorId> kept;
  if (graph.training && options.keepOutputs) kept = graph.outputs;
  const std::vector<TensorId> returned = returnedBy(graph);
  kept.insert(kept.end(), returned.begin(), returned.end());
  if (options.keepGradients) {
    for (const graph::Graph::Weight& weight : graph.weights) {
      if (weight.gradient != kNoTensor) kept.push_back(weight.gradient);
    }
  }
  return kept;
}

bool Lowering::fail(Diag kind, SrcRange range, std::vector<std::string> arguments) {
  if (!error) error = LowerError{kind, range, std::move(arguments)};
  return false;
}

/// Dims of all tensors in use, scalars, the schedule, and what the caller will read.
bool Lowering::prepare() {
  auto scheduled = order.empty() ? schedule(graph, keptValues(graph, options))
                                 : tl::expected<std::vector<graph::OpId>, Overwritten>(std::move(order));
  if (!scheduled) {
    const Overwritten& lost = scheduled.error();
    const std::string reader = lost.reader == kNoOp ? "" : graph[lost.reader].declaration;
    return fail(diag::value_overwritten, lost.reader == kNoOp ? SrcRange{} : graph[lost.reader].range,
                {reader, lost.value == kNoTensor ? "" : graph[lost.value].name});
  }
  order = std::move(*scheduled);
  dims.resize(graph.tensors.size());
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    auto found = dimsOf(graph, values, static_cast<TensorId>(t));
    if (!found) return fail(diag::row_without_number, found.error().range, {found.error().what});
    dims[t] = std::move(*found);
  }
  versionsOf.resize(graph.tensors.size());
  layoutOf.resize(graph.storages.size());
  placeOf.resize(graph.storages.size());
  memoryOf.assign(graph.storages.size(), kNone);
  weightOf.assign(graph.tensors.size(), kNoTensor);
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.gradient == kNoTensor) continue;
    weightOf[index(weight.gradient)] = weight.value;
    if (graph[graph[weight.gradient].storage].carried)  // what a micro-batch adds to it
      weightOf[index(graph[graph[weight.gradient].producer].inputs[1])] = weight.value;
  }
  scalars.push_back(1.0);  // the number of the step
  for (const graph::RuntimeScalar& scalar : graph.scalars) {
    if (values.errorOf(scalar.value) != sema::EvalError::None) {
      return fail(diag::row_without_number, {}, {"`" + scalar.name + "` " + std::string(describe(values.errorOf(scalar.value)))});
    }
    scalars.push_back(values[scalar.value].toDouble());
  }
  if (!findGates()) return false;
  // A card waits for launches where a processor does not.
  if (backend.device != nullptr) order = smallUpdatesLast(graph, branches, dims, std::move(order));
  readersOf.resize(graph.tensors.size());
  for (const graph::OpId id : order) {
    for (const TensorId tensor : graph[id].inputs) {
      if (tensor != kNoTensor) readersOf[index(tensor)].push_back(id);
    }
  }
  if (options.places != nullptr) takePlaces();
  return true;
}

/// What this function writes has the given layout from the start. What it only reads is brought from there into the layout that
/// it has without that, so that every operator runs, and every number is, as without; behind gates it is read where it lies.
void Lowering::takePlaces() {
  std::vector<bool> written(graph.storages.size(), branches.gated());
  for (const Op& op : graph.ops) {
    for (const TensorId output : op.outputs) {
      if (op.kind != graph::OpKind::View) written[index(graph[output].storage)] = true;
    }
  }
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const std::uint32_t storage = index(graph.tensors[t].storage);
    if (!isShared(graph.storages[storage].kind) || graph.storages[storage].carried) continue;
    const auto place = options.places->find({graph.storages[storage].kind, graph.storages[storage].path});
    const tbem_operand plain = plainOf(static_cast<TensorId>(t));
    // What differs is not shared: link() says so.
    if (place == options.places->end() || place->second.dtype != plain.dtype ||
        !std::ranges::equal(estimate::dimsOf(place->second), estimate::dimsOf(plain)))
      continue;
    (written[storage] ? layoutOf : placeOf)[storage] = place->second;
  }
}

std::uint32_t Lowering::bring(TensorId tensor, const tbem_operand& home) {
  const std::uint32_t storage = index(graph[tensor].storage);
  const tbem_operand& place = *placeOf[storage];
  layoutOf[storage] = home;
  memoryOf[storage] = addMemory(kindOf(graph.storages[storage].kind), place.layout.bytes);
  memories[memoryOf[storage]].persistent = true;
  const std::uint32_t copy = addVersion(tensor, home, addMemory(Kind::Workspace, home.layout.bytes));
  const std::uint32_t source = addVersion(tensor, place, memoryOf[storage]);
  return reorder(source, copy, graph[tensor].range) ? copy : kNone;
}

bool Lowering::isPersistent(TensorId tensor) const { return estimate::isPersistent(graph[graph[tensor].storage]); }

bool Lowering::isOpen(TensorId tensor) const {
  const graph::StorageId storage = graph[tensor].storage;
  const graph::StorageClass kind = graph[storage].kind;
  const bool free = kind == graph::StorageClass::Weight || kind == graph::StorageClass::State || graph[storage].carried;
  return free && !layoutOf[index(storage)] && versionsOf[index(tensor)].empty();
}

std::uint32_t Lowering::addMemory(Kind kind, std::uint64_t bytes) {
  memories.push_back({.kind = kind, .bytes = bytes});
  return static_cast<std::uint32_t>(memories.size() - 1);
}

std::uint32_t Lowering::addVersion(TensorId tensor, const tbem_operand& operand, std::uint32_t memory, std::uint32_t root) {
  const auto id = static_cast<std::uint32_t>(versions.size());
  versions.push_back({tensor, operand, memory, root == kNone ? id : root});
  if (root != kNone) {  // another name of a value is where and when that is
    versions[id].space = versions[root].space;
    versions[id].guard = versions[root].guard;
    versions[id].window = versions[root].window;
  }
  if (tensor != kNoTensor) versionsOf[index(tensor)].push_back(id);
  return id;
}

std::uint32_t Lowering::addMade(TensorId tensor, const tbem_operand& operand, std::uint32_t memory, std::uint32_t space) {
  const std::uint32_t id = addVersion(tensor, operand, memory);
  versions[id].space = space;
  versions[id].guard = here;
  return id;
}

std::uint32_t Lowering::addResult(TensorId tensor, const tbem_operand& operand) {
  const std::uint32_t storage = index(graph[tensor].storage);
  const Kind kind = kindOf(graph.storages[storage].kind);
  const std::uint32_t space = rowsOf[index(tensor)] > 0 ? here : graph::kAllSamples;
  if (!isPersistent(tensor)) return addMade(tensor, operand, addMemory(kind, operand.layout.bytes), space);
  if (!layoutOf[storage]) layoutOf[storage] = operand;
  if (memoryOf[storage] == kNone) {
    memoryOf[storage] = addMemory(kind, operand.layout.bytes);
    memories[memoryOf[storage]].persistent = true;
  }
  return addVersion(tensor, *layoutOf[storage], memoryOf[storage]);
}

std::uint32_t Lowering::current(TensorId tensor) {
  if (!versionsOf[index(tensor)].empty()) return versionsOf[index(tensor)].front();
  const std::uint32_t storage = index(graph[tensor].storage);
  if (graph[tensor].producer != kNoOp || !isPersistent(tensor)) {
    fail(diag::row_without_number, graph[tensor].range, {"`" + graph[tensor].name + "` is read before anything makes it"});
    return kNone;
  }
  const tbem_operand home = layoutOf[storage] ? *layoutOf[storage] : plainOf(tensor);
  return placeOf[storage] && !samePlaces(*placeOf[storage], home) ? bring(tensor, home) : addResult(tensor, home);
}

std::uint32_t Lowering::ensure(TensorId tensor, const tbem_operand& wanted, SrcRange range, bool along) {
  if (isOpen(tensor)) layoutOf[index(graph[tensor].storage)] = wanted;
  const std::uint32_t home = current(tensor);
  if (home == kNone) return kNone;
  const std::uint32_t space = along && samplesHere() > 1 ? here : versions[home].space;
  const std::uint32_t source = inSpace(tensor, space, wanted, range);
  if (source == kNone) return kNone;
  for (const std::uint32_t id : versionsOf[index(tensor)]) {
    if (versions[id].space != space || !isReachable(versions[id]) || !samePlaces(versions[id].operand, wanted)) continue;
    // Equal places in other words: the library that asked is given its own words.
    const bool sameWords =
        std::equal(wanted.layout.strides, wanted.layout.strides + wanted.rank, versions[id].operand.layout.strides) &&
        wanted.layout.blocks == versions[id].operand.layout.blocks;
    const Version found = versions[id];
    return sameWords ? id : addVersion(tensor, wanted, found.memory, found.root);
  }
  const Kind kind = isPersistent(tensor) ? Kind::Workspace : kindOf(graph[graph[tensor].storage].kind);
  const std::uint32_t copy = addMade(tensor, wanted, addMemory(kind, wanted.layout.bytes), space);
  return reorder(source, copy, range) ? copy : kNone;
}

void Lowering::keep(std::uint32_t version) {
  memories[versions[version].memory].kept = true;
  results.push_back(version);
}

bool Lowering::reorder(std::uint32_t from, std::uint32_t to, SrcRange range) {
  const Answer& answer = ask(TBEM_PRIMITIVE_reorder, {versions[from].operand, versions[to].operand}, 1, {});
  if (answer.status != TBEM_OK) return fail(diag::backend_lacks_primitive, range, {backend.name, "reorder", answer.error});
  Item item;
  item.reads = {from};
  item.writes = {to};
  item.primitive = TBEM_PRIMITIVE_reorder;
  item.reader = range;
  item.workspace = answer.info.workspace;
  item.implementation = answer.info.implementation;
  if (!sizeCall(item)) return false;
  addItem(std::move(item));
  return true;
}

std::uint32_t Lowering::addItem(Item item) {
  const auto id = static_cast<std::uint32_t>(items.size());
  item.branch = here;
  const auto after = [&item](std::uint32_t other) {
    if (other != kNone && std::find(item.before.begin(), item.before.end(), other) == item.before.end())
      item.before.push_back(other);
  };
  if (here != graph::kAllSamples) after(branchStates[here].split);
  for (const std::uint32_t read : item.reads) {
    if (read == kNone) continue;
    Memory& memory = memories[versions[read].memory];
    after(memory.writer);
    if (memory.persistent) memory.readers.push_back(id);
  }
  for (const std::uint32_t write : item.writes) {
    if (write == kNone) continue;
    Memory& memory = memories[versions[write].memory];
    after(memory.writer);
    for (const std::uint32_t reader : memory.readers) {
      if (reader != id) after(reader);
    }
    memory.readers.clear();
    memory.writer = id;
  }
  items.push_back(std::move(item));
  return id;
}

/// Slot of a run-time scalar; a number that is no argument of the step takes a slot of its own behind them.
std::uint32_t Lowering::scalarSlot(sema::ExprId id, SrcRange range) {
  if (id != sema::kNoExpr && id == values.step) return 0;
  for (std::size_t i = 0; i < graph.scalars.size(); ++i) {
    if (graph.scalars[i].value == id) return static_cast<std::uint32_t>(i + 1);
  }
  if (id == sema::kNoExpr || values.errorOf(id) != sema::EvalError::None) {
    fail(diag::row_without_number, range,
         {"a scalar " + std::string(describe(id == sema::kNoExpr ? sema::EvalError::Unassigned : values.errorOf(id)))});
    return 0;
  }
  const double value = values[id].toDouble();
  const auto [at, fresh] = slotOf.try_emplace(std::bit_cast<std::uint64_t>(value), static_cast<std::uint32_t>(scalars.size()));
  if (fresh) scalars.push_back(value);
  return at->second;
}

SrcRange Lowering::rangeOf(const Item& item) const { return item.op == kNoOp ? item.reader : graph[item.op].range; }

}  // namespace tbem::estimate
