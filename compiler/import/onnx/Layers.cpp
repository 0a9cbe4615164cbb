// ONNX's normalisations, products and reductions.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

Argument epsilon(const OnnxGraph& graph) {
  const double given = graph.real("epsilon", 1e-5);
  if (!(given >= 0 && given < 1)) throw NoForm{"its epsilon is not from 0 to below 1"};
  return realArgument(given);
}

void batchNorm(OnnxGraph& graph) {
  if (graph.integer("training_mode", 0) != 0 || graph.results() != 1) throw NoForm{"it normalises by the batch's own statistics"};
  if (graph.in(0).rank() < 2) throw NoForm{"its input has no channels"};
  for (std::size_t input = 1; input < 5; ++input) graph.requireRow(input, graph.shape(0)[1]);
  // ONNX's momentum is what stays of the statistics, PyTorch's what comes in.
  graph.give("batch_norm.default",
             {graph.operand(0), graph.ownOperand(1, "weight"), graph.ownOperand(2, "bias"), graph.ownOperand(3, "running_mean"),
              graph.ownOperand(4, "running_var"), flagArgument(false),
              realArgument(shortest(static_cast<float>(1 - graph.real("momentum", 0.9)))), epsilon(graph)},
             graph.shape(0));
}

/// The dimensions from `axis` on, which a weight has, too.
Argument normalizedShape(OnnxGraph& graph, std::size_t axis) {
  Numbers normalized;
  const std::vector<Size>& shape = graph.shape(0);
  for (std::size_t d = axis; d < shape.size(); ++d) {
    if (!shape[d].symbolic.empty()) throw NoForm{"it normalises along a dimension that is open"};
    normalized.push_back(shape[d].number);
  }
  for (std::size_t input = 1; input < 3 && graph.has(input); ++input) {
    const std::vector<Size>& weight = graph.shape(input);
    const auto isAs = [](const Size& size, std::int64_t number) { return size.number == number; };
    if (!std::ranges::equal(weight, normalized, isAs)) throw NoForm{"its weight is broadcast"};
  }
  return listArgument(normalized);
}

void layerNorm(OnnxGraph& graph) {
  const std::size_t axis = graph.axis(graph.integer("axis", -1), graph.in(0).rank());
  if (graph.results() != 1) throw NoForm{"its mean or deviation is read"};
  const Argument normalized = normalizedShape(graph, axis);
  graph.give("layer_norm.default",
             {graph.operand(0), normalized, graph.operand(1, "weight"), graph.operandOrNone(2, "bias"), epsilon(graph)},
             graph.shape(0));
}

void rmsNorm(OnnxGraph& graph) {
  const std::size_t axis = graph.axis(graph.integer("axis", -1), graph.in(0).rank());
  if (axis + 1 != graph.in(0).rank()) throw NoForm{"it normalises along several dimensions"};
  const Argument normalized = normalizedShape(graph, axis);
  graph.give("rms_norm.default", {graph.operand(0), normalized, graph.operand(1, "weight"), epsilon(graph)}, graph.shape(0));
}

/// Each channel of each sample by its own mean and variance, or each group of channels.
void groupNorm(OnnxGraph& graph, bool isOfInstances) {
  const std::vector<Size> shape = graph.shape(0);
  if (shape.size() < 3 || !shape[1].symbolic.empty()) throw NoForm{"its input is no batch of images or sequences"};
  const std::int64_t groups = isOfInstances ? shape[1].number : graph.integer("num_groups", 0);
  if (groups < 1 || shape[1].number % groups != 0) throw Damaged{"its groups do not divide its channels"};
  graph.requireRow(1, shape[1]);
  graph.requireRow(2, shape[1]);
  const std::optional<double> scale = graph.equalNumbers(1), shift = graph.equalNumbers(2);
  const bool isPlain = scale == 1.0 && shift == 0.0 && !graph.in(1).isWeight;
  graph.give("group_norm.default",
             {graph.operand(0), integerArgument(groups), isPlain ? Argument() : graph.operand(1, "weight"),
              isPlain ? Argument() : graph.operand(2, "bias"), epsilon(graph)},
             shape);
}

