// Which weights a training step moves, and which optimiser moves them: clauses `freeze` and `optimizer .. on ..`, PyTorch's
// parameter groups and `requires_grad_(False)`.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/syntax/tree/Ast.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::graph {

/// Weights by their paths. "stage[2].residual", whose loops' turns may be left out, is a weight or everything inside; a pattern
/// such as "*.bias", where `*` stands for any characters, is each weight whose whole path it fits; a text without one is a place.
struct WeightPlace {
  std::string text;
  bool isPattern = false;
  SrcRange range;

  bool names(std::string_view path) const;
};

/// `optimizer adam(lr: 0.001) on head`
struct ParameterGroup {
  const ast::Expr* optimizer = nullptr;
  std::string text;              ///< of the optimiser, as a person writes it
  std::optional<Rational> rate;  ///< its `lr`, where it is a number; of trainings
  /// The factor, if any, that stands for that rate (ExperimentSpec::rateFactor).
  std::optional<std::uint32_t> rateFactor;
  std::vector<WeightPlace> places;
  bool elsewhere = false;  ///< a step of their own moves them (TurnSpec), so that in this one they stay
};

struct ParameterGroups {
  std::vector<WeightPlace> frozen;
  std::vector<ParameterGroup> groups;  ///< all other weights are the step's own optimiser's; those elsewhere are the last ones
  std::vector<WeightPlace> only;       ///< not empty: all other weights stay
};

constexpr std::uint32_t kStays = UINT32_MAX;

/// By weight of the graph: kStays: it is frozen, whatever group it is in; 0: the step's own optimiser moves it; g + 1: that of
/// groups[g].
struct WeightChoice {
  std::vector<std::uint32_t> of;
  const WeightPlace* unmet = nullptr;  ///< names no weight
  const WeightPlace* again = nullptr;  ///< names `weight`, which another group has
  std::string weight;
};
/// What it points to is of `groups`.
WeightChoice chooseWeights(const Graph& graph, const ParameterGroups& groups);

}  // namespace tbem::graph
