// Native operators: values are brought into the layouts that the device wants (CallLayouts.h), or lie in them already.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/CallLayouts.h"
#include "compiler/lower/Lowering.h"
#include "compiler/lower/Query.h"
#include "runtime/include/tbem/primitives.h"

#include <algorithm>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;
using graph::Op;
using graph::TensorId;

const Answer& Lowering::ask(tbem_primitive primitive, const std::vector<tbem_operand>& operands, std::size_t inputs,
                            const std::vector<std::int64_t>& attributes, std::int32_t algorithm) {
  return cache.impl().ask(backend, {primitive, operands, inputs, attributes, options.threads, algorithm, graph.tf32});
}

void Lowering::placeWeight(TensorId weight, TensorId copy) {
  if (!isOpen(weight)) return;
  for (const graph::OpId id : order) {
    const Op& op = graph[id];
    if (isWeightGradient(op.primitive) && weightOf[index(op.outputs.front())] == weight)
      return placeAs(weight, op, op.outputs.front());
  }
  if (backend.device == nullptr) return;  // a device's layouts are the same for all types
  for (const graph::OpId id : readersOf[index(copy)]) {
    const Op& op = graph[id];
    if (op.primitive != TBEM_PRIMITIVE_COUNT && runtime::signature(op.primitive).choosesLayouts) return placeAs(weight, op, copy);
  }
}

/// In the layout that the operator prefers for that operand.
void Lowering::placeAs(TensorId weight, const Op& op, TensorId operand) {
  const std::optional<Call> call = describeCall(*this, op);
  if (!call) return;
  const Answer& free = askFree(*this, *call);
  const auto at = static_cast<std::size_t>(std::ranges::find(call->tensors, operand) - call->tensors.begin());
  if (free.status != TBEM_OK || isSlow(free.info)) return;
  layoutOf[index(graph[weight].storage)] = likeOperand(free.operands[at], graph[weight].dtype, dims[index(weight)]);
}

/// Axes in another order lie where they lay: nothing runs. False where a copy has to be made: of a value that may be overwritten
/// while the result is still read, and on a device that could not bring the result into row-major order for those who want it, or
/// gather its rows for those behind a gate.
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
  if (branches.gated()) {
    const std::int64_t length = 1 + operand.dims[0];
    const tbem_operand list = plainOperand(TBEM_I64, {&length, 1});
    if (ask(TBEM_PRIMITIVE_move_rows, {operand, list, absent(), operand}, 3, {}).status != TBEM_OK) return false;
  }
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
