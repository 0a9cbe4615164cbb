// Mixed precision: which operators of a finished graph compute on bf16 or f16.
//
// As PyTorch's autocast for CPUs does it: convolutions, dense layers and products read bf16 and give bf16; what works on their
// results element by element, pools, moves and normalises batches stays in bf16; losses, softmax, logarithms, other normalisation
// and statistics are in f32, and so are weights, their gradients, buffers and the optimiser (Micikevicius et al. 2018,
// arXiv 1710.03740, section 3.1: a master copy of weights).
//
// To say what PyTorch itself would take, its own rules: the same operators read bf16, others by lists that differ by device
// (2.15's, asked of it operator by operator: docs/measurements/2026-11-22-pytorch-autocast.json), and a value is cast for each of
// its readers.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <unordered_map>

namespace tbem::graph {

enum class MixedRules : std::uint8_t { Own, PyTorchCpu, PyTorchCuda };

struct MixedOptions {
  tbem_dtype narrow = TBEM_BF16;
  MixedRules rules = MixedRules::Own;
  std::size_t lossBegin = 0;  ///< operators from this one on compute the loss; as many as there are: none do
  /// By tensor that is a gradient: the value whose gradient it is. It has that value's element type.
  std::unordered_map<std::uint32_t, TensorId> valueOf;
};

/// Gives f32 tensors their narrow type where the rules above say so, and inserts casts where an operator wants another type. The
/// graph has no gates.
void mixPrecision(Graph& graph, const MixedOptions& options);

}  // namespace tbem::graph
