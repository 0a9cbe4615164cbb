#include "runtime/perturb/Hardener.h"

#include "runtime/perturb/Mover.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tbem::perturb {

namespace {

/// What is kept from step to step. The mover refers to the method, so neither is moved.
struct Hardener {
  Hardener(Method of, std::unique_ptr<runtime::Instance> at, std::int64_t moved)
      : method(std::move(of)), instance(std::move(at)), mover(method, *instance), moved(moved) {}

  tl::expected<void, std::string> move(std::vector<float>& numbers, std::int64_t step) {
    batch.inputs = numbers;
    mover.begin(batch, {});
    for (std::int64_t k = 0; k < method.steps; ++k) {
      const auto done = mover.step(static_cast<std::uint64_t>((step - 1) * method.steps + k + 1));
      if (!done) return tl::unexpected(done.error().message);
    }
    const std::size_t elements = numbers.size() / batch.examples.size();
    const auto end = mover.points().begin() + static_cast<std::ptrdiff_t>(elements * static_cast<std::size_t>(moved));
    std::copy(mover.points().begin(), end, numbers.begin());
    return {};
  }

  Method method;
  std::unique_ptr<runtime::Instance> instance;
  Mover mover;
  std::int64_t moved;
  Batch batch;
};

}  // namespace

train::Hardening hardening(Method method, std::int64_t batch, std::int64_t moved) {
  train::Hardening hardening;
  hardening.executables = {method.mover};
  hardening.create = [method = std::move(method), batch,
                      moved](runtime::Arena& arena) -> tl::expected<train::Hardening::Move, std::string> {
    auto instance = runtime::Instance::create(*method.mover, arena);
    if (!instance) return tl::unexpected(instance.error().message);
    auto hardener = std::make_shared<Hardener>(method, std::move(*instance), moved);
    hardener->batch.examples.resize(static_cast<std::size_t>(batch));
    hardener->batch.count = batch;
    return [hardener](std::vector<float>& numbers, std::int64_t step) { return hardener->move(numbers, step); };
  };
  return hardening;
}

}  // namespace tbem::perturb
