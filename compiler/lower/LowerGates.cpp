// Gates: which samples go which way, and how their values come together again.
//
// A gate's step lists the samples of its two branches. Behind it a value that the branch needs is gathered: its rows for the
// branch's samples, one after the other, at the front of memory for the whole batch. A join scatters the arms' rows to their
// places. Where there is one sample there is nothing to gather: branches work on the values as they are.
//
// A `skip` that stands outside all other gates may decide about something else than samples of the batch, such as the places of
// an image: what it decides about are the samples of its branches, and of the gates within them. What a value from outside has a
// row for is told by where its rows come from (SameAxes.h), not by how many there are.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/graph/samples/GateSamples.h"
#include "compiler/lower/Lowering.h"
#include "compiler/lower/Query.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace tbem::estimate {

using graph::index;
using graph::kAllSamples;
using graph::kNoOp;
using graph::kNoTensor;
using graph::Op;
using graph::OpId;
using graph::OpKind;
using graph::TensorId;

namespace {

/// By tensor: whether it comes of the network's inputs.
std::vector<bool> comesOfInputs(const graph::Graph& graph) {
  std::vector<bool> comes(graph.tensors.size(), false);
  for (const TensorId input : graph.inputs) comes[index(input)] = true;
  for (const Op& op : graph.ops) {
    const bool reads =
        std::ranges::any_of(op.inputs, [&](TensorId tensor) { return tensor != kNoTensor && comes[index(tensor)]; });
    for (const TensorId result : op.outputs) comes[index(result)] = reads;
  }
  return comes;
}

}  // namespace

/// The branches, their numbers of samples, and which inputs have those of the batch. False after an error.
bool Lowering::findGates() {
  branches = graph::branchesOf(graph);
  branchStates.resize(branches.list.size());
  rowsOf.assign(graph.tensors.size(), 0);
  samplesIn.assign(branches.list.size(), 1);
  if (!branches.gated()) return true;
  sameAxes.emplace(graph, values, dims);
  ofInputs = comesOfInputs(graph);
  const graph::GateSamples samples = graph::gateSamples(graph, values, branches, *sameAxes, dims);
  for (std::size_t b = 0; b < branches.list.size(); ++b) {
    samplesIn[b] = samples.branches[b].samples;
    branchStates[b].ofEachSample = samples.branches[b].ofEachSample;
  }
  if (samples.batch > 1) {
    for (const TensorId input : samples.inputs) rowsOf[index(input)] = 1;
  }
  for (std::size_t b = 1; b < branches.list.size(); ++b) {
    const graph::Branch& branch = branches.list[b];
    const Op& gate = graph[branch.gate];
    if (branch.parent != kAllSamples && samplesIn[b] != samplesIn[branch.parent]) {
      return fail(diag::mixes_samples, gate.range,
                  {gate.declaration, graph[branches.list[branch.parent].gate].declaration,
                   fmt::format("it decides about {} samples of {}", samplesIn[b], samplesIn[branch.parent])});
    }
    if (gate.kind == OpKind::Exit && !samples.branches[b].ofBatch()) {
      const std::vector<std::int64_t>* first = graph.inputs.empty() ? nullptr : &dims[index(graph.inputs.front())];
      const std::int64_t firstRows = first == nullptr || first->empty() ? 1 : first->front();
      return fail(diag::exit_of_places, graph[gate.inputs[0]].range, {fmt::to_string(samplesIn[b]), fmt::to_string(firstRows)});
    }
  }
  return true;
}

/// Rows a sample of the branch `here` that the tensor has; 0: none.
std::int64_t Lowering::rowsHere(TensorId tensor) const {
  if (tensor == kNoTensor) return 0;
  const std::int64_t made = rowsOf[index(tensor)];
  if (here == kAllSamples || !isWhole(tensor)) return made;
  if (branchStates[here].ofEachSample == 1 && made > 0) return made;
  if (isPersistent(tensor) && !ofInputs[index(tensor)]) return 0;  // weights have no samples
  std::uint32_t outermost = here;
  while (branches.list[outermost].parent != kAllSamples) outermost = branches.list[outermost].parent;
  const TensorId decided = graph[branches.list[outermost].gate].inputs[0];
  const std::vector<std::int64_t>& shape = dims[index(tensor)];
  const std::size_t at = graph::rowDimension(shape);
  const bool hasRows = at < shape.size() && shape[at] % samplesHere() == 0 && sameAxes->sameRows(tensor, decided);
  return hasRows ? shape[at] / samplesHere() : 0;
}

/// Whether its rows are not only those of a branch: it is made outside all gates, or for all samples at once.
bool Lowering::isWhole(TensorId tensor) const {
  const OpId producer = graph[tensor].producer;
  return producer == kNoOp || branches.of[index(producer)] == kAllSamples || rowsOf[index(tensor)] == 0;
}

