// The loss of a training step. Internal to this folder.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <vector>

namespace tbem::graph {

/// What a loss is given: the network's results, then the targets, which are inputs of their own.
struct LossTensors {
  std::vector<Value> results, targets;
};

/// The targets of a loss: its tensors behind the network's results, whose shapes and types come from its declaration, with
/// dimensions of the results. One is called "target", of several each "target." and its name in the loss. Nothing after a report.
std::optional<LossTensors> addTargets(Elaborator& elaborator, const Value& loss, SrcRange at,
                                      const std::vector<TensorId>& results);

/// `loss` of the tensors; of a network with exits that trains, the sum over its results, weighted by GateTraining::exits. Poison
/// after a report. `at`: the text of the loss.
Value sumOfLosses(Elaborator& elaborator, const GateTraining& gates, const Value& loss, const LossTensors& tensors, SrcRange at);

/// A network as it was applied, with its inputs.
struct AppliedNetwork {
  Value callee;
  std::vector<Local> parameters;
  std::vector<Value> inputs;
  SrcRange use;
};

/// Of a network whose gates were drawn: -weight * the mean over samples of the sum over gates of reward * log(chance of what was
/// drawn), whose gradient is that of the expected reward (Williams 1992, "Simple Statistical Gradient-Following Algorithms for
/// Connectionist Reinforcement Learning", equation 4). `reward`: an operator of the decisions [samples, gates] and of what the
/// loss is given, with a number for each sample and gate as its result, through which no gradient passes. With
/// GateTraining::isSelfCritical the network is applied once more, as it is at inference, and what that earns is taken off. Poison
/// after a report.
Value policyLoss(Elaborator& elaborator, const GateTraining& gates, const Value& reward, const LossTensors& tensors,
                 const AppliedNetwork& network);

}  // namespace tbem::graph
