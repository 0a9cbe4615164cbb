// What autograd records, and what its nodes keep, where only some tensors have gradients. Internal to this folder.
#pragma once

#include "compiler/pytorch/eager/EagerStep.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

/// Whether autograd makes a node of the operator, which keeps what its gradient will read. `differentiable`, by graph tensor: its
/// gradient is wanted, or leads to one that is.
bool records(const EagerOperator& op, const std::vector<bool>& differentiable);

/// Whether the node keeps this one of EagerOperator::kept. A factor is read by the gradients of the others alone; where it is
/// multiplied by itself, by its own.
bool saves(const EagerOperator& op, graph::TensorId tensor, const std::vector<bool>& differentiable);

/// By graph tensor, of those that are `differentiable`: the first operator that reads it, behind which its gradient is complete.
std::vector<std::uint32_t> firstReaders(const EagerOperators& operators, const std::vector<bool>& differentiable);

}  // namespace tbem::estimate
