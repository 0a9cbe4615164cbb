// Native operators: the device is asked which layouts it wants, and values are brought into them.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/graph/ir/Attributes.h"
#include "compiler/lower/Lowering.h"
#include "compiler/lower/Query.h"
#include "runtime/include/tbem/primitives.h"

#include <algorithm>
#include <cstring>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;
using graph::Op;
using graph::TensorId;

namespace {
bool isWeightGradient(tbem_primitive primitive) {
  return primitive == TBEM_PRIMITIVE_conv2d_weight_gradient || primitive == TBEM_PRIMITIVE_dense_weight_gradient;
}
/// Names that oneDNN gives to loops nobody tuned.
bool isSlow(const tbem_op_info& info) { return std::strncmp(info.implementation, "ref", 3) == 0; }

/// A native operator on its way to an item.
struct Call {
  const Op& op;
  std::vector<TensorId> tensors;  ///< inputs then outputs, padded to the primitive's signature
  std::size_t inputs = 0;
  std::vector<std::int64_t> attributes;
  std::int32_t algorithm = 0;
};
using Operands = std::vector<tbem_operand>;

tbem_operand absent() { return tbem_operand{}; }

/// Every operand open, but for vectors and scalars, which have only one order.
Operands open(const Lowering& state, const Call& call) {
  Operands operands;
  for (const TensorId tensor : call.tensors) {
    if (tensor == kNoTensor) {
      operands.push_back(absent());
    } else if (state.dims[index(tensor)].size() < 2) {
      operands.push_back(state.plainOf(tensor));
    } else {
      operands.push_back(openOperand(state.graph[tensor].dtype, state.dims[index(tensor)]));
    }
  }
  return operands;
}

/// The layout of the weight whose gradient the call computes, where it is known.
std::optional<tbem_operand> weightLayout(const Lowering& state, const Call& call) {
  const TensorId gradient = call.tensors[call.inputs];
  TensorId weight = gradient == kNoTensor ? kNoTensor : state.weightOf[index(gradient)];
  if (weight == kNoTensor && call.op.forward != graph::kNoOp) {  // one of several parts of a shared weight's gradient
    const Op& forward = state.graph[call.op.forward];
    if (forward.inputs.size() > 1) weight = forward.inputs[1];
  }
  if (weight == kNoTensor || !state.isPersistent(weight)) return std::nullopt;
  const auto& layout = state.layoutOf[index(state.graph[weight].storage)];
  if (!layout || state.dims[index(weight)] != state.dims[index(gradient)]) return std::nullopt;
  return likeOperand(*layout, state.graph[gradient].dtype, state.dims[index(gradient)]);
}
}  // namespace

const Answer& Lowering::ask(tbem_primitive primitive, const std::vector<tbem_operand>& operands, std::size_t inputs,
                            const std::vector<std::int64_t>& attributes, std::int32_t algorithm) {
  return cache.impl().ask(backend, {primitive, operands, inputs, attributes, options.threads, algorithm, graph.tf32});
}

namespace {
const Answer& ask(Lowering& state, const Call& call, const Operands& operands) {
  return state.ask(call.op.primitive, operands, call.inputs, call.attributes, call.algorithm);
}

/// Where a library's own choice differs from where a value lies, the value is left where it is if the library runs there too.
const Answer& keepInPlace(Lowering& state, const Call& call, const Answer& preferred) {
  Operands operands = preferred.operands;
  bool changed = false;
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const TensorId tensor = call.tensors[i];
    if (tensor == kNoTensor) continue;
    if (i >= call.inputs) {  // results follow the inputs anew
      if (operands[i].rank >= 2) operands[i].layout = {.any = 1};
      continue;
    }
    if (state.isOpen(tensor)) continue;
    const auto& known = state.versionsOf[index(tensor)];
    if (std::any_of(known.begin(), known.end(),
                    [&](std::uint32_t id) { return samePlaces(state.versions[id].operand, operands[i]); }))
      continue;
    const std::uint32_t home = state.current(tensor);
    if (home == kNone || (isRowMajor(state.versions[home].operand) && operands[i].rank == 4))
      continue;  // plain images are slow everywhere
    operands[i] = state.versions[home].operand;
    changed = true;
  }
  if (!changed) return preferred;
  if (isWeightGradient(call.op.primitive)) operands[call.inputs] = preferred.operands[call.inputs];
  const Answer& kept = ask(state, call, operands);
  return kept.status == TBEM_OK && !isSlow(kept.info) ? kept : preferred;
}

