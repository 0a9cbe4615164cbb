// Element-wise operators that only scale one operand, round it or hide what lies behind a diagonal: what stands between the
// products and the softmax of an attention. Inside compiler/lower only.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <optional>

namespace tbem::estimate {

/// x times a number, and `hidden` in its place where the column is behind the row, if it is causal.
struct Scaling {
  double factor = 1;
  bool causal = false;
  double hidden = 0;
  bool isNothing() const { return factor == 1 && !causal; }
};

/// One behind the other; nothing where that is none.
std::optional<Scaling> joined(const Scaling& first, const Scaling& then);

/// Of an element-wise operator with one operand, which it reads at the same element; numbers are those of the row. Casts between
/// f32, bf16 and f16 count as nothing. Nothing where it is another operator.
std::optional<Scaling> scalingOf(const graph::Graph& graph, const sema::Values& values, graph::OpId id);

}  // namespace tbem::estimate
