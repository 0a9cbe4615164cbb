// A row lowered with activations computed again in its backward pass (clause `checkpoint`).
//
// What is chosen depends on the row's numbers and on the device: the limit is one on the arena that is planned there. Choices
// come from a model (RecomputeChoice.h); each that is tried is lowered, and the plan decides.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/graph/pass/Checkpoint.h"
#include "compiler/lower/Lower.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::estimate {

/// What is computed again in one block.
struct RecomputedBlock {
  std::string path;                    ///< of the block directly below the network; "" for operators of the network itself
  std::vector<std::string> operators;  ///< their declarations, each once, in the order in which they run
  std::size_t count = 0;               ///< operators
  Count flops = 0;
};

struct Recomputation {
  std::vector<RecomputedBlock> blocks;  ///< in the order of the forward pass
  Count flops = 0;
  Count step = 0;               ///< FLOPs of the step without them
  std::uint64_t arenaKept = 0;  ///< planned with everything kept
  std::uint64_t arena = 0;      ///< planned with this
  std::optional<std::uint64_t> limit;
  double share() const { return step == 0 ? 0 : toDouble(flops) / toDouble(step); }  ///< FLOPs for each one of the step without
  bool fits = true;  ///< false: no choice was found that keeps the limit; this is the lowest one
};

struct Checkpointed {
  graph::Graph graph;
  Program program;
  Recomputation report;
};

/// Errors: as `lower`'s, and a place that names no block (E0339).
tl::expected<Checkpointed, LowerError> lowerCheckpointed(const graph::Graph& graph, const sema::Values& values,
                                                         const tbem_backend& backend, const LowerOptions& options,
                                                         const graph::CheckpointSpec& spec);

}  // namespace tbem::estimate
