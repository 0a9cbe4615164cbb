#include "compiler/emit/gates/GateGraph.h"

#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/graph/samples/GateSamples.h"
#include "compiler/graph/samples/SampleUse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tbem::emit {

using graph::index;
using graph::kAllSamples;
using graph::kNoOp;
using graph::kNoTensor;
using graph::Op;
using graph::OpId;
using graph::OpKind;
using graph::TensorId;

namespace {

/// Which tensors have a row a sample, and whether operators behind gates need others.
class Rows {
public:
  Rows(const graph::Row& row, const graph::Branches& branches) : row(row), source(row.graph()), branches(branches) {
    for (std::uint32_t at = 0; at < source.tensors.size(); ++at) dims.push_back(row.shape(static_cast<TensorId>(at)));
    const graph::SameAxes axes(source, row.values, dims);
    samples = graph::gateSamples(source, row.values, branches, axes, dims);
    batch = samples.batch;
    followSamples();
  }
  /// By tensor.
  const std::vector<char>& withSamples() const { return hasSamples; }
  /// An input of the network with samples.
  TensorId firstInput() const { return input; }

  /// In the compact form an operator behind a gate gets fewer rows than the batch has.
  std::optional<Refusal> check(OpId id) const {
    const Op& op = source[id];
    const bool isBehind = branches.of[index(id)] != kAllSamples && op.phase == graph::Phase::Forward;
    if (op.kind == OpKind::Skip && !samples.branches[branches.whereTrue[index(id)]].ofBatch()) {
      return Refusal{source[op.inputs[0]].range,
                     fmt::format("a `skip` that decides about {} rows of {} samples",
                                 samples.branches[branches.whereTrue[index(id)]].samples, batch),
                     "The compact form leaves out samples of the batch; `--gates masks` can write it."};
    }
    if (batch == 1) return std::nullopt;
    const bool joins = op.kind == OpKind::Join;
    if (!isBehind && !joins) return std::nullopt;
    const char* const kWhy =
        "Behind a gate the compact form has the rows of some samples, and this has a row for each sample of the batch; "
        "`--gates masks` can write it.";
    for (std::size_t k = joins ? 1 : 0; k < op.inputs.size(); ++k) {
      const TensorId tensor = op.inputs[k];
      if (tensor == kNoTensor) continue;
      if (joins ? hasSamples[index(tensor)] == 0 : readsRowsOfNone(op, k)) {
        return Refusal{source[tensor].range, "a tensor that no sample goes into", kWhy};
      }
      if (ofSamples[index(tensor)] != 0 && hasSamples[index(tensor)] == 0 && isFromElsewhere(id, tensor) &&
          mayHaveSamples(tensor)) {
        return Refusal{source[tensor].range, "a tensor of samples without a row for each",
                       "A branch reads it, and which of its rows are those of the branch is not known; "
                       "`--gates masks` can write it."};
      }
    }
    return joins || samplesApart(op)
               ? std::nullopt
               : std::optional(Refusal{op.range, "`" + op.declaration + "`, which reads values of other samples", kWhy});
  }

private:
  /// Whether the operator computes each sample of its own values.
  bool samplesApart(const Op& op) const {
    const bool computes = op.kind == OpKind::Native || op.kind == OpKind::Elementwise || op.kind == OpKind::View;
    if (!computes) return true;
    graph::SampleRows rows;
    for (const TensorId tensor : op.inputs) rows.each.push_back(tensor == kNoTensor ? 0 : samples.rows[index(tensor)]);
    rows.isWhole.assign(op.inputs.size(), false);
    const std::optional<graph::SampleUse> use = graph::sampleUse(op, row.values, dims, rows, batch);
    return !use || use->mixes.empty();
  }
  bool hasRows(TensorId tensor) const {
    const std::vector<std::int64_t>& shape = dims[index(tensor)];
    return !shape.empty() && shape.front() == batch;
  }
  /// Which tensors are computed from samples, and from weights.
  void followSamples() {
    hasSamples.assign(source.tensors.size(), 0);
    ofSamples.assign(source.tensors.size(), 0);
    ofWeights.assign(source.tensors.size(), 0);
    for (std::uint32_t at = 0; at < source.tensors.size(); ++at) {
      const auto tensor = static_cast<TensorId>(at);
      if (source[tensor].producer == kNoOp) ofWeights[at] = 1;
    }
    for (const TensorId tensor : source.inputs) ofWeights[index(tensor)] = 0;
    for (const TensorId tensor : samples.inputs) ofSamples[index(tensor)] = hasSamples[index(tensor)] = 1;
    if (!samples.inputs.empty()) input = samples.inputs.front();
    for (const Op& op : source.ops) {
      const auto reads = [&](const std::vector<char>& property) {
        return std::any_of(op.inputs.begin(), op.inputs.end(),
                           [&](TensorId tensor) { return tensor != kNoTensor && property[index(tensor)] != 0; });
      };
      for (const TensorId output : op.outputs) {
        ofSamples[index(output)] = static_cast<char>(reads(ofSamples));
        ofWeights[index(output)] = static_cast<char>(reads(ofWeights));
        hasSamples[index(output)] =
            static_cast<char>(batch > 1 ? samples.rows[index(output)] == 1 : ofSamples[index(output)] != 0 && hasRows(output));
      }
    }
  }

