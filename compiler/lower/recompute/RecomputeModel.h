// What a step takes, in bytes and FLOPs, if some forward values are computed again in its backward pass: a model that is quick to
// ask, made from the step as it was lowered without repetitions. It counts bytes of live values, their workspaces, and results
// that take an operand's place, operator by operator; lowering then says what is so.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/graph/pass/Checkpoint.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

class RecomputeModel {
public:
  /// `order`: in which the operators run, `keptValues`: those that the caller reads after the step.
  RecomputeModel(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& order,
                 const std::vector<graph::TensorId>& keptValues, const std::vector<double>& flops);

  struct Cost {
    std::uint64_t peak = 0;  ///< bytes, persistent ones included
    double excess = 0;       ///< bytes over the limit, summed over the operators during which they are over it
    double flops = 0;        ///< of repetitions
  };
  /// `keep`, by storage, as graph::Repeater takes it. Asked some ten thousand times for one step, so it reuses its memory.
  Cost cost(const std::vector<bool>& keep, std::uint64_t limit);

  const graph::Graph& graph() const { return network; }
  const graph::Repeatable& which() const { return repeatable; }
  std::uint64_t bytes(std::uint32_t storage) const { return values[storage].bytes; }

private:
  struct OpUse {
    std::uint32_t reads = 0, writes = 0, end = 0;  ///< where its storages begin and end in `used`
    std::uint64_t workspace = 0;
    double flops = 0;
    bool isLoop = false, isForward = false;
  };
  /// The first value of a storage, or, behind them all, its repetition.
  struct Value {
    std::uint64_t bytes = 0;
    std::uint32_t last = 0;  ///< step of the last use
    bool live = false;
  };
  void findLastUses(const std::vector<graph::Repeat>& steps);

  const graph::Graph& network;
  graph::Repeatable repeatable;
  graph::Repeater repeater;
  std::vector<OpUse> ops;           ///< by operator
  std::vector<std::uint32_t> used;  ///< storages that operators read and write, each once for each; none that are persistent
  std::vector<std::uint32_t> kept;  ///< storages that the caller reads after the step
  std::vector<std::uint32_t> changeable;  ///< storages that can be repeated
  std::uint64_t persistent = 0;
  // Of the question in hand.
  std::vector<Value> values;
  std::vector<std::uint32_t> readBehind;  ///< by storage: the value of it that is read behind the forward pass
};

}  // namespace tbem::estimate
