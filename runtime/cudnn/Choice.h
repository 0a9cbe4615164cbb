// Which engine of a list is taken: the first that may be, as cuDNN's users do (PyTorch's eager convolutions among them).
#pragma once

#include "runtime/cudnn/Problem.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>

namespace tbem::cudnn {

struct Policy {
  /// f32 convolutions may round their inputs to TF32 for tensor cores. The graph interface has no such mode: with it off, engines
  /// noted TENSOR_CORE or DOWN_CONVERT_INPUTS are left out for f32, as PyTorch does.
  bool tf32 = true;
  bool nondeterministic = true;                                     ///< engines may add in an order that changes from run to run
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  ///< of an engine's workspace, bytes
};

/// Whether an engine may be taken, whatever its workspace.
bool mayTake(const Problem& problem, const Engine& engine, const Policy& policy);
/// The first that may be taken within the limit; nothing where there is none.
std::optional<std::size_t> first(const Problem& problem, std::span<const Engine> engines, const Policy& policy);
/// Of those that may be taken the one with the least workspace, the earlier of equals; the limit does not count.
std::optional<std::size_t> smallest(const Problem& problem, std::span<const Engine> engines, const Policy& policy);
/// The same with the most workspace.
std::optional<std::size_t> largest(const Problem& problem, std::span<const Engine> engines, const Policy& policy);

}  // namespace tbem::cudnn