std::optional<graph::SampleUse> Lowering::useSamples(const Op& op, const std::vector<std::int64_t>& attributes) {
  graph::SampleUse none;
  none.along.assign(op.inputs.size(), false);
  if (samplesHere() == 1) return none;
  graph::SampleRows rows;
  for (const TensorId tensor : op.inputs) {
    rows.each.push_back(rowsHere(tensor));
    rows.isWhole.push_back(tensor != kNoTensor && isWhole(tensor));
  }
  graph::SampleUse use = graph::sampleUse(op, dims, rows, samplesHere(), attributes);
  // A move of what was made for all samples may be made for all of them, and a view costs nothing.
  const bool movesAll = here != kAllSamples && op.flops.empty() &&
                        (op.kind == OpKind::View || !use.mixes.empty() || !use.byPlace.empty()) &&
                        std::ranges::all_of(op.inputs, [&](TensorId tensor) { return tensor == kNoTensor || isWhole(tensor); });
  if (movesAll) return none;
  if (here == kAllSamples) {  // among all samples anything goes
    for (std::size_t r = 0; r < op.outputs.size(); ++r) rowsOf[index(op.outputs[r])] = use.mixes.empty() ? use.results[r] : 0;
    none.along = use.mixes.empty() ? use.along : none.along;
    return none;
  }
  if (!use.follows) {
    // Moves may be made for all; what costs FLOPs would be computed where it is left out.
    const bool costs = !op.flops.empty() && std::ranges::any_of(op.inputs, [&](TensorId tensor) {
      return tensor != kNoTensor && ofInputs[index(tensor)];
    });
    if (!costs) return none;
    use.mixes = "it is computed for all of them at once";
  }
  const std::string& why = use.mixes.empty() ? use.byPlace : use.mixes;
  if (!why.empty()) {
    fail(diag::mixes_samples, op.range, {op.declaration, graph[branches.list[here].gate].declaration, why});
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
/// A list of a gate's samples: how many, then their numbers.
std::uint32_t addList(Lowering& state, std::int64_t samples) {
  const std::int64_t length = 1 + samples;
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
  const std::int64_t samples = state.samplesIn[state.branches.whereTrue[index(gate)]];
  for (BranchState* branch : {&chosen, &others}) branch->origin = branch->rows = addList(state, samples);
  if (state.here != kAllSamples) {
    for (BranchState* branch : {&chosen, &others}) branch->origin = addList(state, samples);
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
  const bool isOne = state.samplesIn[branch] == 1;
  if (!visible || isOne) state.here = branch;
  const tbem_operand operand = state.versions[result].operand;
  const std::uint32_t from = state.ensure(value, operand, range, true);
  if (from == kNone) return false;
  state.here = branch;
  const BranchState& rows = state.branchStates[branch];
  const std::uint32_t space = state.versions[from].space;
  const std::uint32_t fromRows = space == branch ? kNone : space == kAllSamples ? rows.origin : rows.rows;
  const bool ok = isOne ? state.reorder(from, result, range)
                        : state.moveRows(from, fromRows, result, intoAll ? rows.origin : rows.rows, op, range);
  state.here = outer;
  return ok;
}
}  // namespace

bool Lowering::lowerGate(OpId id) {
  const Op& op = graph[id];
  const TensorId decided = op.inputs[0];
  const bool isOfOthers = here != kAllSamples && samplesHere() > 1 && isWhole(decided) && rowsHere(decided) == 0;
  if (isOfOthers) {
    return fail(diag::mixes_samples, op.range,
                {op.declaration, graph[branches.list[here].gate].declaration, "it does not decide about them"});
  }
  const std::uint32_t condition = ensure(decided, plainOf(decided), op.range, true);
  if (condition == kNone || !addSplit(*this, id, condition)) return false;
  if (op.kind == OpKind::Skip) return true;
  if (exitResult == kNone) {
    const TensorId result = resultOfExits(graph);
    const std::uint32_t outer = here;
    here = kAllSamples;
    if (samplesHere() > 1) rowsOf[index(result)] = dims[index(result)][0] / samplesHere();
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
  if (samplesHere() > 1 && dims[index(result)][0] % samplesHere() == 0)
    rowsOf[index(result)] = dims[index(result)][0] / samplesHere();
  const std::uint32_t model = current(op.inputs[1]);
  if (model == kNone) return false;
  const std::uint32_t joined = addResult(result, likeOperand(versions[model].operand, graph[result].dtype, dims[index(result)]));
  return put(*this, branches.whereTrue[index(op.gate)], op.inputs[2], joined, id, false) &&
         put(*this, branches.whereFalse[index(op.gate)], op.inputs[1], joined, id, false);
}

}  // namespace tbem::estimate
