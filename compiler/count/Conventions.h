// How FLOPs are counted: what each author's counter takes of an operator. Figures of two papers compare only where both are
// counted by one convention.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
  std::string_view help;                      ///< a sentence without its end
  CountRule others;                           ///< operators without a rule of their own
  std::span<const CountRule> rules;           ///< by declaration; the gradient of an operator is counted as the operator is
  std::span<const std::string_view> without;  ///< blocks in which nothing is counted
  bool timesGroups = false;                   ///< a grouped convolution counts its groups times as much, as if it had one
};

/// `full` (the default), `mac`, `flop2`, `deepperform`, `sdn`.
std::span<const Convention> conventions();
const Convention& fullConvention();
const Convention* findConvention(std::string_view name);

/// A summand of what a convention counts of an operator: weight * factor * a part, or weight * factor * the elements of a tensor.
struct CountTerm {
  int weight = 0;
  const graph::FlopPart* part = nullptr;          ///< of the operator
  graph::ExprId factor = sema::kNoExpr;           ///< groups, or the height of a window; kNoExpr: 1
  graph::TensorId elementsOf = graph::kNoTensor;  ///< where there is no part
};
/// Of the parts that an operator's gradient has, those that its rule counts; a gradient's results count nothing.
std::vector<CountTerm> countTerms(const Convention& convention, const graph::Graph& graph, const graph::Op& op);

}  // namespace tbem::estimate