/// alpha * A * B + beta * C, A and B turned over where it says so.
void generalProduct(OnnxGraph& graph) {
  const bool turnsLeft = graph.integer("transA", 0) != 0, turnsRight = graph.integer("transB", 0) != 0;
  const double alpha = graph.real("alpha", 1), beta = graph.real("beta", 1);
  const std::vector<Size> left = graph.shape(0), right = graph.shape(1);
  if (left.size() != 2 || right.size() != 2) throw Damaged{"its operands are no matrices"};
  const Size &rows = left[turnsLeft ? 1 : 0], &columns = right[turnsRight ? 0 : 1];
  if (left[turnsLeft ? 0 : 1].number != right[turnsRight ? 1 : 0].number) throw Damaged{"its matrices do not fit"};
  const std::vector<Size> shape = {rows, columns};
  const std::string type = graph.in(0).facts.type;
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  const bool hasMore = graph.has(2) && beta != 0;
  if (hasMore && broadcast(shape, graph.shape(2)) != shape) throw Damaged{"its bias does not fit"};
  const auto turned = [&](std::size_t input) {
    const std::vector<Size> before = graph.shape(input);
    return valueArgument(graph.add("transpose.int", {graph.operand(input), integerArgument(0), integerArgument(1)},
                                   {{before[1], before[0]}, type}));
  };
  const Argument first = turnsLeft ? turned(0) : graph.operand(0);
  const bool hasRow = hasMore && graph.shape(2).size() == 1 && graph.shape(2)[0].number == columns.number;
  if (alpha == 1 && (!hasMore || (hasRow && beta == 1))) {
    std::optional<Argument> weight;
    if (turnsRight) weight = graph.operand(1, "weight");
    if (!turnsRight) weight = graph.turnedWeight(1, "weight");
    if (weight) return graph.give("linear.default", {first, *weight, hasRow ? graph.operand(2, "bias") : Argument()}, shape);
  }
  const std::vector<Argument> matrices = {first, turnsRight ? turned(1) : graph.operand(1)};
  if (alpha == 1 && !hasMore) return graph.give("mm.default", matrices, shape);
  Argument sum = valueArgument(graph.add("mm.default", matrices, {shape, type}));
  if (alpha != 1 && !hasMore) return graph.give("mul.Tensor", {sum, realArgument(alpha)}, shape);
  if (alpha != 1) sum = valueArgument(graph.add("mul.Tensor", {sum, realArgument(alpha)}, {shape, type}));
  Argument more = graph.operand(2);
  if (beta != 1) more = valueArgument(graph.add("mul.Tensor", {more, realArgument(beta)}, {graph.shape(2), type}));
  graph.give("add.Tensor", {sum, more}, shape);
}

