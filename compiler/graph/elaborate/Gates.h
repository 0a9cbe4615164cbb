// Gates, per sample: `skip` computes one of two arms, `exit` ends the network for the samples whose condition holds.
// Internal to this folder.
//
// `skip` becomes a Skip operator {condition} that owns a region an arm (0: computed, where the condition is false; 1: left, where
// it is true), and a Join {condition, computed, left} behind it. `exit` becomes an Exit {condition, value}; where exits were met,
// the network's result is a Join of all their values and of the last one.
//
// The exits that a network has met so far are here; expressions are evaluated by the elaboration at hand.
#pragma once

#include "compiler/graph/elaborate/Activation.h"

#include <optional>
#include <vector>

namespace tbem::graph {

class Elaborator;

class Gates {
public:
  /// The value of `skip`, in the activation at hand. Poison after a report.
  sema::Value skip(Elaborator& elaborator, const ast::Skip& expr);
  /// False after a report.
  bool exit(Elaborator& elaborator, const ast::Exit& statement);
  bool hasExits() const { return !exits.empty(); }
  /// The result of a network with exits: every exit's value and the last one, put together again. Under `fallback best` the last
  /// one is the best of the exits' values, and the network gives none.
  sema::Value joinExits(Elaborator& elaborator, const Activation& network, sema::Value last);

private:
  std::optional<TensorId> exitCondition(Elaborator& elaborator, const ast::Exit& statement, std::optional<TensorId>& score);
  bool keepBest(Elaborator& elaborator, TensorId score, TensorId value, SrcRange range);

  std::vector<TensorId> exits;  ///< values of the exits met so far
  struct Best {
    TensorId score = kNoTensor, value = kNoTensor;
  };
  Best best;  ///< `fallback best`: the largest score of the exits met so far, and its value
};

}  // namespace tbem::graph
