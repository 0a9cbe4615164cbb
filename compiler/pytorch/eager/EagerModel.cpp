#include "compiler/pytorch/eager/EagerModel.h"

#include <algorithm>
#include <unordered_map>

namespace tbem::estimate {

namespace {

/// By weight, the operators whose buffers come behind it: it is the last of their weights.
std::unordered_map<graph::TensorId, std::vector<const EagerOperator*>> layersByLastWeight(const graph::Graph& graph,
                                                                                          const EagerOperators& operators) {
  std::vector<std::size_t> places(graph.tensors.size(), 0);
  for (std::size_t i = 0; i < graph.weights.size(); ++i) places[graph::index(graph.weights[i].value)] = i;
  std::unordered_map<graph::TensorId, std::vector<const EagerOperator*>> layers;
  for (const EagerOperator& op : operators) {
    const auto placeOf = [&](graph::TensorId weight) { return places[graph::index(weight)]; };
    if (!op.buffers.empty() && !op.weights.empty()) layers[*std::ranges::max_element(op.weights, {}, placeOf)].push_back(&op);
  }
  return layers;
}

}  // namespace

void makeModel(const graph::Graph& graph, const EagerOperators& operators,
               const std::function<std::uint64_t(graph::TensorId)>& bytes, EagerTape& tape, std::vector<EagerId>& memory) {
  const auto make = [&](graph::TensorId tensor, EagerKind kind) {
    EagerId& there = memory[graph::index(tensor)];
    if (there == kNoEagerTensor) there = tape.allocate(bytes(tensor), kind);
  };
  constexpr std::uint64_t kBatchesTracked = 8;  // BatchNorm.num_batches_tracked, one i64
  const auto makeBuffers = [&](const EagerOperator& op) {
    for (const graph::TensorId buffer : op.buffers) make(buffer, EagerKind::Buffers);
    if (op.name == "batch_norm") tape.allocate(kBatchesTracked, EagerKind::Buffers);
  };
  const auto layers = layersByLastWeight(graph, operators);
  for (const graph::Graph::Weight& weight : graph.weights) {
    make(weight.value, EagerKind::Weights);
    const auto layer = layers.find(weight.value);
    if (layer == layers.end()) continue;
    for (const EagerOperator* op : layer->second) makeBuffers(*op);
  }
  for (const EagerOperator& op : operators) {
    if (op.weights.empty()) makeBuffers(op);
  }
  for (const graph::TensorId buffer : graph.buffers) make(buffer, EagerKind::Buffers);
  for (const graph::TensorId input : graph.inputs) make(input, EagerKind::Input);
}

}  // namespace tbem::estimate
