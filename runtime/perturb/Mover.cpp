#include "runtime/perturb/Mover.h"

#include "runtime/perturb/Tensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::perturb {

using Kind = Failure::Kind;

void Mover::begin(const Batch& of, std::vector<std::int64_t> ofExamples) {
  batch = &of;
  current = of.inputs;
  predictions = std::move(ofExamples);
  states.clear();
  const runtime::Executable& executable = instance.executable();
  for (std::size_t s = 0; s < method.states.size(); ++s)
    states.push_back(zerosOf(executable.buffers[executable.outputs[s + 1]].operand));
}

Result<void> Mover::step(std::uint64_t number) {
  if (auto done = writeInputs(); !done) return done;
  if (auto done = instance.run(number); !done) return failure(Kind::Run, done.error().message);
  return readOutputs();
}

void Mover::put(std::int64_t place, std::span<const float> point) {
  std::ranges::copy(point, current.begin() + place * std::ssize(point));
}

/// All of them before each run: inputs lie among the temporaries of the executables that ran since.
Result<void> Mover::writeInputs() {
  if (!method.point.empty()) {
    if (auto done = writeInput(instance, method.point, current); !done) return done;
  }
  if (!method.seed.empty()) {
    if (auto done = writeInput(instance, method.seed, batch->inputs); !done) return done;
  }
  if (!method.label.empty()) {
    if (auto done = writeInput(instance, method.label, predictions); !done) return done;
  }
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (auto done = writeInput(instance, method.states[s], states[s]); !done) return done;
  }
  return {};
}

Result<void> Mover::readOutputs() {
  const std::vector<std::uint32_t>& outputs = instance.executable().outputs;
  auto points = readNumbers(instance, outputs.front());
  if (!points) return tl::unexpected(points.error());
  if (points->size() != batch->inputs.size()) {
    return failure(Kind::Run, fmt::format("its first output has {} numbers, and {} examples have {}", points->size(),
                                          batch->examples.size(), batch->inputs.size()));
  }
  current = std::move(*points);
  for (std::size_t s = 0; s < states.size(); ++s) {
    auto state = instance.read(outputs[s + 1]);
    if (!state) return failure(Kind::Run, state.error().message);
    states[s] = std::move(*state);
  }
  return {};
}

}  // namespace tbem::perturb
