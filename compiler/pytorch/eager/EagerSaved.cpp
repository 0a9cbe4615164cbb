#include "compiler/pytorch/eager/EagerSaved.h"

#include <algorithm>

namespace tbem::estimate {

bool records(const EagerOperator& op, const std::vector<bool>& differentiable) {
  const auto reads = [&](graph::TensorId tensor) { return differentiable[graph::index(tensor)]; };
  const bool any = std::ranges::any_of(op.operands, reads) || std::ranges::any_of(op.weights, reads);
  return any && op.gradient != EagerGradient::Stop;
}

bool saves(const EagerOperator& op, graph::TensorId tensor, const std::vector<bool>& differentiable) {
  if (!op.keepsFactors) return true;
  bool hasOthers = false;
  for (const auto* list : {&op.operands, &op.weights}) {
    for (const graph::TensorId other : *list) {
      if (other == tensor || other == op.bias) continue;
      hasOthers = true;
      if (differentiable[graph::index(other)]) return true;
    }
  }
  return !hasOthers;
}

std::vector<std::uint32_t> firstReaders(const EagerOperators& operators, const std::vector<bool>& differentiable) {
  std::vector<std::uint32_t> first(differentiable.size(), kNoEagerOp);
  for (auto op = static_cast<std::uint32_t>(operators.size()); op-- > 0;) {
    for (const graph::TensorId operand : operators[op].operands) {
      if (differentiable[graph::index(operand)]) first[graph::index(operand)] = op;
    }
  }
  return first;
}

}  // namespace tbem::estimate
