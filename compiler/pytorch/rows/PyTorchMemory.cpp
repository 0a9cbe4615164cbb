#include "compiler/pytorch/rows/PyTorchMemory.h"

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

using estimate::EagerEngines;

MemoryBounds boundsOf(const PyTorchMemory& memory, const EagerSteps& steps) {
  MemoryBounds bounds;
  const std::uint64_t reserved = memory.cuda->reserved;
  const std::uint64_t least = estimate::eagerPeak(memory.step, estimate::kEagerBlock, EagerEngines::Least).bytes;
  bounds.lower = least + memory.measuredBeside();
  bounds.lowerEngines = memory.live.bytes - least;
  bounds.lowerAllocator = reserved - memory.live.bytes;
  if (!steps.engineListsComplete(memory.step)) return bounds;
  const auto largest = steps.memoryOf(*memory.row->elaborated, memory.step, EagerEngines::Most);
  if (!largest) return bounds;  // they do not fit: what PyTorch takes instead is not known
  const std::uint64_t most = std::max(reserved, largest->reserved);
  bounds.upper = most + memory.measuredBeside();
  bounds.upperEngines = most - reserved;
  return bounds;
}

}  // namespace

std::uint64_t PyTorchMemory::measuredBeside() const {
  std::uint64_t sum = 0;
  for (const estimate::BesideTensors& part : beside) sum += part.bytes.value_or(0);
  return sum;
}

tl::expected<PyTorchMemory, estimate::NoValue> pytorchMemory(const RowState& row, EagerSteps& steps) {
  auto step = steps.of(*row.elaborated);
  if (!step) return tl::unexpected(step.error());
  PyTorchMemory memory;
  memory.row = &row;
  memory.step = std::move(*step);
  if (!steps.onCuda()) {
    memory.live = estimate::eagerPeak(memory.step, 1);
    return memory;
  }
  auto taken = steps.memoryOf(*row.elaborated, memory.step);
  if (!taken) return tl::unexpected(taken.error());
  memory.cuda = std::move(*taken);
  memory.live = memory.cuda->live;
  if (steps.workspaces()) {
    memory.beside = estimate::besideTensors(steps.workspaces()->onDevice());
    memory.complete = std::ranges::all_of(memory.beside, [](const auto& part) { return part.bytes.has_value(); });
  }
  memory.bounds = boundsOf(memory, steps);
  return memory;
}

}  // namespace tbem::driver
