#include "compiler/graph/samples/GateSamples.h"

#include "compiler/graph/ir/Attributes.h"
#include "compiler/graph/samples/SampleUse.h"

#include <algorithm>
#include <map>
#include <ranges>

namespace tbem::graph {

namespace {
using Shapes = std::vector<std::vector<std::int64_t>>;

std::int64_t rowsOf(const Shapes& dims, TensorId tensor) { return dims[index(tensor)].empty() ? 1 : dims[index(tensor)].front(); }

/// Rows a sample that an operator's results have, by what its inputs have.
std::vector<std::int64_t> rowsOfResults(const Op& op, const sema::Values& values, const Shapes& dims,
                                        const std::vector<std::int64_t>& rows, std::int64_t samples) {
  SampleRows read;
  for (const TensorId input : op.inputs) read.each.push_back(input == kNoTensor ? 0 : rows[index(input)]);
  read.isWhole.assign(op.inputs.size(), true);
  std::vector<std::int64_t> none(op.outputs.size(), 0);
  if (std::ranges::all_of(read.each, [](std::int64_t each) { return each == 0; }) || !op.own.symbol.empty()) return none;
  if (op.kind == OpKind::Join) {
    const std::int64_t all = rowsOf(dims, op.outputs[0]);
    return {all % samples == 0 ? all / samples : 0};
  }
  std::vector<std::int64_t> attributes;
  if (op.kind == OpKind::Native) {
    const auto rankOf = [&](TensorId tensor) { return tensor == kNoTensor ? 0 : dims[index(tensor)].size(); };
    std::string wrong;
    attributes = flattenAttributes(op, values, rankOf(op.inputs[0]), rankOf(op.outputs[0]), wrong);
    if (!wrong.empty()) return none;  // lowering says what
  }
  SampleUse use = sampleUse(op, dims, read, samples, attributes);
  return use.mixes.empty() ? std::move(use.results) : none;
}

/// By tensor: rows a sample, where those inputs have samples that have as many rows; 0 where none.
std::vector<std::int64_t> followed(const Graph& graph, const sema::Values& values, const Shapes& dims, std::int64_t samples) {
  std::vector<std::int64_t> rows(graph.tensors.size(), 0);
  for (const TensorId input : graph.inputs) rows[index(input)] = rowsOf(dims, input) == samples ? 1 : 0;
  for (const Op& op : graph.ops) {
    const std::vector<std::int64_t> results = rowsOfResults(op, values, dims, rows, samples);
    for (std::size_t r = 0; r < op.outputs.size(); ++r) rows[index(op.outputs[r])] = results[r];
  }
  return rows;
}
}  // namespace

GateSamples gateSamples(const Graph& graph, const sema::Values& values, const Branches& branches, const SameAxes& axes,
                        const Shapes& dims) {
  std::map<std::int64_t, std::vector<std::int64_t>> rowsFor;  // by a number of samples
  const auto rowsEach = [&](TensorId tensor, std::int64_t batch) {
    auto rows = rowsFor.find(batch);
    if (rows == rowsFor.end()) rows = rowsFor.emplace(batch, followed(graph, values, dims, batch)).first;
    return rows->second[index(tensor)];
  };
  const auto decidesAboutRowsOf = [&](TensorId condition, TensorId input) {
    const std::int64_t samples = rowsOf(dims, condition);
    if (rowsOf(dims, input) != samples) return false;
    return samples == 1 || axes.same({condition, 0}, {input, 0}) || rowsEach(condition, samples) == 1;
  };
  const auto conditionOf = [&](std::size_t b) { return graph[branches.list[b].gate].inputs[0]; };
  GateSamples samples;
  samples.branches.resize(branches.list.size());
  for (std::size_t b = 1; b < branches.list.size(); ++b) {
    const TensorId condition = conditionOf(b);
    const bool ofBatch = branches.list[b].parent == kAllSamples &&
                         std::ranges::any_of(graph.inputs, [&](TensorId input) { return decidesAboutRowsOf(condition, input); });
    samples.branches[b] = {rowsOf(dims, condition), ofBatch ? 1 : 0};
    if (ofBatch && samples.batch == 0) samples.batch = rowsOf(dims, condition);
  }
  if (samples.batch == 0) samples.batch = graph.inputs.empty() ? samples.branches[1].samples : rowsOf(dims, graph.inputs.front());
  samples.branches.front() = {samples.batch, 1};
  for (std::size_t b = 1; b < branches.list.size(); ++b) {
    GateSamples::InBranch& branch = samples.branches[b];
    if (branches.list[b].parent != kAllSamples)
      branch.ofEachSample = samples.branches[branches.list[b].parent].ofEachSample;
    else if (!branch.ofBatch())
      branch.ofEachSample = samples.batch == 1 ? branch.samples : rowsEach(conditionOf(b), samples.batch);
  }
  return samples;
}

GateSamples gateSamples(const Graph& graph, const sema::Values& values, const Branches& branches) {
  Shapes dims;
  for (const Tensor& tensor : graph.tensors) {
    std::vector<std::int64_t>& shape = dims.emplace_back();
    for (const ExprId dim : tensor.shape) shape.push_back(values.integer(dim));
  }
  return gateSamples(graph, values, branches, SameAxes(graph, values, dims), dims);
}

}  // namespace tbem::graph
