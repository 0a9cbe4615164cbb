// What an element-wise expression is, beside what it computes. Internal to compiler/emit/pytorch.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <cstdint>
#include <optional>

namespace tbem::emit {

/// The value of the node, where it reads no tensor, no coordinate and no random number.
std::optional<double> numberOf(const graph::Row& row, const graph::Op& op, std::uint32_t node);
/// Whether what is read reaches along every dimension of the result, so that PyTorch gives it the result's shape.
bool spansResult(const graph::Row& row, const graph::Op& op);
/// Whether PyTorch's own rules of types may give another one than the result's.
bool changesType(const graph::Row& row, const graph::Op& op);

}  // namespace tbem::emit