const Answer& askChoosing(Lowering& state, const Call& call) {
  Operands operands = open(state, call);
  if (isWeightGradient(call.op.primitive)) {
    if (const auto layout = weightLayout(state, call)) {
      operands[call.inputs] = *layout;
      const Answer& like = ask(state, call, operands);
      if (like.status == TBEM_OK && !isSlow(like.info)) return keepInPlace(state, call, like);
      operands = open(state, call);
    }
  }
  const Answer& free = ask(state, call, operands);
  return free.status == TBEM_OK ? keepInPlace(state, call, free) : free;
}

/// Inputs where they are; images of one call in one order of dimensions, that of the first blocked one.
const Answer& askFollowing(Lowering& state, const Call& call) {
  Operands operands = open(state, call);
  const tbem_operand* model = nullptr;
  std::vector<tbem_operand> homes(call.inputs);
  for (std::size_t i = 0; i < call.inputs; ++i) {
    if (call.tensors[i] == kNoTensor) continue;
    const std::uint32_t home = state.current(call.tensors[i]);
    if (home == kNone) continue;
    homes[i] = state.versions[home].operand;
    if (model == nullptr && homes[i].rank >= 3 && !isRowMajor(homes[i])) model = &homes[i];
  }
  for (std::size_t i = 0; i < call.inputs; ++i) {
    if (homes[i].present == 0) continue;
    operands[i] =
        model != nullptr && model->rank == homes[i].rank ? likeOperand(*model, homes[i].dtype, dimsOf(homes[i])) : homes[i];
  }
  return state.ask(call.op.primitive, operands, call.inputs, call.attributes);
}

/// Where the result's only reader puts its axes in another order, the layout in which that one's result is row-major; else open.
tbem_operand placeForReader(const Lowering& state, TensorId result) {
  tbem_operand operand = openOperand(state.graph[result].dtype, state.dims[index(result)]);
  const auto& readers = state.readersOf[index(result)];
  if (readers.size() != 1 || state.graph[readers.front()].primitive != TBEM_PRIMITIVE_permute) return operand;
  const Op& reader = state.graph[readers.front()];
  if (reader.kind != graph::OpKind::Native || !reader.own.symbol.empty()) return operand;
  const tbem_operand plain = state.plainOf(reader.outputs[0]);
  operand.layout = plain.layout;
  for (int d = 0; d < operand.rank; ++d) {
    const auto axis = state.values.integer(reader.attributes[0].values[static_cast<std::size_t>(d)]);
    operand.layout.strides[axis] = plain.layout.strides[d];
    operand.layout.padded[axis] = plain.layout.padded[d];
  }
  return operand;
}

/// A batched product: each matrix where it lies, the result where its reader wants it.
const Answer& askProduct(Lowering& state, const Call& call) {
  Operands operands = open(state, call);
  for (std::size_t i = 0; i < call.inputs; ++i) {
    const std::uint32_t home = state.current(call.tensors[i]);
    if (home != kNone) operands[i] = state.versions[home].operand;
  }
  operands[call.inputs] = placeForReader(state, call.tensors[call.inputs]);
  const Answer& placed = ask(state, call, operands);
  if (placed.status == TBEM_OK && !isSlow(placed.info)) return placed;
  operands[call.inputs] = openOperand(operands[call.inputs].dtype, dimsOf(operands[call.inputs]));
  return ask(state, call, operands);
}

