#include "compiler/graph/samples/GateSamples.h"

#include "compiler/graph/samples/SampleUse.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

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
  std::optional<SampleUse> use = sampleUse(op, values, dims, read, samples);
  return use && use->mixes.empty() ? std::move(use->results) : none;
}

class Reading {
public:
  Reading(const Graph& graph, const sema::Values& values, const Branches& branches, const SameAxes& axes, const Shapes& dims)
      : graph(graph), values(values), branches(branches), axes(axes), dims(dims) {}

  GateSamples run() {
    GateSamples samples;
    samples.batch = batch();
    for (const TensorId input : graph.inputs) {
      if (rowsOf(dims, input) == samples.batch && hasSamples(input)) samples.inputs.push_back(input);
    }
    samples.branches.push_back({samples.batch, 1});
    samples.rows = followed(samples.inputs, samples.batch);
    for (std::size_t b = 1; b < branches.list.size(); ++b) {
      const std::uint32_t parent = branches.list[b].parent;
      const TensorId condition = conditionOf(b);
      const std::int64_t number = rowsOf(dims, condition);
      std::int64_t ofEach = samples.branches[parent].ofEachSample;
      if (parent == kAllSamples) {
        const bool ofBatch = number == samples.batch && decidesAboutInputs(condition);
        ofEach = ofBatch ? 1 : samples.batch == 1 ? number : samples.rows[index(condition)];
      }
      samples.branches.push_back({number, ofEach});
    }
    return samples;
  }

private:
  TensorId conditionOf(std::size_t b) const { return graph[branches.list[b].gate].inputs[0]; }

  /// By tensor: rows a sample, where these inputs have samples; 0 where none.
  std::vector<std::int64_t> followed(std::span<const TensorId> inputs, std::int64_t samples) const {
    std::vector<std::int64_t> rows(graph.tensors.size(), 0);
    for (const TensorId input : inputs) rows[index(input)] = 1;
    for (const Op& op : graph.ops) {
      const std::vector<std::int64_t> results = rowsOfResults(op, values, dims, rows, samples);
      for (std::size_t r = 0; r < op.outputs.size(); ++r) rows[index(op.outputs[r])] = results[r];
    }
    return rows;
  }

  /// The condition has a value for each row of the input.
  bool decidesAbout(TensorId condition, TensorId input) const {
    const std::int64_t samples = rowsOf(dims, input);
    if (rowsOf(dims, condition) != samples) return false;
    if (samples == 1 || axes.same({condition, 0}, {input, 0})) return true;
    return followed({&input, 1}, samples)[index(condition)] == 1;
  }
  bool decidesAboutInputs(TensorId condition) const {
    return std::ranges::any_of(graph.inputs, [&](TensorId input) { return decidesAbout(condition, input); });
  }

  std::int64_t batch() const {
    std::optional<std::int64_t> bySkip;
    const std::int64_t first = graph.inputs.empty() ? 0 : rowsOf(dims, graph.inputs.front());
    for (std::size_t b = 1; b < branches.list.size(); ++b) {
      const TensorId condition = conditionOf(b);
      if (branches.list[b].parent != kAllSamples || !decidesAboutInputs(condition)) continue;
      const std::int64_t number = rowsOf(dims, condition);
      if (graph[branches.list[b].gate].kind == OpKind::Exit) return number;
      if (!bySkip || number == first) bySkip = number;
    }
    if (bySkip) return *bySkip;
    return graph.inputs.empty() ? rowsOf(dims, conditionOf(1)) : first;
  }

  /// Of an input with as many rows as there are samples: operators lead from its rows to what a gate decides about, or to the
  /// rows of the first input.
  bool hasSamples(TensorId input) const {
    if (input == graph.inputs.front() || axes.sameRows(input, graph.inputs.front())) return true;
    for (std::size_t b = 1; b < branches.list.size(); ++b) {
      if (axes.sameRows(input, conditionOf(b))) return true;
    }
    return false;
  }

  const Graph& graph;
  const sema::Values& values;
  const Branches& branches;
  const SameAxes& axes;
  const Shapes& dims;
};
}  // namespace

GateSamples gateSamples(const Graph& graph, const sema::Values& values, const Branches& branches, const SameAxes& axes,
                        const Shapes& dims) {
  return Reading(graph, values, branches, axes, dims).run();
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
