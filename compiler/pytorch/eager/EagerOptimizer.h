// What torch.optim takes beside weights and gradients: its state, made in the first step, and what an update or a clipping of
// gradients needs while it runs.
#pragma once

#include "compiler/pytorch/eager/EagerTape.h"

#include <functional>
#include <string>
#include <vector>

namespace tbem::estimate {

/// What one optimiser of a training step, or one group of its parameters, moves: weights that have gradients, in the order of the
/// graph.
struct EagerGroup {
  std::string name;                   ///< as declared: "adam"
  bool decays = false;                ///< has weight_decay other than 0
  bool nesterov = false;              ///< looks ahead, by a gradient of its own
  std::vector<std::uint64_t> bytes;   ///< by weight
  std::vector<std::uint64_t> states;  ///< bytes by tensor of its state, weight after weight
};

struct EagerOptimizer {
  std::vector<EagerGroup> groups;       ///< those that move any weight
  bool clipsNorm = false;               ///< one of them has clip_norm
  std::vector<std::uint64_t> elements;  ///< of each gradient, in the order of the graph

  /// "adam"; of several, "adam, sgd".
  std::string names() const;
};
/// `bytesOf` answers for every weight and state of the graph.
EagerOptimizer eagerOptimizer(const graph::Graph& graph, const sema::Values& values,
                              const std::function<std::uint64_t(graph::TensorId)>& bytesOf);

/// torch.nn.utils.clip_grad_norm_, by foreach. Cutting each element by itself takes nothing.
void clipNorm(const EagerOptimizer& optimizer, EagerDevice device, EagerTape& tape);

/// Optimizer.step(); `first`: the state is made.
void update(const EagerOptimizer& optimizer, const EagerOptions& options, bool first, EagerTape& tape);

}  // namespace tbem::estimate