const Answer& askPlain(Lowering& state, const Call& call, bool results) {
  Operands operands = open(state, call);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (call.tensors[i] != kNoTensor && (i < call.inputs || results)) operands[i] = state.plainOf(call.tensors[i]);
  }
  return state.ask(call.op.primitive, operands, call.inputs, call.attributes);
}

/// Finds what was measured of the operator: which algorithm it takes. Of one that was not, whether there is a choice at all.
void chooseAlgorithm(Lowering& state, Call& call, Item& item) {
  const bool product = call.op.primitive == TBEM_PRIMITIVE_matmul;
  if (state.options.choices == nullptr || !(product || runtime::signature(call.op.primitive).choosesLayouts)) return;
  const Operands operands = open(state, call);
  std::string key = choiceKey(call.op.primitive, operands, call.attributes, state.options.threads, state.graph.tf32);
  const auto known = state.options.choices->find(key);
  if (known != state.options.choices->end()) {
    call.algorithm = known->second.algorithm;
    item.choice = std::move(key);
    return;
  }
  for (call.algorithm = 1; call.algorithm < TBEM_MAX_ALGORITHMS && !item.assumed; ++call.algorithm)
    item.assumed = ask(state, call, operands).status == TBEM_OK;
  if (item.assumed) item.choice = std::move(key);
  call.algorithm = 0;
}

/// In the layouts that suit the call's kind.
const Answer& askByKind(Lowering& state, const Call& call) {
  if (call.op.primitive == TBEM_PRIMITIVE_matmul) return askProduct(state, call);
  return runtime::signature(call.op.primitive).choosesLayouts ? askChoosing(state, call) : askFollowing(state, call);
}

/// The first that the device can run: its own choice or what is there; row-major inputs; everything row-major. An algorithm that
/// does not run in the layouts that came about gives way to the default.
const Answer& choose(Lowering& state, Call& call) {
  if (call.algorithm != 0) {
    const Answer& measured = askByKind(state, call);
    if (measured.status == TBEM_OK && measured.info.workspace <= state.options.mostWorkspace) return measured;
    call.algorithm = 0;
  }
  const Answer& first = askByKind(state, call);
  if (first.status == TBEM_OK) return first;
  const Answer& plainInputs = askPlain(state, call, false);
  if (plainInputs.status == TBEM_OK) return plainInputs;
  return askPlain(state, call, true);
}

/// The operator's operands and attributes as its primitive lists them. Nothing after an error.
std::optional<Call> describeCall(Lowering& state, const Op& op) {
  const runtime::Signature& row = runtime::signature(op.primitive);
  Call call{op, op.inputs, row.isVariadic() ? op.inputs.size() : static_cast<std::size_t>(row.inputCount()), {}, 0};
  call.tensors.resize(call.inputs, kNoTensor);
  call.tensors.insert(call.tensors.end(), op.outputs.begin(), op.outputs.end());
  call.tensors.resize(call.inputs + static_cast<std::size_t>(row.outputCount()), kNoTensor);
  const auto rankOf = [&](TensorId tensor) { return tensor == kNoTensor ? std::size_t{0} : state.dims[index(tensor)].size(); };
  std::string wrong;
  call.attributes = graph::flattenAttributes(op, state.values, rankOf(call.tensors[0]), rankOf(call.tensors[call.inputs]), wrong);
  if (wrong.empty()) return call;
  state.fail(diag::row_without_number, op.range, {wrong});
  return std::nullopt;
}
}  // namespace

