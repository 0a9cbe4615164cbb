#include "compiler/lower/order/WeightGradients.h"

#include "compiler/lower/order/OrderOf.h"
#include "compiler/lower/order/OrderSearch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace tbem::estimate {

using graph::OpId;

namespace {
constexpr std::uint32_t kReach = 6;  // operators that may stand between the two

/// The gradient of the input that belongs to this gradient of a weight.
std::optional<tbem_primitive> inputGradientOf(tbem_primitive weightGradient, WeightsOf which) {
  if (weightGradient == TBEM_PRIMITIVE_conv2d_weight_gradient) return TBEM_PRIMITIVE_conv2d_input_gradient;
  if (weightGradient == TBEM_PRIMITIVE_dense_weight_gradient && which == WeightsOf::ConvolutionsAndDenseLayers)
    return TBEM_PRIMITIVE_dense_input_gradient;
  return std::nullopt;
}

/// The place of the gradient of the image that the gradient of the weight at this place may stand in front of; its own where
/// there is none.
std::uint32_t placeBefore(const graph::Graph& graph, const std::vector<OpId>& order, const OrderProblem& problem,
                          std::uint32_t weight, WeightsOf which) {
  const graph::Op& ofWeight = graph[order[weight]];
  const auto wanted = inputGradientOf(ofWeight.primitive, which);
  if (!wanted) return weight;
  for (std::uint32_t image = weight; image-- > 0 && weight - image <= kReach;) {
    if (std::ranges::find(problem.after[image], weight) != problem.after[image].end()) break;
    const graph::Op& ofImage = graph[order[image]];
    if (ofImage.primitive == *wanted && ofWeight.inputs[1] == ofImage.inputs[0]) return image;
  }
  return weight;
}
}  // namespace

std::vector<OpId> weightGradientsFirst(const graph::Graph& graph, const Program& program, const std::vector<OpId>& order,
                                       const std::vector<graph::TensorId>& kept, WeightsOf which) {
  const OrderProblem problem = orderProblem(graph, program, order, kept);
  std::vector<std::uint64_t> live = liveOf(problem);
  const std::uint64_t most = live.empty() ? 0 : *std::ranges::max_element(live);
  std::vector<std::uint64_t> made(order.size(), 0);  // bytes
  for (const OrderProblem::Value& value : problem.values)
    if (value.maker != kNobody) made[value.maker] += value.bytes;
  std::vector<OpId> moved = order;
  for (std::uint32_t weight = 0; weight < order.size(); ++weight) {
    const std::uint32_t image = placeBefore(graph, order, problem, weight, which);
    // What it makes lives longer; that what it reads may die earlier is not counted.
    const std::span<std::uint64_t> longer = std::span(live).subspan(image, weight - image);
    const bool fits = std::ranges::all_of(longer, [&](std::uint64_t here) { return here + made[weight] <= most; });
    if (image == weight || !fits) continue;
    for (std::uint64_t& here : longer) here += made[weight];
    const auto from = std::ranges::find(moved, order[weight]), to = std::ranges::find(moved, order[image]);
    if (to < from) std::rotate(to, from, from + 1);
  }
  return moved;
}

}  // namespace tbem::estimate
