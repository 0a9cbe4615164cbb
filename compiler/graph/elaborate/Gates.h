// Gates, per sample: `skip` computes one of two arms, `exit` ends the network for the samples whose condition holds.
// Internal to this folder.
//
// `skip` becomes a Skip operator {condition} that owns a region an arm (0: computed, where the condition is false; 1: left, where
// it is true), and a Join {condition, computed, left} behind it. `exit` becomes an Exit {condition, value}; where exits were met,
// the network's result is a Join of all their values and of the last one.
//
// Where a network trains every sample computes everything, so that everything has a gradient. A `skip` mixes its arms by a
// number a sample, which is 1 where the arm is computed at inference and 0 where it is left out. It is made from the score that
// the gate's condition compares. Its gradient goes to the score as if it were the score itself (straight-through estimator:
// Bengio et al. 2013, "Estimating or Propagating Gradients Through Stochastic Neurons", section 4; with SkipNet's hard gates,
// Wang et al. 2018, section 3.3). `gates soft` mixes by the score; `gates gumbel` draws the number (Jang et al. 2017,
// "Categorical Reparameterization with Gumbel-Softmax", section 2.2); `gates reinforce` draws it as well, keeps how likely that
// was, and leaves the gradient to the reward (Losses.h). The value of an `exit` is one of several results, each of which has a
// loss. So it is where inputs are searched for that make it slow; how far each gate is from the other decision is kept there.
//
// The exits that a network has met so far are here; expressions are evaluated by the elaboration at hand.
#pragma once

#include "compiler/graph/elaborate/Activation.h"

#include <optional>
#include <utility>
#include <vector>

namespace tbem::graph {

class Elaborator;

/// What a search for slow inputs has of a gate.
struct Margin {
  TensorId margin =
      kNoTensor;  ///< of each sample, by how much it goes the way that costs more; kNoTensor: the gate compares nothing
  /// How likely a sample comes to what that way computes (Objective::Gates: 1 or 0, whether it does); kNoTensor: it is not known,
  /// as with an objective that does not ask.
  TensorId reach = kNoTensor;
  /// Objective::Gates: of each sample, minus the logarithm of how likely the gate says that way is, and 0 where it does not come
  /// here.
  TensorId surprise = kNoTensor;
};

/// A decision that a training draws by REINFORCE.
struct Drawn {
  TensorId share = kNoTensor;   ///< of each sample: 1 where the arm is computed, else 0
  TensorId chance = kNoTensor;  ///< the logarithm of how likely that was; kNoTensor: it was decided as at inference
  SrcRange range;               ///< of the gate's condition
};

class Gates {
public:
  /// The value of `skip`, in the activation at hand. Poison after a report.
  sema::Value skip(Elaborator& elaborator, const ast::Skip& expr);
  /// False after a report.
  bool exit(Elaborator& elaborator, const ast::Exit& statement);
  bool hasExits() const { return !exits.empty(); }
  /// Of a network with exits that trains: the values of its exits and its last result, in their order; else none.
  const std::vector<TensorId>& trainedResults() const { return trained; }
  const std::vector<Margin>& margins() const { return found; }
  /// In program order.
  const std::vector<Drawn>& drawn() const { return decisions; }
  /// From here on gates of a network that trains decide as at inference, and nothing is drawn. `drawn` has these decisions alone.
  void decide() {
    isDecided = true;
    decisions.clear();
  }
  /// The result of a network with exits: every exit's value and the last one, put together again. Under `fallback best` the last
  /// one is the best of the exits' values, and the network gives none.
  sema::Value joinExits(Elaborator& elaborator, const Activation& network, sema::Value last);

private:
  std::pair<sema::Value, sema::Value> trainedShare(Elaborator& elaborator, const ast::Expr& condition);
  sema::Value drawShare(Elaborator& elaborator, const sema::Value& score, const sema::Value& opens, SrcRange range);
  bool keepMargin(Elaborator& elaborator, const ast::Expr& condition, const char* gate);
  bool addMargin(Elaborator& elaborator, const ast::Binary& comparison, const sema::Value& left, const sema::Value& right);
  TensorId onTheWay(Elaborator& elaborator, sema::Value number, SrcRange range) const;
  sema::Value trainedSkip(Elaborator& elaborator, const ast::Skip& expr);
  std::optional<TensorId> exitCondition(Elaborator& elaborator, const ast::Exit& statement, std::optional<TensorId>& score);
  bool keepBest(Elaborator& elaborator, TensorId score, TensorId value, SrcRange range);

  std::vector<TensorId> exits;    ///< values of the exits met so far
  std::vector<TensorId> trained;  ///< trainedResults()
  std::vector<Margin> found;      ///< margins()
  std::vector<Drawn> decisions;   ///< drawn()
  bool isDecided = false;         ///< decide()
  TensorId reach = kNoTensor;     ///< of what is evaluated; kNoTensor: every sample comes there
  struct Best {
    TensorId score = kNoTensor, value = kNoTensor;
  };
  Best best;  ///< `fallback best`: the largest score of the exits met so far, and its value
};

}  // namespace tbem::graph