void Lowering::placeWeight(TensorId weight, TensorId copy) {
  if (!isOpen(weight)) return;
  const auto isNative = [](const Op& op) { return op.kind == graph::OpKind::Native && op.own.symbol.empty(); };
  for (const graph::OpId id : order) {
    const Op& op = graph[id];
    if (isNative(op) && isWeightGradient(op.primitive) && weightOf[index(op.outputs.front())] == weight)
      return placeAs(weight, op, op.outputs.front());
  }
  if (backend.device == nullptr) return;  // a device's layouts are the same for all types
  for (const graph::OpId id : readersOf[index(copy)]) {
    const Op& op = graph[id];
    if (isNative(op) && runtime::signature(op.primitive).choosesLayouts) return placeAs(weight, op, copy);
  }
}

/// In the layout that the operator prefers for that operand.
void Lowering::placeAs(TensorId weight, const Op& op, TensorId operand) {
  const std::optional<Call> call = describeCall(*this, op);
  if (!call) return;
  const Answer& free = estimate::ask(*this, *call, open(*this, *call));
  const auto at = static_cast<std::size_t>(std::ranges::find(call->tensors, operand) - call->tensors.begin());
  if (free.status != TBEM_OK || isSlow(free.info)) return;
  layoutOf[index(graph[weight].storage)] = likeOperand(free.operands[at], graph[weight].dtype, dims[index(weight)]);
}

/// Axes in another order lie where they lay: nothing runs. False where a copy has to be made: of a value that may be overwritten
/// while the result is still read, and on a device that could not bring the result into row-major order for those who want it.
bool Lowering::aliasPermuted(const Op& op) {
  const TensorId result = op.outputs[0];
  const std::uint32_t home = current(op.inputs[0]);
  const bool isGradient = weightOf[index(result)] != kNoTensor;  // lies as its weight does
  if (home == kNone || isGradient || isPersistent(result) || memories[versions[home].memory].persistent) return false;
  if (versions[home].space != graph::kAllSamples || versions[home].guard != graph::kAllSamples) return false;
  const Version from = versions[home];
  tbem_operand operand = openOperand(graph[result].dtype, dims[index(result)]);
  operand.layout = from.operand.layout;
  for (int d = 0; d < operand.rank; ++d) {
    const auto axis = values.integer(op.attributes[0].values[static_cast<std::size_t>(d)]);
    operand.layout.strides[d] = from.operand.layout.strides[axis];
    operand.layout.padded[d] = from.operand.layout.padded[axis];
    for (int b = 0; b < operand.layout.blocks; ++b) {
      if (from.operand.layout.block_dim[b] == axis) operand.layout.block_dim[b] = d;
    }
  }
  if (ask(TBEM_PRIMITIVE_reorder, {operand, plainOf(result)}, 1, {}).status != TBEM_OK) return false;
  addVersion(result, operand, from.memory, from.root);
  return true;
}

std::vector<std::int64_t> Lowering::sizesOf(const SizedCall& call, int threads, std::int64_t most, std::uint64_t& workspace) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : sampleSizes(call.samples)) {
    if (size > most) break;
    Operands fewer = call.operands;
    for (std::size_t i = 0; i < fewer.size(); ++i) {
      if (call.perSample[i]) tbem_take_rows(&fewer[i], call.samples, size);
    }
    const Answer& answer =
        cache.impl().ask(backend, {call.primitive, fewer, call.inputs, call.attributes, threads, call.algorithm, graph.tf32});
    if (answer.status != TBEM_OK || isSlow(answer.info)) continue;  // it runs at the next size that the library has
    sizes.push_back(size);
    workspace = std::max<std::uint64_t>(workspace, answer.info.workspace);
  }
  return sizes;
}

bool Lowering::sizeCall(Item& item) {
  SizedCall call{item.primitive, {}, {}, item.reads.size(), item.attributes, item.algorithm};
  for (const std::vector<std::uint32_t>* list : {&item.reads, &item.writes}) {
    for (const std::uint32_t version : *list) {
      call.operands.push_back(version == kNone ? absent() : versions[version].operand);
      call.perSample.push_back(version != kNone && versions[version].space != graph::kAllSamples);
    }
  }
  if (std::find(call.perSample.begin(), call.perSample.end(), true) == call.perSample.end()) return true;
  item.perSample = true;
  call.samples = samplesHere();
  item.sizes = sizesOf(call, options.threads, call.samples - 1, item.workspace);
  item.sizes.push_back(call.samples);
  return true;
}

