// The gradients of weights before those of images.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

enum class WeightsOf : std::uint8_t { Convolutions, ConvolutionsAndDenseLayers };

/// `order` with gradients of weights, of those layers, in front of the gradients of their inputs where they stood a few
/// operators behind, as far as no more is live at once than in `order`, by the bytes that values have in `program`. What comes
/// next goes on with the gradient of the image, which then neither waits nor lies beside what the other needs, and on a card may
/// be one launch with what reads it (jit/glue/ChannelRuns.h). `kept`: values that the caller reads after the step.
std::vector<graph::OpId> weightGradientsFirst(const graph::Graph& graph, const Program& program,
                                              const std::vector<graph::OpId>& order, const std::vector<graph::TensorId>& kept,
                                              WeightsOf which);

}  // namespace tbem::estimate
