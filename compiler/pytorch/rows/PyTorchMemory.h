// What a row takes of a GPU in eager PyTorch: its step, the allocator's replay, what a process takes beside it, and bounds.
#pragma once

#include "compiler/pytorch/rows/EagerSteps.h"

#include <array>
#include <cstdint>
#include <optional>

namespace tbem::driver {

/// Bytes of the device, beside the estimate.
struct MemoryBounds {
  /// Proved of the step: live tensors in blocks of 512 bytes, with each convolution's smallest engine, and what was measured.
  std::uint64_t lower = 0;
  std::uint64_t lowerEngines = 0;    ///< the estimate's engines, less the smallest
  std::uint64_t lowerAllocator = 0;  ///< what the allocator does not hand out or hands out whole
  /// A replay with each convolution's largest engine, and what was measured. Not proved: with other requests best fit can take
  /// more segments for less. None: nobody can say what a convolution takes at most.
  std::optional<std::uint64_t> upper;
  std::uint64_t upperEngines = 0;
};

struct PyTorchMemory {
  const RowState* row = nullptr;
  estimate::EagerStep step;
  estimate::EagerPeak live;                         ///< of tensors; on CUDA in blocks of 512 bytes
  std::optional<estimate::EagerMemory> cuda;        ///< of the allocator
  std::array<estimate::BesideTensors, 3> beside{};  ///< where --device names one
  std::optional<MemoryBounds> bounds;               ///< on CUDA
  bool complete = false;                            ///< nothing of the device is left out: all of `beside` was measured

  std::uint64_t measuredBeside() const;
  /// What the estimate is: of the device as far as it was measured, on the processor live tensors.
  std::uint64_t point() const { return cuda ? cuda->reserved + measuredBeside() : live.bytes; }
};

/// Errors: the row has no number, or gates.
tl::expected<PyTorchMemory, estimate::NoValue> pytorchMemory(const RowState& row, EagerSteps& steps);

}  // namespace tbem::driver