  /// Whether the operator reads a row a sample of the tensor, which has them but is made of no sample.
  bool readsRowsOfNone(const Op& op, std::size_t position) const {
    const TensorId tensor = op.inputs[position];
    if (tensor == kNoTensor || ofSamples[index(tensor)] != 0 || !hasRows(tensor)) return false;
    if (op.kind != OpKind::Elementwise) return ofWeights[index(tensor)] == 0;
    const std::vector<std::int32_t>& axes = op.elementwise.operands[position].axes;
    return !axes.empty() && axes.front() == 0;
  }
  /// Several rows a sample, or samples behind dimensions of 1. Else it is a value of the whole batch.
  bool mayHaveSamples(TensorId tensor) const {
    const std::vector<std::int64_t>& shape = dims[index(tensor)];
    const std::size_t first = graph::rowDimension(shape);
    return first < shape.size() && shape[first] % batch == 0;
  }
  bool isFromElsewhere(OpId id, TensorId tensor) const {
    const OpId producer = source[tensor].producer;
    return producer == kNoOp || branches.of[index(producer)] != branches.of[index(id)];
  }

  const graph::Row& row;
  const graph::Graph& source;
  const graph::Branches& branches;
  std::vector<std::vector<std::int64_t>> dims;  ///< by tensor
  graph::GateSamples samples;
  std::int64_t batch = 0;
  TensorId input = kNoTensor;
  std::vector<char> hasSamples, ofSamples, ofWeights;  ///< by tensor: a row a sample; computed from samples, from weights
};

class GateRewriter {
public:
  GateRewriter(const graph::Row& row, GateForm form)
      : source(row.graph()), branches(graph::branchesOf(source)), rows(row, branches) {
    out.row = row;
    out.row.recomputed = source;  // a graph of its own, whose tensors and operators are added to
    out.form = form;
    out.hasSamples = rows.withSamples();
    out.batch = rows.firstInput();
  }

  tl::expected<GateGraph, Refusal> rewrite() {
    target().storages.emplace_back();
    storage = static_cast<graph::StorageId>(target().storages.size() - 1);
    addBegin();
    for (std::uint32_t at = 0; at < source.ops.size(); ++at) {
      const auto id = static_cast<OpId>(at);
      if (const std::optional<Refusal> refusal = isCompact() ? rows.check(id) : std::nullopt) return tl::unexpected(*refusal);
      rewrite(id);
    }
    return std::move(out);
  }

private:
  graph::Graph& target() { return *out.row.recomputed; }
  bool isCompact() const { return out.form == GateForm::Compact; }
  TensorId addTensor(std::string name, TensorId model, OpId producer, bool hasSamples) {
    graph::Tensor tensor = source[model];
    tensor.name = std::move(name);
    tensor.storage = storage;
    tensor.producer = producer;
    target().tensors.push_back(std::move(tensor));
    out.hasSamples.push_back(hasSamples ? 1 : 0);
    return static_cast<TensorId>(target().tensors.size() - 1);
  }

