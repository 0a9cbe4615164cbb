// A `backward` clause being evaluated, among the names of the operator whose gradient it says. Internal to compiler/graph.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <optional>
#include <vector>

namespace tbem::graph {

/// What gradients are passed back through: an operator of the forward pass, or a whole body with a gradient of its own.
struct Passage {
  std::vector<TensorId> inputs;  ///< kNoTensor: an absent optional operand
  std::vector<TensorId> outputs;
  ScopeId scope{};
  SrcRange range;
};

class BackwardClause {
public:
  /// `forward`: which operator those made here are marked with. Evaluation goes on as before when the clause ends.
  BackwardClause(Elaborator& elaborator, OpContext context, const Passage& through, OpId forward);
  BackwardClause(const BackwardClause&) = delete;
  BackwardClause& operator=(const BackwardClause&) = delete;

  /// Whether the part becomes one element-wise operator, in which a gradient may be a number.
  bool isElementwise(const ast::Expr& expr) const;
  /// The name that a part uses for the gradient of a result, whose dimensions are called as the result's.
  void define(const ast::Name& word, Value gradient, const ast::Result& result);
  /// The gradients that a part gives: one for each of `inputs`, more than one where the part is for a list. kNoTensor: none is
  /// needed. Empty after a report.
  std::vector<TensorId> evaluate(const ast::Part& part, const std::vector<TensorId>& inputs);

private:
  std::vector<TensorId> one(const ast::Part& part, TensorId input);
  std::vector<TensorId> list(const ast::Part& part, const std::vector<TensorId>& inputs);
  bool fits(const ast::Part& part, TensorId input, TensorId gradient);

  Elaborator& elaborator;
  Elaborator::Detour detour;
  Activation activation;
  std::vector<GradientCall> calls;  ///< so far
};

}  // namespace tbem::graph
