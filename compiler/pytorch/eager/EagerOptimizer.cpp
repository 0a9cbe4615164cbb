#include "compiler/pytorch/eager/EagerOptimizer.h"

#include "compiler/count/Layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tbem::estimate {

namespace {

/// By weight of the graph: its states, in the order in which the optimiser has them.
std::vector<std::vector<graph::TensorId>> statesOf(const graph::Graph& graph) {
  const auto pathOf = [&graph](graph::TensorId tensor) -> std::string_view { return graph[graph[tensor].storage].path; };
  std::unordered_map<std::string_view, std::size_t> places;
  for (const graph::Graph::Weight& weight : graph.weights) places.try_emplace(pathOf(weight.value), places.size());
  std::vector<std::vector<graph::TensorId>> states(graph.weights.size());
  for (const graph::TensorId state : graph.states) {
    const std::string_view path = pathOf(state);  // of the weight, and the state's name behind a dot
    const auto place = places.find(path.substr(0, path.rfind('.')));
    if (place != places.end()) states[place->second].push_back(state);
  }
  return states;
}

/// A number that an optimiser was given; 0 where it has none of that name.
double numberOf(const graph::Graph::Optimizer& optimizer, const sema::Values& values, std::string_view name) {
  const auto number = std::ranges::find(optimizer.numbers, name, &std::pair<std::string, graph::ExprId>::first);
  return number != optimizer.numbers.end() ? values[number->second].toDouble() : 0;
}

/// All at once, then given back.
void useTemporaries(const std::vector<std::uint64_t>& sizes, EagerTape& tape) {
  std::vector<EagerId> all;
  all.reserve(sizes.size());
  for (const std::uint64_t size : sizes) all.push_back(tape.allocate(size, EagerKind::Temporaries));
  for (const EagerId id : all) tape.release(id);
}

}  // namespace

std::string EagerOptimizer::names() const {
  std::vector<std::string_view> all;
  for (const EagerGroup& group : groups) {
    if (std::ranges::find(all, group.name) == all.end()) all.push_back(group.name);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

EagerOptimizer eagerOptimizer(const graph::Graph& graph, const sema::Values& values,
                              const std::function<std::uint64_t(graph::TensorId)>& bytesOf) {
  EagerOptimizer optimizer;
  for (const graph::Graph::Optimizer& each : graph.optimizers) {
    optimizer.groups.push_back(
        {each.declaration, numberOf(each, values, "weight_decay") != 0, numberOf(each, values, "nesterov") != 0, {}, {}});
  }
  const std::vector<std::vector<graph::TensorId>> states = statesOf(graph);
  for (std::size_t w = 0; w < graph.weights.size(); ++w) {
    const graph::Graph::Weight& weight = graph.weights[w];
    if (weight.gradient == graph::kNoTensor) continue;  // torch.optim passes over what has none
    EagerGroup& group = optimizer.groups[weight.optimizer];
    group.bytes.push_back(bytesOf(weight.value));
    optimizer.elements.push_back(group.bytes.back() / elementBytes(graph[weight.value].dtype));
    optimizer.clipsNorm = optimizer.clipsNorm || numberOf(graph.optimizers[weight.optimizer], values, "clip_norm") != 0;
    for (const graph::TensorId state : states[w]) group.states.push_back(bytesOf(state));
  }
  std::erase_if(optimizer.groups, [](const EagerGroup& group) { return group.bytes.empty(); });
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

namespace {

bool isAdam(const EagerGroup& group) { return group.name == "adam" || group.name == "adamw"; }
bool hasRoots(const EagerGroup& group) { return isAdam(group) || group.name == "rmsprop" || group.name == "adagrad"; }
/// Whether the decay is added to the gradient, and not taken off the weight itself.
bool addsDecay(const EagerGroup& group) { return group.decays && group.name != "adamw"; }

/// One weight after the other. What a weight was divided by lives until the next one has its own, as PyTorch's loop assigns it to
/// one variable; so does a gradient that was made for it, until the next gradient is looked at.
void updateInLoop(const EagerGroup& group, EagerTape& tape) {
  EagerId divisor = kNoEagerTensor, gradient = kNoEagerTensor;
  for (const std::uint64_t bytes : group.bytes) {
    const auto make = [&] { return tape.allocate(bytes, EagerKind::Temporaries); };
    tape.release(std::exchange(gradient, kNoEagerTensor));
    if (addsDecay(group)) gradient = make();
    if (group.nesterov) tape.release(std::exchange(gradient, make()));
    if (!hasRoots(group)) continue;
    const EagerId root = make();
    const EagerId quotient = isAdam(group) ? make() : tape.hold(root);
    tape.release(root);
    tape.release(std::exchange(divisor, quotient));
  }
  tape.release(gradient);
  tape.release(divisor);
}

void updateGroup(const EagerGroup& group, const EagerOptions& options, bool first, EagerTape& tape) {
  if (first) {
    const bool countsOnDevice = options.device == EagerDevice::Cpu || options.update == EagerUpdate::Fused;
    for (std::size_t w = 0; hasRoots(group) && countsOnDevice && w < group.bytes.size(); ++w)
      tape.allocate(4, EagerKind::Optimizer);
    for (const std::uint64_t state : group.states) tape.allocate(state, EagerKind::Optimizer);
  }
  if (options.update == EagerUpdate::Fused) return;
  if (options.update == EagerUpdate::Loop) return updateInLoop(group, tape);
  std::vector<std::uint64_t> sizes;
  for (int list = 0; list < static_cast<int>(addsDecay(group)) + static_cast<int>(hasRoots(group)); ++list)
    sizes.insert(sizes.end(), group.bytes.begin(), group.bytes.end());
  useTemporaries(sizes, tape);
}

}  // namespace

void update(const EagerOptimizer& optimizer, const EagerOptions& options, bool first, EagerTape& tape) {
  for (const EagerGroup& group : optimizer.groups) updateGroup(group, options, first, tape);
}

}  // namespace tbem::estimate
