#include "runtime/perturb/Hardener.h"

#include "runtime/perturb/Bounds.h"
#include "runtime/perturb/Mover.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tbem::perturb {

namespace {

/// Its random numbers are none of those that the step draws (dropout, gates), which have the training's own seed.
constexpr std::uint64_t kHardenStream = 0x68617264656E;  // "harden"

/// What is kept from step to step. The mover refers to the method, so neither is moved.
class Hardener final : public train::Hardening::InputMover {
public:
  Hardener(Method of, const Plan& in, std::int64_t moved, std::unique_ptr<runtime::Instance> at)
      : method(std::move(of)), plan(in), moved(moved), instance(std::move(at)), mover(method, *instance) {
    batch.examples.resize(static_cast<std::size_t>(plan.batch));
    batch.count = plan.batch;
  }

  tl::expected<void, std::string> move(std::vector<float>& numbers, std::int64_t step) override {
    batch.inputs = numbers;
    if (std::string problem = outside(); !problem.empty())
      return tl::unexpected(fmt::format("of the batch of step {}, {}", step, problem));
    mover.begin(batch, {});
    for (std::int64_t k = 0; k < method.steps; ++k) {
      const auto done = mover.step(static_cast<std::uint64_t>((step - 1) * method.steps + k + 1));
      if (!done) return tl::unexpected(fmt::format("step {}, {}: {}", step, method.text, done.error().message));
    }
    for (std::int64_t i = 0; i < moved; ++i) {
      const std::span<const float> point = batch.rowOf(mover.points(), i);
      const std::string problem = outsideOfBounds(plan, batch.input(i), point);
      if (!problem.empty()) return tl::unexpected(fmt::format("step {}, {}: a point {}", step, method.text, problem));
      std::ranges::copy(point, numbers.begin() + i * std::ssize(point));
    }
    return {};
  }

private:
  /// Why the examples are no valid inputs, which the method would move into the box whatever they are; "" where they are.
  std::string outside() const {
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const std::string problem = outsideOfBox(plan, batch.input(i));
      if (problem.empty()) continue;
      Range range;
      range.add(batch.inputs);
      return fmt::format("an example {}; numbers of the batch are {}, which `box` of the clause `harden` is to say", problem,
                         range.text());
    }
    return {};
  }

  Method method;
  Plan plan;
  std::int64_t moved;
  std::unique_ptr<runtime::Instance> instance;
  Mover mover;
  Batch batch;
};

}  // namespace

train::Hardening hardening(Method method, const Plan& plan, std::int64_t moved) {
  train::Hardening hardening;
  hardening.executables = {method.mover};
  hardening.create = [method = std::move(method), plan,
                      moved](runtime::Arena& arena) -> tl::expected<std::unique_ptr<train::Hardening::InputMover>, std::string> {
    auto instance = runtime::Instance::create(*method.mover, arena);
    if (!instance) return tl::unexpected(instance.error().message);
    // The training fills its weights behind this.
    if (auto done = (*instance)->initialise(plan.seed ^ kHardenStream); !done) return tl::unexpected(done.error().message);
    return std::make_unique<Hardener>(method, plan, moved, std::move(*instance));
  };
  return hardening;
}

}  // namespace tbem::perturb
