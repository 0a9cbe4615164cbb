#include "compiler/lower/CallLayouts.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/graph/ir/Attributes.h"
#include "compiler/lower/Query.h"
#include "runtime/include/tbem/primitives.h"

#include <algorithm>
#include <cstring>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;
using graph::Op;
using graph::TensorId;

bool isWeightGradient(tbem_primitive primitive) {
  return primitive == TBEM_PRIMITIVE_conv2d_weight_gradient || primitive == TBEM_PRIMITIVE_dense_weight_gradient;
}
bool isSlow(const tbem_op_info& info) { return std::strncmp(info.implementation, "ref", 3) == 0; }

namespace {
/// Of matrices whose rows may lie wherever one stride leads: a batched product, attention and its gradient.
bool takesPlaces(const Op& op) {
  return op.primitive == TBEM_PRIMITIVE_matmul || op.primitive == TBEM_PRIMITIVE_attention ||
         op.primitive == TBEM_PRIMITIVE_attention_gradient;
}

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

/// The only reader of a result, but for the gradient of what makes it, which takes it where it lies. None where there are others.
const Op* onlyReader(const Lowering& state, TensorId result) {
  const Op* only = nullptr;
  for (const graph::OpId id : state.readersOf[index(result)]) {
    const Op& reader = state.graph[id];
    if (takesPlaces(reader) && reader.forward == state.graph[result].producer) continue;
    if (only != nullptr) return nullptr;
    only = &reader;
  }
  return only;
}

/// Where the result's only reader puts its axes in another order, the layout in which that one's result is row-major; else open.
tbem_operand placeForReader(const Lowering& state, TensorId result) {
  tbem_operand operand = openOperand(state.graph[result].dtype, state.dims[index(result)]);
  const Op* const only = onlyReader(state, result);
  if (only == nullptr || only->primitive != TBEM_PRIMITIVE_permute) return operand;
  const Op& reader = *only;
  const tbem_operand plain = state.plainOf(reader.outputs[0]);
  operand.layout = plain.layout;
  for (int d = 0; d < operand.rank; ++d) {
    const auto axis = state.values.integer(reader.attributes[0].values[static_cast<std::size_t>(d)]);
    operand.layout.strides[axis] = plain.layout.strides[d];
    operand.layout.padded[axis] = plain.layout.padded[d];
  }
  return operand;
}

/// Inputs as they are given, each result where its reader wants it, or else where the library does.
const Answer& askResultsPlaced(Lowering& state, const Call& call, const Operands& inputs) {
  Operands wanted = inputs;
  for (std::size_t i = call.inputs; i < wanted.size(); ++i) wanted[i] = placeForReader(state, call.tensors[i]);
  const Answer& placed = ask(state, call, wanted);
  return placed.status == TBEM_OK && !isSlow(placed.info) ? placed : ask(state, call, inputs);
}

/// Each input where it lies; where that cannot be, all of them but one, which is brought into row-major order.
const Answer& askPlaced(Lowering& state, const Call& call) {
  Operands operands = open(state, call);
  for (std::size_t i = 0; i < call.inputs; ++i) {
    const std::uint32_t home = state.current(call.tensors[i]);
    if (home != kNone) operands[i] = state.versions[home].operand;
  }
  const Answer& placed = askResultsPlaced(state, call, operands);
  if (placed.status == TBEM_OK) return placed;
  for (std::size_t i = 0; i < call.inputs; ++i) {
    if (isRowMajor(operands[i])) continue;
    Operands others = operands;
    others[i] = state.plainOf(call.tensors[i]);
    const Answer& brought = askResultsPlaced(state, call, others);
    if (brought.status == TBEM_OK) return brought;
  }
  return ask(state, call, operands);
}

const Answer& askPlain(Lowering& state, const Call& call, bool results) {
  Operands operands = open(state, call);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (call.tensors[i] != kNoTensor && (i < call.inputs || results)) operands[i] = state.plainOf(call.tensors[i]);
  }
  return state.ask(call.op.primitive, operands, call.inputs, call.attributes);
}

/// In the layouts that suit the call's kind.
const Answer& askByKind(Lowering& state, const Call& call) {
  if (takesPlaces(call.op)) return askPlaced(state, call);
  return runtime::signature(call.op.primitive).choosesLayouts ? askChoosing(state, call) : askFollowing(state, call);
}
}  // namespace

const Answer& askFree(Lowering& state, const Call& call) { return ask(state, call, open(state, call)); }

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

}  // namespace tbem::estimate
