// Element-wise operators: the layout that each loop runs over.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/Lowering.h"
#include "compiler/lower/program/LoopTypes.h"
#include "compiler/sema/Value.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;
using graph::Op;
using graph::TensorId;

bool Lowering::readsSameElement(const Op& op, std::size_t operand) const {
  const std::vector<std::int64_t>& out = dims[index(op.outputs[0])];
  const std::vector<std::int64_t>& in = dims[index(op.inputs[operand])];
  const std::vector<std::int32_t>& axes = op.elementwise.operands[operand].axes;
  if (in != out) return false;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] != static_cast<std::int32_t>(k) && out[k] != 1) return false;
  }
  return true;
}

namespace {
/// A value spread out of smaller ones (a gradient of a mean) can be made in any order of dimensions: that of what it will be
/// combined with, if that is there already.
std::optional<tbem_operand> spaceOfReaders(Lowering& state, const Op& op) {
  const std::vector<std::int64_t>& out = state.dims[index(op.outputs[0])];
  for (const graph::OpId id : state.readersOf[index(op.outputs[0])]) {
    const Op& reader = state.graph[id];
    if (reader.kind != graph::OpKind::Elementwise) continue;
    for (const TensorId tensor : reader.inputs) {
      if (state.dims[index(tensor)] != out || state.versionsOf[index(tensor)].empty()) continue;
      const tbem_operand& there = state.versions[state.versionsOf[index(tensor)].front()].operand;
      if (!isRowMajor(there)) return there;
    }
  }
  return std::nullopt;
}

/// Whether a full operand that lies so is a reason to make the result lie so, too: what made it will want it so again. On a
/// device only images do that; another order is one in which no operator reads rows, left by a permute.
bool leads(const Lowering& state, const tbem_operand& operand) {
  return !isRowMajor(operand) && (state.backend.device == nullptr || isChannelsLast(operand));
}

/// The layout that costs fewest reorders: of a persistent storage that is written; else of the first full operand that leads;
/// else row-major, or another one in which all full operands lie.
tbem_operand spaceOf(Lowering& state, const Op& op, const std::vector<bool>& same) {
  const std::vector<std::int64_t>& out = state.dims[index(op.outputs[0])];
  const std::int32_t dtype = state.graph[op.outputs[0]].dtype;
  for (const TensorId tensor : op.outputs) {
    const auto& layout = state.layoutOf[index(state.graph[tensor].storage)];
    if (state.isPersistent(tensor) && layout) return likeOperand(*layout, dtype, out);
  }
  std::optional<tbem_operand> all;  // as one of the full operands lies
  bool together = true;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!same[i] || state.isOpen(op.inputs[i])) continue;
    const std::uint32_t home = state.current(op.inputs[i]);
    if (home == kNone) continue;
    const tbem_operand there = likeOperand(state.versions[home].operand, dtype, out);
    if (leads(state, state.versions[home].operand)) return there;
    together = together && (!all || samePlaces(*all, there));
    all = there;
  }
  if (all) return together ? *all : plainOperand(dtype, out);
  if (const auto readers = spaceOfReaders(state, op)) return likeOperand(*readers, dtype, out);
  return plainOperand(dtype, out);
}

/// The first element type of its operands, or within its body, for which there are no loops.
std::optional<std::int32_t> withoutLoops(const graph::Graph& graph, const Op& op) {
  for (const graph::ElemNode& node : op.elementwise.nodes) {
    if (node.op == graph::ElemOp::Cast && !hasLoops(node.dtype)) return node.dtype;
  }
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const TensorId tensor : *operands) {
      if (tensor != kNoTensor && !hasLoops(graph[tensor].dtype)) return graph[tensor].dtype;
    }
  }
  return std::nullopt;
}
}  // namespace

bool Lowering::lowerLoop(graph::OpId id) {
  const Op& op = graph[id];
  if (const std::optional<std::int32_t> type = withoutLoops(graph, op)) {
    return fail(diag::backend_lacks_primitive, op.range,
                {backend.name, op.declaration,
                 fmt::format("element-wise code of {} is not there yet", sema::kDTypeNames[static_cast<std::size_t>(*type)])});
  }
  Item item;
  item.isLoop = true;
  item.op = id;
  // A narrow copy of a weight has no layout of its own: the library is given another one whatever this is.
  if (op.inputs.size() == 1 && graph[op.inputs[0]].dtype != graph[op.outputs[0]].dtype) placeWeight(op.inputs[0], op.outputs[0]);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) item.sameElement.push_back(readsSameElement(op, i));
  const std::optional<graph::SampleUse> use = useSamples(op, {});
  if (!use) return false;
  item.space = spaceOf(*this, op, item.sameElement);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorId tensor = op.inputs[i];
    const std::int32_t dtype = graph[tensor].dtype;
    const tbem_operand wanted = item.sameElement[i] ? likeOperand(item.space, dtype, dims[index(tensor)]) : plainOf(tensor);
    item.reads.push_back(ensure(tensor, wanted, op.range, use->along[i]));
  }
  if (error) return false;
  std::vector<std::pair<std::uint32_t, TensorId>> copies;
  for (const TensorId tensor : op.outputs) {
    const tbem_operand operand = likeOperand(item.space, graph[tensor].dtype, dims[index(tensor)]);
    if (!isPersistent(tensor)) {
      item.writes.push_back(addResult(tensor, operand));
      continue;
    }
    // A storage is overwritten in place only where every read of it is at the element that is written, in its own layout.
    const std::uint32_t storage = index(graph[tensor].storage);
    bool inPlace = !layoutOf[storage] || samePlaces(*layoutOf[storage], operand);
    for (std::size_t i = 0; i < item.reads.size(); ++i) {
      if (versions[item.reads[i]].memory == memoryOf[storage] && memoryOf[storage] != kNone)
        inPlace = inPlace && item.sameElement[i];
    }
    if (inPlace) {
      item.writes.push_back(addResult(tensor, operand));
    } else {
      item.writes.push_back(addVersion(kNoTensor, operand, addMemory(Kind::Workspace, operand.layout.bytes)));
      copies.emplace_back(item.writes.back(), tensor);
    }
  }
  item.perSample = std::any_of(item.writes.begin(), item.writes.end(),
                               [this](std::uint32_t write) { return versions[write].space != graph::kAllSamples; });
  addItem(std::move(item));
  for (const auto& [from, tensor] : copies) {
    if (!reorder(from, addResult(tensor, plainOf(tensor)), op.range)) return false;
  }
  return true;
}

}  // namespace tbem::estimate
