// What of a graph a spec names: the inputs of its network.
// Internal to compiler/graph.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::graph {

/// The factors of a row: as names with their values, and by the numbers of their levels.
struct RowFactors {
  const std::vector<sema::Local>& values;
  std::span<const std::uint32_t> levels;
};

/// Adds what one declared tensor of the network takes: an input of the shape that the design gives, or of its declared one where
/// all dimensions are factors or numbers, in a row with these levels; for a list of tensors an input for each shape of the given
/// list (`xs[0]`, `xs[1]`, ..). Nothing after a report.
std::optional<sema::Value> addInputs(Elaborator& e, Session& session, const ExperimentSpec& spec, const ast::Callable& network,
                                     const ast::Parameter& tensor, const RowFactors& row);

/// The inputs of ExperimentOptions::wanted. Nothing after a report.
std::optional<std::vector<TensorId>> wantedInputs(Session& session, const ExperimentSpec& spec, const ExperimentOptions& options,
                                                  const Graph& graph);

}  // namespace tbem::graph
