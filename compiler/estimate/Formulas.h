// A structure's estimate in closed form: parameters, FLOPs and static memory as expressions over the design's symbols. A
// structure is elaborated once; its rows are then values of these expressions, which native code computes for many rows at a time
// (compiler/jit/rows/RowKernel.h).
//
// The largest sum of live bytes is an expression too: a running sum over the operators, and at each moment that can be the
// highest a comparison with the highest so far.
#pragma once

#include "compiler/estimate/Estimate.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::estimate {

struct Formulas {
  sema::ExprPool pool;                   ///< the structure's, and what was added to it
  std::vector<sema::ExprId> roots;       ///< all that a row's estimate is made of; where each stands is this file's business
  std::vector<std::string> operators;    ///< as Flops::byOperator
  std::vector<graph::OpId> order;        ///< operators as they run: the moment of the peak is a position
  std::vector<sema::ExprId> conditions;  ///< to be looked at by themselves: they depend on symbols of `inexact`
};

/// `inexact`, by SymbolId: symbols with levels that no double is equal to (a learning rate of 0.01); conditions on them are left
/// to Formulas::conditions. Nothing for structures with gates, whose paths are compared in 128 bits, and for those that cannot be
/// lowered in any row.
std::optional<Formulas> formulasOf(const graph::Structure& structure, const std::vector<bool>& inexact,
                                   const Convention& convention);

/// The estimate of a row; `values`: of the roots, whole numbers below 2^53. Nothing where the row breaks a condition or has a
/// size out of range: the graph of that row says which. Of StaticMemory what `live` lists is not known here.
std::optional<Estimate> estimateAt(const Formulas& formulas, const graph::Graph& graph, std::span<const double> values);

}  // namespace tbem::estimate
