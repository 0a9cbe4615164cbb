// What an element-wise expression is, beside what it computes. Internal to compiler/emit/python.
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

/// What a node of the expression is, for frameworks that do not make whole numbers real ones beside such. In this order the
/// larger one is what two of them make together; a literal is a whole number that is either.
enum class NumberKind : std::uint8_t { Bool, Literal, Whole, Real };
NumberKind kindOf(const graph::Row& row, const graph::Op& op, std::uint32_t node);

}  // namespace tbem::emit
