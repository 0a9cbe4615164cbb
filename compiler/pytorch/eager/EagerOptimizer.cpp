#include "compiler/pytorch/eager/EagerOptimizer.h"

#include "compiler/count/Layout.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tbem::estimate {

namespace {

std::string declaredName(const graph::Graph& graph) {
  for (const graph::Op& op : graph.ops) {
    if (op.phase != graph::Phase::Optimizer) continue;
    for (const graph::TensorId output : op.outputs) {
      const bool updates = std::ranges::any_of(graph.weights, [output](const auto& weight) { return weight.after == output; });
      if (updates) return op.declaration;
    }
  }
  return "";
}

/// States in the order of the weights that they belong to, which is that of torch.optim; the graph makes them as its backward
/// pass ends, last weight first.
std::vector<graph::TensorId> statesByWeight(const graph::Graph& graph) {
  const auto pathOf = [&graph](graph::TensorId tensor) -> std::string_view { return graph[graph[tensor].storage].path; };
  std::unordered_map<std::string_view, std::size_t> places;
  for (const graph::Graph::Weight& weight : graph.weights) places.try_emplace(pathOf(weight.value), places.size());
  const auto placeOf = [&](graph::TensorId state) {
    const std::string_view path = pathOf(state);  // of the weight, and the state's name behind a dot
    const auto place = places.find(path.substr(0, path.rfind('.')));
    return place == places.end() ? places.size() : place->second;
  };
  std::vector<graph::TensorId> states = graph.states;
  std::ranges::stable_sort(states, {}, placeOf);
  return states;
}

/// One that is a number of the step: 0 is left out of it.
bool hasOption(const graph::Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.scalars, [name](const auto& one) { return one.name.ends_with(name); });
}

/// All at once, then given back.
void useTemporaries(const std::vector<std::uint64_t>& sizes, EagerTape& tape) {
  std::vector<EagerId> all;
  all.reserve(sizes.size());
  for (const std::uint64_t size : sizes) all.push_back(tape.allocate(size, EagerKind::Temporaries));
  for (const EagerId id : all) tape.release(id);
}

}  // namespace

EagerOptimizer eagerOptimizer(const graph::Graph& graph, const std::function<std::uint64_t(graph::TensorId)>& bytesOf) {
  EagerOptimizer optimizer;
  optimizer.name = declaredName(graph);
  optimizer.clipsNorm = hasOption(graph, "clip_norm");
  optimizer.decays = hasOption(graph, "weight_decay");
  for (const graph::Graph::Weight& weight : graph.weights) {
    optimizer.bytes.push_back(bytesOf(weight.value));
    optimizer.elements.push_back(optimizer.bytes.back() / elementBytes(graph[weight.value].dtype));
  }
  for (const graph::TensorId state : statesByWeight(graph)) optimizer.states.push_back(bytesOf(state));
  return optimizer;
}

// A norm of each gradient, these in one tensor, the norm of that, and the factor in four steps; gradients are scaled in place.
// On CUDA norms are summed from those of pieces, whose numbers gradient by gradient lie beside them. What is taken, and in which
// order, is that of PyTorch 2.15 (test/pytorch/allocator/eager_steps.py --clip).
void clipNorm(const EagerOptimizer& optimizer, EagerDevice device, EagerTape& tape) {
  constexpr std::uint64_t kPiece = 65536, kFloat = 4, kInteger = 8;
  const std::size_t weights = optimizer.elements.size();
  const auto number = [&tape] { return tape.allocate(kFloat, EagerKind::Temporaries); };
  std::vector<EagerId> partial, norms;
  if (device == EagerDevice::Cuda) {
    std::uint64_t pieces = 0;
    for (const std::uint64_t elements : optimizer.elements) pieces += (elements + kPiece - 1) / kPiece;
    for (const std::uint64_t size : {kInteger * (weights + 1), kFloat * pieces})
      partial.push_back(tape.allocate(size, EagerKind::Temporaries));
  }
  for (std::size_t w = 0; w < weights; ++w) norms.push_back(number());
  for (const EagerId id : partial) tape.release(id);
  const EagerId all = tape.allocate(kFloat * weights, EagerKind::Temporaries);
  const EagerId total = number();
  tape.release(all);
  for (const EagerId norm : norms) tape.release(norm);
  const EagerId more = number(), reciprocal = number(), factor = number();
  tape.release(more);
  tape.release(reciprocal);
  const EagerId least = number();
  for (const EagerId id : {least, factor, total}) tape.release(id);
}

void update(const EagerOptimizer& optimizer, const EagerOptions& options, bool first, EagerTape& tape) {
  const bool adam = optimizer.name == "adam" || optimizer.name == "adamw", adagrad = optimizer.name == "adagrad";
  if (first) {
    const bool countsOnDevice = options.device == EagerDevice::Cpu || options.update == EagerUpdate::Fused;
    for (std::size_t w = 0; (adam || adagrad) && countsOnDevice && w < optimizer.bytes.size(); ++w)
      tape.allocate(4, EagerKind::Optimizer);
    for (const std::uint64_t state : optimizer.states) tape.allocate(state, EagerKind::Optimizer);
  }
  if (options.update == EagerUpdate::Fused) return;
  const bool decays = optimizer.decays && optimizer.name != "adamw";  // adamw scales the weight itself
  const bool roots = adam || adagrad || optimizer.name == "rmsprop";
  if (options.update == EagerUpdate::Loop) {
    // the gradient with its decay; the root and what divides it by a number
    const auto number = static_cast<std::size_t>(decays) + (roots ? 2 : 0);
    for (const std::uint64_t bytes : optimizer.bytes) useTemporaries(std::vector<std::uint64_t>(number, bytes), tape);
    return;
  }
  std::vector<std::uint64_t> sizes;
  for (int list = 0; list < static_cast<int>(decays) + static_cast<int>(roots); ++list)
    sizes.insert(sizes.end(), optimizer.bytes.begin(), optimizer.bytes.end());
  useTemporaries(sizes, tape);
}

}  // namespace tbem::estimate
