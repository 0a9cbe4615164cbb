// Reverse mode by declared gradients: operators in reverse order, gradients summed where a tensor has several uses, nothing
// built that leads to no tensor whose gradient is wanted. The optimiser's update of each weight follows at the end.
//
// Of the elaboration it uses the forward pass (Tape), the builder, clauses (BackwardClause) and updates (UpdateRule). Its own
// state is here and dies with it.
#pragma once

#include "compiler/graph/elaborate/BackwardClause.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace tbem::graph {

/// Which optimiser moves which weight of a step.
struct Updating {
  /// An operator with `updates`, and the text that names it.
  struct Optimizer {
    Value value;
    SrcRange use;
  };
  std::vector<Optimizer> optimizers;
  std::vector<std::uint32_t> of;  ///< by weight: its optimiser, or kStays: it has neither a gradient nor an update
};

class Differentiator {
public:
  /// Of the operators that `graph` has now.
  Differentiator(Elaborator& elaborator, Graph& graph);

  /// Gradients of `loss` for every weight that it depends on and that does not stay, and one update each; gradients for `wanted`,
  /// which are floating tensors of the forward pass. They stand in the graph then. False after a report.
  bool differentiate(TensorId loss, const Updating& updating, const std::vector<TensorId>& wanted = {});
  /// Gradients for `wanted` alone; no weight has one.
  bool differentiateInputs(TensorId loss, const std::vector<TensorId>& wanted);

  /// By tensor that is a gradient, or a part of one: the first value whose gradient it is.
  std::unordered_map<std::uint32_t, TensorId> valueOf;

private:
  void markNeeded(const std::vector<TensorId>& wanted, const std::vector<std::uint32_t>& optimizerOf);
  bool addGradients(TensorId loss, const std::vector<TensorId>& wanted);
  bool addUpdates(std::vector<UpdateRule>& rules, const std::vector<std::uint32_t>& ruleOf);
  void markResults(std::size_t position);
  bool passBack();
  bool differentiateOp(const Passage& through, OpContext* context, OpId id);
  void differentiateOpaque(const Passage& through, OpId id);
  std::vector<TensorId> neededBy(const OpContext& context, const ast::Part& part) const;
  void defineGradients(BackwardClause& clause, const ast::Callable& decl, const ast::Expr& expr, const Passage& through);
  Value gradientOf(TensorId tensor, const std::string& name, SrcRange range);
  void accumulate(TensorId tensor, TensorId part);
  std::vector<std::size_t> weightsReadBy(const Op& op) const;
  void releaseWeights(const std::vector<std::size_t>& read);
  void finishWeight(std::size_t weight);
  /// The tensor's gradient in a storage of its own, under the tensor's path; kNoTensor: the loss does not depend on it.
  TensorId finished(TensorId tensor);

  Elaborator& elaborator;
  Graph& graph;
  GraphBuilder& builder;
  std::size_t forwardOps;          ///< operators before this position are the forward pass
  std::vector<TensorId> gradient;  ///< by forward tensor: its gradient so far
  std::vector<bool> needed;        ///< by forward tensor
  std::vector<int> uses;           ///< by weight: forward operators that read it and are not yet differentiated
  std::unordered_map<std::uint32_t, std::size_t> weightOf;  ///< by tensor: its position in Graph::weights
  std::vector<std::size_t> complete;                        ///< weights whose gradient is complete, in that order
};

}  // namespace tbem::graph
