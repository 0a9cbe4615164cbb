// The inputs of a design's network in a graph. Internal to this folder.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::graph {

/// Adds what one declared tensor of the network takes: an input of the shape that the design gives, or of its declared one where
/// all dimensions are factors or numbers, in a row with these levels; for a list of tensors an input for each shape of the given
/// list (`xs[0]`, `xs[1]`, ..). Nothing after a report.
std::optional<sema::Value> addInputs(Elaborator& e, Session& session, const ExperimentSpec& spec, const ast::Callable& network,
                                     const ast::Parameter& tensor, const std::vector<Local>& factors,
                                     std::span<const std::uint32_t> levels);

}  // namespace tbem::graph