bool Lowering::lowerCall(graph::OpId id) {
  const Op& op = graph[id];
  std::optional<Call> described = describeCall(*this, op);
  if (!described) return false;
  Call& call = *described;
  const std::optional<graph::SampleUse> use = useSamples(op, call.attributes);
  if (!use) return false;
  // Rows that are gathered lie one behind the other.
  const bool movesRows = op.primitive == TBEM_PRIMITIVE_permute && branches.gated() && call.attributes[1] != 0;
  if (op.primitive == TBEM_PRIMITIVE_permute && here == graph::kAllSamples && !movesRows && aliasPermuted(op)) return true;
  Item item;
  chooseAlgorithm(*this, call, item);
  const Answer answer = choose(*this, call);  // a copy: later questions may move the cache
  if (answer.status != TBEM_OK)
    return fail(diag::backend_lacks_primitive, op.range,
                {backend.name, std::string(runtime::signature(op.primitive).name), answer.error});

  item.algorithm = call.algorithm;
  item.op = id;
  item.primitive = op.primitive;
  item.attributes = call.attributes;
  item.workspace = answer.info.workspace;
  item.implementation = answer.info.implementation;
  for (const sema::ExprId scalar : op.scalars) item.scalars.push_back(scalarSlot(scalar, op.range));
  return placeCall(std::move(item), call.tensors, call.inputs, answer.operands, use->along);
}

bool Lowering::placeCall(Item item, const std::vector<TensorId>& tensors, std::size_t inputs, const Operands& operands,
                         const std::vector<bool>& samplesAlong) {
  const SrcRange range = rangeOf(item);
  for (std::size_t i = 0; i < inputs; ++i) {
    const bool along = i < samplesAlong.size() && samplesAlong[i];
    item.reads.push_back(tensors[i] == kNoTensor ? kNone : ensure(tensors[i], operands[i], range, along));
  }
  std::vector<std::pair<std::uint32_t, TensorId>> copies;
  for (std::size_t i = inputs; i < tensors.size(); ++i) {
    const TensorId tensor = tensors[i];
    if (tensor == kNoTensor) {
      item.writes.push_back(kNone);
    } else if (isPersistent(tensor)) {
      // A library never writes over what it may still be reading: the result is copied into its storage afterwards.
      item.writes.push_back(addVersion(kNoTensor, operands[i], addMemory(Kind::Workspace, operands[i].layout.bytes)));
      copies.emplace_back(item.writes.back(), tensor);
    } else {
      item.writes.push_back(addResult(tensor, operands[i]));
    }
  }
  if (error || !sizeCall(item)) return false;
  addItem(std::move(item));
  for (const auto& [from, tensor] : copies) {
    if (!reorder(from, addResult(tensor, plainOf(tensor)), range)) return false;
  }
  return true;
}

/// The same bytes under another shape: nothing runs, unless the value has to be brought into row-major order first.
bool Lowering::lowerView(graph::OpId id) {
  const Op& op = graph[id];
  const std::optional<graph::SampleUse> use = useSamples(op, {});
  if (!use) return false;
  const std::uint32_t source = ensure(op.inputs[0], plainOf(op.inputs[0]), op.range, use->along[0]);
  if (source == kNone) return false;
  const Version from = versions[source];
  if (op.window) {
    lowerWindow(op, from.memory);
    return !error;
  }
  addVersion(op.outputs[0], plainOf(op.outputs[0]), from.memory, from.root);
  return true;
}

}  // namespace tbem::estimate
