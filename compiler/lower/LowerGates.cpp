// Gates: which samples go which way, and how their values come together again.
//
// A gate's step lists the samples of its two branches. Behind it a value that the branch needs is gathered: its rows for the
// branch's samples, one after the other, at the front of memory for the whole batch. A join scatters the arms' rows to their
// places. A batch of one sample has nothing to gather: its branches work on the values as they are.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/Lowering.h"
#include "compiler/lower/Query.h"
#include "compiler/support/Bug.h"

#include <algorithm>

namespace tbem::estimate {

using graph::index;
using graph::kAllSamples;
using graph::kNoOp;
using graph::kNoTensor;
using graph::Op;
using graph::OpId;
using graph::OpKind;
using graph::TensorId;

/// The branches, the number of samples, and which inputs have them.
bool Lowering::findGates() {
  branches = graph::branchesOf(graph);
  branchStates.resize(branches.list.size());
  rowsOf.assign(graph.tensors.size(), 0);
  if (!branches.gated()) return true;
  samples = dims[index(graph[branches.list[1].gate].inputs[0])][0];
  if (samples == 1) return true;
  for (const TensorId input : graph.inputs) {
    const std::vector<std::int64_t>& shape = dims[index(input)];
    if (!shape.empty() && shape[0] == samples) rowsOf[index(input)] = 1;
  }
  return true;
}

std::optional<SampleUse> Lowering::useSamples(const Op& op, const std::vector<std::int64_t>& attributes) {
  SampleUse none;
  none.along.assign(op.inputs.size(), false);
  if (samples == 1) return none;
  SampleUse use = sampleUse(op, dims, rowsOf, samples, attributes);
  if (!use.has) return none;
  if (!use.mixes.empty()) {
    // Among all samples anything goes: the result is a value of the whole batch.
    if (here == kAllSamples) return none;
    const Op& gate = graph[branches.list[here].gate];
    fail(diag::mixes_samples, op.range, {op.declaration, gate.declaration, use.mixes});
    return std::nullopt;
  }
  for (std::size_t r = 0; r < op.outputs.size(); ++r) rowsOf[index(op.outputs[r])] = use.results[r];
  return use;
}

bool Lowering::moveRows(std::uint32_t from, std::uint32_t fromRows, std::uint32_t to, std::uint32_t toRows, OpId op,
                        SrcRange range) {
  std::vector<tbem_operand> operands;
  for (const std::uint32_t version : {from, fromRows, toRows, to})
    operands.push_back(version == kNone ? tbem_operand{} : versions[version].operand);
  const Answer& answer = ask(TBEM_PRIMITIVE_move_rows, operands, 3, {});
  if (answer.status != TBEM_OK) return fail(diag::backend_lacks_primitive, range, {backend.name, "move_rows", answer.error});
  Item item;
  item.op = op;
  item.primitive = TBEM_PRIMITIVE_move_rows;
  item.reads = {from, fromRows, toRows};
  item.writes = {to};
  item.workspace = answer.info.workspace;
  item.implementation = answer.info.implementation;
  addItem(std::move(item));
  return true;
}

std::uint32_t Lowering::inSpace(TensorId tensor, std::uint32_t space, const tbem_operand& wanted, SrcRange range) {
  std::uint32_t found = kNone;
  bool inParent = false;
  for (const std::uint32_t id : versionsOf[index(tensor)]) {
    if (!isReachable(versions[id])) continue;
    if (versions[id].space == space && (found == kNone || samePlaces(versions[id].operand, wanted))) found = id;
    inParent = inParent || versions[id].space == branches.list[space].parent;
  }
  if (found != kNone || error) return found;
  if (space == kAllSamples) TBEM_BUG("`{}` is read where nothing has made it", graph[tensor].name);
  const std::uint32_t parent = branches.list[space].parent;
  const std::uint32_t home = versions[versionsOf[index(tensor)].front()].space;
  const bool fromAll = home == kAllSamples && !inParent;
  const std::uint32_t source = inSpace(tensor, fromAll ? kAllSamples : parent, wanted, range);
  if (source == kNone) return kNone;
  const tbem_operand operand = versions[source].operand;
  const std::uint32_t gathered = addMade(tensor, operand, addMemory(Kind::Activations, operand.layout.bytes), space);
  const std::uint32_t rows = fromAll ? branchStates[space].origin : branchStates[space].rows;
  return moveRows(source, rows, gathered, kNone, kNoOp, range) ? gathered : kNone;
}

namespace {
/// A list of samples: how many, then their numbers.
std::uint32_t addList(Lowering& state) {
  const std::int64_t length = 1 + state.samples;
  const tbem_operand operand = plainOperand(TBEM_I64, {&length, 1});
  const std::uint32_t memory = state.addMemory(Kind::Workspace, operand.layout.bytes);
  state.memories[memory].kept = state.memories[memory].fromStart = true;
  return state.addMade(kNoTensor, operand, memory, kAllSamples);
}

bool addSplit(Lowering& state, OpId gate, std::uint32_t condition) {
  Item item;
  item.op = gate;
  item.primitive = TBEM_PRIMITIVE_split_rows;
  item.reads = {condition, state.branchStates[state.here].origin};
  BranchState& chosen = state.branchStates[state.branches.whereTrue[index(gate)]];
  BranchState& others = state.branchStates[state.branches.whereFalse[index(gate)]];
  for (BranchState* branch : {&chosen, &others}) branch->origin = branch->rows = addList(state);
  if (state.here != kAllSamples) {
    for (BranchState* branch : {&chosen, &others}) branch->origin = addList(state);
    item.writes = {chosen.rows, others.rows, chosen.origin, others.origin};
  } else {
    item.writes = {chosen.rows, others.rows, kNone, kNone};
  }
  std::vector<tbem_operand> operands;
  for (const std::vector<std::uint32_t>* list : {&item.reads, &item.writes}) {
    for (const std::uint32_t version : *list)
      operands.push_back(version == kNone ? tbem_operand{} : state.versions[version].operand);
  }
  const Answer& answer = state.ask(TBEM_PRIMITIVE_split_rows, operands, 2, {});
  if (answer.status != TBEM_OK) {
    return state.fail(diag::backend_lacks_primitive, state.graph[gate].range, {state.backend.name, "split_rows", answer.error});
  }
  item.workspace = answer.info.workspace;
  item.implementation = answer.info.implementation;
  chosen.split = others.split = state.addItem(std::move(item));
  return true;
}

TensorId resultOfExits(const graph::Graph& graph) {
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::Join && op.gate == kNoOp) return op.outputs[0];
  }
  return kNoTensor;
}

