// How FLOPs are counted: what each author's counter takes of an operator. Figures of two papers compare only where both are
// counted by one convention.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tbem::estimate {

/// What a convention counts of an operator whose declaration has `flops mac: m, add: a` and whose results have r elements
/// together: mac * m + other * a + result * r, and bias * r where it has a bias, and side * r times the height of its window
/// where it pools.
struct CountRule {
  std::string_view declaration;  ///< the operator's name in the language
  int mac = 0, other = 0, result = 0, bias = 0, side = 0;
};

struct Convention {
  std::string_view name;
  CountRule others;                           ///< operators without a rule of their own
  std::span<const CountRule> rules;           ///< by declaration; the gradient of an operator is counted as the operator is
  std::span<const std::string_view> without;  ///< blocks in which nothing is counted
  bool timesGroups = false;                   ///< a grouped convolution counts its groups times as much, as if it had one
};

/// `full` (the default), `mac`, `flop2`, `deepperform`, `sdn`.
std::span<const Convention> conventions();
const Convention& fullConvention();
const Convention* findConvention(std::string_view name);

/// What a convention counts of one operator: groups * (mac and other for each of its parts, and, for each element of its results,
/// result + side * window).
struct CountWeights {
  int mac = 0, other = 0, result = 0, side = 0;
  graph::ExprId groups = sema::kNoExpr;  ///< kNoExpr: 1
  graph::ExprId window = sema::kNoExpr;  ///< the height of what it pools; kNoExpr: 1
  int of(const graph::FlopPart& part) const { return part.name == "mac" ? mac : other; }
  bool countsResults() const { return result != 0 || side != 0; }
};
/// Of the parts that an operator's gradient has, those that its rule counts; a gradient's results count nothing.
CountWeights countWeights(const Convention& convention, const graph::Graph& graph, const graph::Op& op);

}  // namespace tbem::estimate
