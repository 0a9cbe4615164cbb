// The tape on which a step of eager PyTorch is written down: a tensor's memory lives while something holds it.
#pragma once

#include "compiler/pytorch/eager/EagerStep.h"

#include <string>
#include <utility>
#include <vector>

namespace tbem::estimate {

/// Index into EagerStep::tensors.
using EagerId = std::uint32_t;
constexpr EagerId kNoEagerTensor = UINT32_MAX;  ///< holds nothing, and may be held and released

class EagerTape {
public:
  /// Writes into `step`, which outlives it. `tensors`: about how many there will be; more are taken too.
  EagerTape(EagerStep& step, std::size_t tensors) : step(step) {
    step.tensors.reserve(tensors);
    holders.reserve(tensors);
    step.events.reserve(2 * tensors);
  }

  /// What is allocated from now on is made by this operator.
  void setOperator(std::uint32_t op) { current = op; }
  /// From here on, of this step.
  void mark(std::string phase, int number) { step.marks.push_back({std::move(phase), step.events.size(), number}); }

  /// Held once, by the caller.
  EagerId allocate(std::uint64_t bytes, EagerKind kind) { return allocate(EagerWorkspace{bytes, bytes, bytes, {}}, kind); }
  EagerId allocate(const EagerWorkspace& size, EagerKind kind) {
    const auto id = static_cast<EagerId>(step.tensors.size());
    step.tensors.push_back({size, kind, current});
    holders.push_back(1);
    step.events.push_back({id, false});
    return id;
  }
  EagerId hold(EagerId id) {
    if (id != kNoEagerTensor) ++holders[id];
    return id;
  }
  bool isShared(EagerId id) const { return id != kNoEagerTensor && holders[id] > 1; }
  /// Frees what nobody holds any more.
  void release(EagerId id) {
    if (id != kNoEagerTensor && --holders[id] == 0) step.events.push_back({id, true});
  }

private:
  EagerStep& step;
  std::vector<std::uint32_t> holders;  ///< by tensor of the step
  std::uint32_t current = kNoEagerOp;
};

}  // namespace tbem::estimate
