// What torch.optim takes beside weights and gradients: its state, made in the first step, and what an update or a clipping of
// gradients needs while it runs.
#pragma once

#include "compiler/pytorch/eager/EagerTape.h"

#include <functional>
#include <string>
#include <vector>

namespace tbem::estimate {

/// The optimiser of a training step. Lists are in the order of the weights of the graph.
struct EagerOptimizer {
  std::string name;                        ///< as declared: "adam"
  bool clipsNorm = false, decays = false;  ///< has clip_norm; has weight_decay other than 0
  std::vector<std::uint64_t> bytes;        ///< by weight
  std::vector<std::uint64_t> elements;     ///< by weight
  std::vector<std::uint64_t> states;       ///< bytes by tensor of its state, weight after weight
};
/// `bytesOf` answers for every weight and state of the graph.
EagerOptimizer eagerOptimizer(const graph::Graph& graph, const std::function<std::uint64_t(graph::TensorId)>& bytesOf);

/// torch.nn.utils.clip_grad_norm_, by foreach. Cutting each element by itself takes nothing.
void clipNorm(const EagerOptimizer& optimizer, EagerDevice device, EagerTape& tape);

/// Optimizer.step(); `first`: the state is made.
void update(const EagerOptimizer& optimizer, const EagerOptions& options, bool first, EagerTape& tape);

}  // namespace tbem::estimate
