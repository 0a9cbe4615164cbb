// What moves points, at work on one batch after another. Internal to this folder.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/perturb/Examples.h"
#include "runtime/perturb/Result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tbem::perturb {

class Mover {
public:
  /// Both must outlive it. The instance is one of Method::mover, with its weights.
  Mover(const Method& method, runtime::Instance& instance) : method(method), instance(instance) {}

  /// Takes up a batch, which must outlive the steps: its points are its examples, its states zero.
  void begin(const Batch& batch, std::vector<std::int64_t> predictions);
  /// Moves all points. `number`: of the step, which decides its random numbers.
  Result<void> step(std::uint64_t number);
  /// The point of the place from which the next step begins.
  void put(std::int64_t place, std::span<const float> point);
  std::span<const float> points() const { return current; }  ///< of all places, one after the other

private:
  Result<void> writeInputs();
  Result<void> readOutputs();

  const Method& method;
  runtime::Instance& instance;
  const Batch* batch = nullptr;
  std::vector<float> current;
  std::vector<std::int64_t> predictions;
  std::vector<runtime::HostTensor> states;
};

}  // namespace tbem::perturb