/// Puts the branch's rows of `value` into `result`, whose rows are those of the branch at hand, or those of the batch
/// (`intoAll`). A value that was there before the branch is taken from where it is.
bool put(Lowering& state, std::uint32_t branch, TensorId value, std::uint32_t result, OpId op, bool intoAll) {
  const SrcRange range = state.graph[op].range;
  const std::uint32_t outer = state.here;
  const OpId producer = state.graph[value].producer;
  const std::uint32_t made = producer == kNoOp ? kAllSamples : state.branches.of[index(producer)];
  const bool visible = state.branches.contains(made, outer);
  if (!visible || state.samples == 1) state.here = branch;
  const tbem_operand operand = state.versions[result].operand;
  const std::uint32_t from = state.ensure(value, operand, range, true);
  if (from == kNone) return false;
  state.here = branch;
  const BranchState& rows = state.branchStates[branch];
  const std::uint32_t space = state.versions[from].space;
  const std::uint32_t fromRows = space == branch ? kNone : space == kAllSamples ? rows.origin : rows.rows;
  const bool ok = state.samples == 1 ? state.reorder(from, result, range)
                                     : state.moveRows(from, fromRows, result, intoAll ? rows.origin : rows.rows, op, range);
  state.here = outer;
  return ok;
}
}  // namespace

bool Lowering::lowerGate(OpId id) {
  const Op& op = graph[id];
  const std::uint32_t condition = ensure(op.inputs[0], plainOf(op.inputs[0]), op.range, true);
  if (condition == kNone || !addSplit(*this, id, condition)) return false;
  if (op.kind == OpKind::Skip) return true;
  if (exitResult == kNone) {
    const TensorId result = resultOfExits(graph);
    const std::uint32_t outer = here;
    here = kAllSamples;
    if (samples > 1) rowsOf[index(result)] = dims[index(result)][0] / samples;
    exitResult = addResult(result, plainOf(result));
    here = outer;
  }
  return put(*this, branches.whereTrue[index(id)], op.inputs[1], exitResult, id, true);
}

bool Lowering::lowerJoin(OpId id) {
  const Op& op = graph[id];
  if (op.gate == kNoOp) {  // the exits have put their values in place; what is left are the samples that went on to the end
    std::uint32_t last = kAllSamples;
    for (const OpId other : order) {
      if (graph[other].kind == OpKind::Exit) last = branches.whereFalse[index(other)];
    }
    return put(*this, last, op.inputs.back(), exitResult, id, true);
  }
  const TensorId result = op.outputs[0];
  if (samples > 1) rowsOf[index(result)] = dims[index(result)][0] / samples;
  const std::uint32_t model = current(op.inputs[1]);
  if (model == kNone) return false;
  const std::uint32_t joined = addResult(result, likeOperand(versions[model].operand, graph[result].dtype, dims[index(result)]));
  return put(*this, branches.whereTrue[index(op.gate)], op.inputs[2], joined, id, false) &&
         put(*this, branches.whereFalse[index(op.gate)], op.inputs[1], joined, id, false);
}

}  // namespace tbem::estimate
