#include "compiler/certify/Certify.h"

#include "compiler/certify/Analysis.h"
#include "compiler/certify/Lowering.h"
#include "compiler/graph/ir/Branches.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tbem::certify {

Network::Network(std::unique_ptr<const Steps> steps) : steps(std::move(steps)) {}
Network::Network(Network&& other) noexcept = default;
Network& Network::operator=(Network&& other) noexcept = default;
Network::~Network() = default;

tl::expected<Network, std::string> Network::of(const graph::Row& row, const ArraysByPath& arrays, std::vector<double> flops) {
  auto steps = lower(row, arrays, std::move(flops));
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

/// Some of the ball's inputs: those for which the skips that were taken apart are decided in one way.
struct Case {
  Bound bound;
  std::unique_ptr<Analysis> open;  ///< where it can be taken apart
};

Case caseOf(const Steps& steps, Analysis& analysis) {
  Case made{analysis.run(), nullptr};
  made.bound.flops = steps.cost(made.bound.rows, true);
  made.bound.least = steps.cost(made.bound.rows, false);
  made.open = analysis.takeOpen();
  return made;
}

/// Of one row in two cases, which inputs come to only in those where it is not -2.
std::int8_t decidedInBoth(std::int8_t a, std::int8_t b) {
  if (a == -2 || a == b) return b;
  return b == -2 ? a : static_cast<std::int8_t>(-1);
}

/// Widens what holds in one case to what holds in the other one as well.
void cover(Bound& bound, const Bound& other) {
  bound.flops = std::max(bound.flops, other.flops);
  bound.least = std::min(bound.least, other.least);
  for (std::size_t g = 0; g < bound.rows.size(); ++g) {
    for (std::size_t row = 0; row < bound.rows[g].size(); ++row)
      bound.rows[g][row] = decidedInBoth(bound.rows[g][row], other.rows[g][row]);
    bound.decided[g] = together(bound.rows[g]);
    if (!bound.scores[g]) {
      bound.scores[g] = other.scores[g];
    } else if (other.scores[g]) {
      bound.scores[g] = {std::min(bound.scores[g]->low, other.scores[g]->low),
                         std::max(bound.scores[g]->high, other.scores[g]->high)};
    }
  }
  for (const std::string& name : other.unsupported)
    if (std::ranges::find(bound.unsupported, name) == bound.unsupported.end()) bound.unsupported.push_back(name);
}

}  // namespace

Bound bound(const Network& network, std::span<const float> example, const Ball& ball, const Limits& limits) {
  const Steps& steps = network.parts();
  Analysis whole(steps, inputsOf(steps, example, ball), limits);
  std::vector<Case> cases;
  cases.push_back(caseOf(steps, whole));
  std::int64_t forms = cases.front().bound.forms, products = cases.front().bound.products;
  for (std::int64_t split = 0; split < limits.splits; ++split) {
    const auto costliest = std::ranges::max_element(cases, {}, [](const Case& some) { return some.bound.flops; });
    // Taking apart another one would not lower what is said of all.
    if (costliest->open == nullptr || costliest->bound.flops == costliest->bound.least) break;
    const Case parent = std::move(*costliest);
    cases.erase(costliest);
    Analysis computed(*parent.open);
    for (const auto& [side, condition] : {std::pair(&computed, false), std::pair(parent.open.get(), true)}) {
      side->takeSide(condition, limits.products / 2);
      Case& made = cases.emplace_back(caseOf(steps, *side));
      forms += made.bound.forms;
      products += made.bound.products;
      made.bound.flops = std::min(made.bound.flops, parent.bound.flops);  // they are some of its inputs
      made.bound.least = std::max(made.bound.least, parent.bound.least);
    }
  }
  Bound all = std::move(cases.front().bound);
  for (std::size_t i = 1; i < cases.size(); ++i) cover(all, cases[i].bound);
  all.forms = forms;
  all.products = products;
  return all;
}

}  // namespace tbem::certify
