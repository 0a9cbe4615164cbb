// What lies on the device before the first step of a training in eager PyTorch, in the order in which Module.to brings it there.
#pragma once

#include "compiler/pytorch/eager/EagerTape.h"

#include <functional>
#include <vector>

namespace tbem::estimate {

/// Weights, layer by layer, behind each layer its buffers; then the inputs. `memory`, by graph tensor, says where they are.
void makeModel(const graph::Graph& graph, const EagerOperators& operators,
               const std::function<std::uint64_t(graph::TensorId)>& bytes, EagerTape& tape, std::vector<EagerId>& memory);

}  // namespace tbem::estimate