  TensorId addBeginning(const char* name, TensorId model, bool isRow) {
    const auto id = static_cast<OpId>(target().ops.size());
    const TensorId made = addTensor(name, model, id, isRow);
    Op op;
    op.kind = OpKind::Native;
    op.declaration = name;
    op.outputs = {made};
    op.range = source[branches.list[1].gate].range;
    target().ops.push_back(std::move(op));
    out.begin.push_back(id);
    return made;
  }
  void addBegin() {
    const auto isExit = [&](const Op& op) { return op.kind == OpKind::Exit; };
    const bool hasExits = std::any_of(source.ops.begin(), source.ops.end(), isExit);
    const bool isNested = std::any_of(branches.list.begin() + 1, branches.list.end(),
                                      [](const graph::Branch& branch) { return branch.parent != kAllSamples; });
    const TensorId condition = source[branches.list[1].gate].inputs.front();
    if (isCompact() && (hasExits || isNested)) samples = addBeginning("samples", condition, true);
    if (!hasExits) return;
    if (!isCompact()) inside = addBeginning("inside", condition, false);
    result = addBeginning("result", source.outputs.front(), false);
  }

  /// What says which samples come to the gate; nothing: all of them.
  std::optional<TensorId> reachedBy(OpId id) {
    const graph::Branch& branch = branches.list[branches.of[index(id)]];
    if (branch.gate == kNoOp) return std::nullopt;
    if (source[branch.gate].kind == OpKind::Exit) return inside;
    out.reachedWhere[id] = branch.condition;
    return target()[branch.gate].outputs.front();
  }

  void rewrite(OpId id) {
    const Op& before = source[id];
    Op& op = target().ops[index(id)];
    if (before.kind == OpKind::Skip) {
      if (isCompact()) {
        if (branches.of[index(id)] != kAllSamples) op.inputs.push_back(samples);
        return;
      }
      if (const std::optional<TensorId> reached = reachedBy(id)) op.inputs.push_back(*reached);
      target().ops[index(id)].outputs = {addTensor("decision", before.inputs.front(), id, false)};
    } else if (before.kind == OpKind::Exit) {
      rewriteExit(id);
    } else if (before.kind == OpKind::Join && before.gate != kNoOp) {
      if (!isCompact()) op.inputs.front() = target()[before.gate].outputs.front();
    } else if (before.kind == OpKind::Join) {
      op.inputs =
          isCompact() ? std::vector{result, samples, before.inputs.back()} : std::vector{inside, result, before.inputs.back()};
    }
  }

  void rewriteExit(OpId id) {
    const TensorId condition = source[id].inputs[0], value = source[id].inputs[1];
    std::vector<TensorId> inputs = {condition, value}, outputs;
    const auto change = [&](TensorId& tensor, TensorId model) {
      inputs.push_back(tensor);
      tensor = addTensor(target()[tensor].name, model, id, out.hasSamples[index(tensor)] != 0);
      outputs.push_back(tensor);
    };
    if (isCompact()) {
      change(result, value);
      change(samples, condition);
      out.resultOf[samples] = result;
      for (const TensorId live : liveBehind(id)) {
        inputs.push_back(live);
        outputs.push_back(live);
      }
    } else {
      change(inside, condition);
      change(result, value);
    }
    Op& op = target().ops[index(id)];
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
  }

  /// Tensors with samples that are there before the exit, and that operators behind it read.
  std::vector<TensorId> liveBehind(OpId exit) const {
    std::vector<TensorId> live;
    const auto add = [&](TensorId tensor) {
      if (tensor == kNoTensor || out.hasSamples[index(tensor)] == 0) return;
      const OpId producer = source[tensor].producer;
      if (producer != kNoOp && index(producer) > index(exit)) return;
      if (std::find(live.begin(), live.end(), tensor) == live.end()) live.push_back(tensor);
    };
    for (std::size_t at = index(exit) + 1; at < source.ops.size(); ++at) {
      const Op& op = source.ops[at];
      if (op.kind == OpKind::Join && op.gate == kNoOp) {
        add(op.inputs.back());
      } else {
        for (const TensorId input : op.inputs) add(input);
      }
    }
    std::sort(live.begin(), live.end());
    return live;
  }

  const graph::Graph& source;
  const graph::Branches branches;
  const Rows rows;
  GateGraph out;
  graph::StorageId storage{};
  TensorId samples = kNoTensor, inside = kNoTensor, result = kNoTensor;  ///< at the operator at hand
};

}  // namespace

bool hasGates(const graph::Graph& graph) { return graph::firstGate(graph) != nullptr; }

tl::expected<GateGraph, Refusal> gateGraph(const graph::Row& row, GateForm form) { return GateRewriter(row, form).rewrite(); }

}  // namespace tbem::emit
