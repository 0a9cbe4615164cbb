#include "compiler/certify/Certify.h"

#include "compiler/certify/Analysis.h"
#include "compiler/certify/Lowering.h"
#include "compiler/graph/ir/Branches.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tbem::certify {

Network::Network(std::unique_ptr<const Steps> steps) : steps(std::move(steps)) {}
Network::Network(Network&& other) noexcept = default;
Network& Network::operator=(Network&& other) noexcept = default;
Network::~Network() = default;

tl::expected<Network, std::string> Network::of(const graph::Row& row, const ArraysByPath& arrays) {
  auto steps = lower(row, arrays);
  if (!steps) return tl::unexpected(std::move(steps.error()));
  return Network(std::make_unique<const Steps>(std::move(*steps)));
}

std::size_t Network::inputSize() const { return (*steps)[steps->input].shape.count(); }

std::vector<std::string> Network::gates() const {
  std::vector<std::string> paths;
  for (const Gate& gate : steps->gates) paths.push_back(gate.path);
  return paths;
}

namespace {

Inputs inputsOf(const Steps& steps, std::span<const float> example, const Ball& ball) {
  const Shape& shape = steps[steps.input].shape;
  Inputs inputs{Box(shape.count()), std::vector<double>(shape.count()), kInfinity};
  const bool single = steps.arithmetic.unit != kUnit;
  for (std::size_t i = 0; i < example.size(); ++i) {
    const auto centre = static_cast<double>(example[i]);
    Interval around = ball.radius == 0 ? Interval::at(centre) : outward(centre - ball.radius, centre + ball.radius);
    if (single && ball.radius != 0) {
      // An end that is rounded to f32 lies at most at the next number of f32.
      around.low = std::nextafter(static_cast<float>(around.low), -std::numeric_limits<float>::infinity());
      around.high = std::nextafter(static_cast<float>(around.high), std::numeric_limits<float>::infinity());
    }
    const std::size_t at = shape.place(i);
    inputs.around.set(at, {std::clamp(around.low, ball.low, ball.high), std::clamp(around.high, ball.low, ball.high)});
    inputs.centre[at] = std::clamp(centre, ball.low, ball.high);  // moving back to the box moves points no further apart
  }
  if (ball.norm == Norm::L2) {
    double squares = 0;  // of what an input's elements may have been rounded by
    for (std::size_t i = 0; i < inputs.around.size() && single && ball.radius != 0; ++i)
      squares += std::pow(0x1p-24 * inputs.around.at(i).magnitude(), 2);
    inputs.radius = (ball.radius + std::sqrt(squares)) * (1 + 0x1p-20);
  }
  return inputs;
}

}  // namespace

Bound bound(const Network& network, std::span<const float> example, const Ball& ball, const Limits& limits) {
  const Steps& steps = network.parts();
  Bound bound = Analysis(steps, inputsOf(steps, example, ball), limits).run();
  bound.flops = steps.costBelow(graph::kAllSamples, bound.decisions, true);
  bound.least = steps.costBelow(graph::kAllSamples, bound.decisions, false);
  return bound;
}

}  // namespace tbem::certify
