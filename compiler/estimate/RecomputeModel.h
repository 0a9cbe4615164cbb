// What a step takes, in bytes and FLOPs, if some forward values are computed again in its backward pass: a model that is quick to
// ask, made from the step as it was lowered without repetitions. It counts bytes of live values, their workspaces, and results
// that take an operand's place, operator by operator; lowering then says what is so.
#pragma once

#include "compiler/estimate/Flops.h"
#include "compiler/estimate/Program.h"
#include "compiler/graph/Checkpoint.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

class RecomputeModel {
public:
  /// `order`: in which the operators run, `kept`: values that the caller reads after the step.
  RecomputeModel(const graph::Graph& graph, const Program& program, std::vector<graph::OpId> order,
                 const std::vector<graph::TensorId>& kept, std::vector<double> flops);

  struct Cost {
    std::uint64_t peak = 0;  ///< bytes, persistent ones included
    double excess = 0;       ///< bytes over the limit, summed over the operators during which they are over it
    double flops = 0;        ///< of repetitions
  };
  /// `keep`, by storage, as graph::repeats takes it.
  Cost cost(const std::vector<bool>& keep, std::uint64_t limit) const;

  const graph::Graph& graph() const { return network; }
  const graph::Repeatable& which() const { return repeatable; }
  std::uint64_t bytes(std::uint32_t storage) const { return storages[storage].bytes; }

private:
  struct OpUse {
    std::vector<std::uint32_t> reads, writes;  ///< storages, each once
    std::uint64_t workspace = 0;
    double flops = 0;
    bool isLoop = false, isForward = false;
  };
  struct StorageUse {
    std::uint64_t bytes = 0;
    bool fused = false;  ///< made and used within one loop: takes memory only if it outlives the forward pass
    bool persistent = false, kept = false;
  };

  const graph::Graph& network;
  std::vector<graph::OpId> order;
  graph::Repeatable repeatable;
  std::vector<OpUse> ops;  ///< by operator
  std::vector<StorageUse> storages;
  std::uint64_t persistent = 0;
};

}  // namespace tbem::estimate
