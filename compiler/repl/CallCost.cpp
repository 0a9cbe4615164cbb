#include "compiler/repl/CallCost.h"

#include "compiler/estimate/Estimate.h"
#include "compiler/sema/Value.h"
#include "compiler/support/Bug.h"

#include <array>
#include <utility>

namespace tbem::repl {

namespace {

ResultShape shapeOf(const graph::Row& row, graph::TensorId id) {
  return {std::string(sema::kDTypeNames.at(static_cast<std::size_t>(row.graph()[id].dtype))), row.shape(id)};
}

std::vector<OperatorRow> operatorsOf(const graph::Row& row) {
  std::vector<OperatorRow> rows;
  const graph::Graph& graph = row.graph();
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const graph::Op& op = graph.ops[i];
    if (op.phase != graph::Phase::Forward) continue;
    OperatorRow line;
    line.path = graph.scopes[static_cast<std::size_t>(op.scope)].path;
    line.name = op.declaration;
    for (const graph::TensorId output : op.outputs) {
      if (output != graph::kNoTensor) line.results.push_back(shapeOf(row, output));
    }
    const std::array<graph::OpId, 1> only = {static_cast<graph::OpId>(i)};
    if (const auto count = estimate::countFlops(graph, row.values, only)) line.flops = estimate::toDouble(*count);
    rows.push_back(std::move(line));
  }
  return rows;
}

}  // namespace

tl::expected<CallCost, std::string> callCost(const driver::State& state) {
  TBEM_CHECK(state.rows.size() == 1 && state.rows.front().program);
  const driver::RowState& lowered = state.rows.front();
  const graph::Row& row = *lowered.elaborated;
  const auto estimated = estimate::estimateRow(row.graph(), row.values, &*lowered.program);
  if (!estimated) return tl::unexpected(estimated.error().what);
  CallCost cost;
  for (const graph::TensorId output : row.graph().outputs) cost.results.push_back(shapeOf(row, output));
  cost.parameters = estimated->flops.parameters;
  cost.flops = estimate::toDouble(estimated->flops.most.forward);
  cost.live = estimated->device->live;
  cost.arena = estimated->device->arena;
  cost.peak = estimated->peak.name;
  cost.peakScope = estimated->peak.scope;
  cost.operators = operatorsOf(row);
  return cost;
}

}  // namespace tbem::repl