void product(OnnxGraph& graph) {
  const std::vector<Size> left = graph.shape(0), right = graph.shape(1);
  if (left.size() < 2 || right.size() < 2) throw NoForm{"it has a vector as an operand"};
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  if (left.back().number != right[right.size() - 2].number) throw Damaged{"its matrices do not fit"};
  const auto lead = broadcast({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
  if (!lead) throw Damaged{"its operands do not fit"};
  std::vector<Size> shape = *lead;
  shape.push_back(left[left.size() - 2]);
  shape.push_back(right.back());
  const std::optional<Argument> weight = graph.turnedWeight(1, "weight");
  if (!weight) {
    graph.give("matmul.default", {graph.operand(0), graph.operand(1)}, shape);
    return;
  }
  // A dense layer, with the row that is added behind it.
  const OnnxNode* const sum = graph.onlyReader(graph.node, "Add");
  std::string bias;
  if (sum != nullptr && sum->inputs.size() == 2) bias = sum->inputs[sum->inputs[0] == graph.output(0) ? 1 : 0];
  OnnxTensor* const row = bias.empty() || graph.maker(bias) != nullptr ? nullptr : &graph.known(bias);
  const bool isBias =
      row != nullptr && row->data != nullptr && row->rank() == 1 && row->facts.shape[0].number == right.back().number;
  std::vector<Argument> arguments = {graph.operand(0), *weight, Argument()};
  if (isBias) arguments[2] = valueArgument(graph.valueOf(*row, bias, "bias"));
  graph.give("linear.default", std::move(arguments), shape);
  if (!isBias) return;
  graph.done.insert(sum);
  graph.name(sum->outputs[0], graph.known(graph.output(0)));
}

void reduce(OnnxGraph& graph, const char* op, const Numbers& axes, bool keeps) {
  const std::size_t rank = graph.in(0).rank();
  std::set<std::size_t> reduced;
  for (const std::int64_t axis : axes) reduced.insert(graph.axis(axis, rank));
  std::vector<Size> shape;
  Numbers sorted;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool isReduced = axes.empty() || reduced.contains(d);
    if (isReduced) sorted.push_back(static_cast<std::int64_t>(d));
    if (!isReduced) shape.push_back(graph.shape(0)[d]);
    if (isReduced && keeps) shape.push_back(sizeOf(1));
  }
  graph.give(op, {graph.operand(0), listArgument(sorted), flagArgument(keeps)}, shape);
}

void reduction(OnnxGraph& graph, const char* op) {
  Numbers axes = graph.integers("axes");
  if (graph.has(1)) axes = graph.numbers(1);
  const bool keeps = graph.integer("keepdims", 1) != 0;
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  if (graph.in(0).rank() == 0) throw NoForm{"its operand is a single number"};
  if (axes.empty() && graph.integer("noop_with_empty_axes", 0) != 0) return graph.giveSame(0);
  reduce(graph, op, axes, keeps);
}

/// The root of the sum of squares.
void norm(OnnxGraph& graph) {
  const Numbers axes = graph.has(1) ? graph.numbers(1) : graph.integers("axes");
  const Facts facts = graph.in(0).facts;
  if (!graph.isReal(0) || axes.empty()) throw NoForm{"it is of whole numbers, or of all axes"};
  std::set<std::size_t> reduced;
  for (const std::int64_t axis : axes) reduced.insert(graph.axis(axis, facts.rank()));
  const bool keeps = graph.integer("keepdims", 1) != 0;
  std::vector<Size> shape;
  Numbers sorted(reduced.begin(), reduced.end());
  for (std::size_t d = 0; d < facts.rank(); ++d) {
    if (!reduced.contains(d) || keeps) shape.push_back(reduced.contains(d) ? sizeOf(1) : facts.shape[d]);
  }
  graph.give("linalg_vector_norm.default", {graph.operand(0), realArgument(2), listArgument(sorted), flagArgument(keeps)}, shape);
}

/// The number of the extreme element along an axis: of equal ones the first.
void extreme(OnnxGraph& graph, const char* op) {
  const std::size_t rank = graph.in(0).rank(), axis = graph.axis(graph.integer("axis", 0), rank);
  const bool keeps = graph.integer("keepdims", 1) != 0;
  if (graph.integer("select_last_index", 0) != 0) throw NoForm{"select_last_index"};
  std::vector<Size> shape = graph.shape(0);
  if (keeps)
    shape[axis] = sizeOf(1);
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  graph.give(op, {graph.operand(0), integerArgument(static_cast<std::int64_t>(axis)), flagArgument(keeps)},
             Facts{shape, "int64"});
}

/// The first of the elements along an axis in their order.
void foremost(OnnxGraph& graph) {
  const Numbers count = graph.numbers(1);
  if (count.size() != 1) throw Damaged{"how many it takes is no number"};
  if (count[0] != 1) throw NoForm{"it takes more than one element along its axis"};
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  const std::size_t axis = graph.axis(graph.integer("axis", -1), graph.in(0).rank());
  const bool isLargest = graph.integer("largest", 1) != 0;
  const auto along = static_cast<std::int64_t>(axis);
  std::vector<Size> shape = graph.shape(0);
  shape[axis] = sizeOf(1);
  if (graph.isRead(0))
    graph.give(isLargest ? "amax.default" : "amin.default", {graph.operand(0), listArgument({along}), flagArgument(true)}, shape);
  if (graph.isRead(1))
    graph.give(isLargest ? "argmax.default" : "argmin.default", {graph.operand(0), integerArgument(along), flagArgument(true)},
               Facts{shape, "int64"}, 1);
}

void global(OnnxGraph& graph, const char* op) {
  Numbers axes(graph.in(0).rank() < 3 ? 0 : graph.in(0).rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  if (axes.empty()) throw NoForm{"its input has no spatial dimensions"};
  if (axes.size() == 2 && std::string_view(op) == "mean.dim")
    return graph.give("adaptive_avg_pool2d.default", {graph.operand(0), listArgument({1, 1})},
                      std::vector<Size>{graph.shape(0)[0], graph.shape(0)[1], sizeOf(1), sizeOf(1)});
  reduce(graph, op, axes, true);
}

}  // namespace

const OnnxOperators& onnxLayers() {
  static const OnnxOperators kOperators = {{"BatchNormalization", batchNorm},
                                           {"LayerNormalization", layerNorm},
                                           {"RMSNormalization", rmsNorm},
                                           {"InstanceNormalization", [](OnnxGraph& graph) { groupNorm(graph, true); }},
                                           {"GroupNormalization", [](OnnxGraph& graph) { groupNorm(graph, false); }},
                                           {"ReduceL2", norm},
                                           {"ArgMax", [](OnnxGraph& graph) { extreme(graph, "argmax.default"); }},
                                           {"ArgMin", [](OnnxGraph& graph) { extreme(graph, "argmin.default"); }},
                                           {"TopK", foremost},
                                           {"Gemm", generalProduct},
                                           {"MatMul", product},
                                           {"GlobalAveragePool", [](OnnxGraph& graph) { global(graph, "mean.dim"); }},
                                           {"GlobalMaxPool", [](OnnxGraph& graph) { global(graph, "amax.default"); }},
                                           {"ReduceMean", [](OnnxGraph& graph) { reduction(graph, "mean.dim"); }},
                                           {"ReduceSum", [](OnnxGraph& graph) { reduction(graph, "sum.dim_IntList"); }},
                                           {"ReduceMax", [](OnnxGraph& graph) { reduction(graph, "amax.default"); }},
                                           {"ReduceMin", [](OnnxGraph& graph) { reduction(graph, "amin.default"); }}};
  return kOperators;
}

}  // namespace tbem::imports
